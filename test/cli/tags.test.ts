import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { serve, temporaryFolder, tidemark } from './run.ts'

describe('tags, alias and points through a running service', async () => {
  const cwd = await temporaryFolder()
  await writeFile(join(cwd, 'limited.yaml'), 'limits: {effectiveTags: 2}')
  const service = await serve([], { cwd })
  const run = (...args: string[]) =>
    tidemark([...args, '--url', service.url, '--key', service.writeKey], { cwd })
  const does = async (args: readonly string[], stdout: string) => {
    const done = await run(...args)
    assert.equal(done.stdout + done.stderr, stdout, args.join(' '))
    assert.equal(done.code, 0)
  }

  it('change what the same commands change in place', async () => {
    await does(['tags', 'create', 'local/A B', '--units', 'bar'], 'Made local/A B.\n')
    await does(['tags', 'describe', 'local/A B', '--stepped'], 'Changed local/A B.\n')
    await does(['alias', 'put', 'line/a', 'local/A B'], 'Made aliases/line/a.\n')
    await does(
      ['tags', 'rename', 'local/A B', 'local/C', '--aliases', 'follow'],
      'Renamed local/A B to local/C.\naliases/line/a refers to local/C.\n',
    )
    const list = await run('tags', 'list', '--csv', '--historian', 'local')
    assert.equal(list.stdout, 'tag,units,stepped,description\nlocal/C,bar,yes,\n')
    await does(['alias', 'delete', 'line/a'], 'Deleted aliases/line/a.\n')
    await does(['tags', 'delete', 'local/C', '--dry-run'], 'Would delete local/C with 0 points.\n')
    await does(['tags', 'delete', 'local/C'], 'Deleted local/C with 0 points.\n')
  })

  it('end with a sentence and exit code 1 for what is refused', async () => {
    await does(['tags', 'create', 'local/FLOW'], 'Made local/FLOW.\n')
    const again = await run('tags', 'create', 'local/FLOW')
    assert.equal(again.code, 1)
    assert.match(
      again.stderr,
      /Tag local\/FLOW already exists; tidemark tags describe changes its metadata\n$/,
    )
    const missing = await run('points', 'delete', 'local/FLWO', '--from', 'today', '--to', 'now')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /Tag local\/FLWO does not exist; did you mean local\/FLOW\?/)
    const time = await run('points', 'delete', 'local/FLOW', '--from', 'yesteday', '--to', 'now')
    assert.match(time.stderr, /tag local\/FLOW: a time such as yesterday or yesterday at 06:00 is expected/)
    assert.equal((await run('tags', 'describe', 'local/FLOW')).code, 2)
  })

  it('show what is known of tags, and report why their points are not', async () => {
    const limited = await serve(['--config', 'limited.yaml', '--data-dir', 'limited'], { cwd })
    const remote = ['--url', limited.url, '--key', limited.writeKey]
    const tags = ['local/A', 'local/B', 'local/C']
    assert.equal((await tidemark(['tags', 'create', ...tags, '--units', 'bar', ...remote], { cwd })).code, 0)
    const some = await tidemark(['tags', 'show', 'local/A', 'local/B', ...remote], { cwd })
    assert.deepEqual([some.code, some.stderr], [0, ''])
    for (const form of [[], ['--json']]) {
      const { code, stdout, stderr } = await tidemark(['tags', 'show', ...tags, ...form, ...remote], { cwd })
      assert.equal(code, 3)
      assert.match(stdout, /local\/C.*bar/s)
      assert.match(stderr, /^The effective tags limit is 2, [^\n]*\n$/)
    }
  })
})

describe('tags, alias and points in place', async () => {
  const cwd = await temporaryFolder()

  it('obey the configured limits of tags and ranges', async () => {
    await writeFile(join(cwd, 'limited.yaml'), 'limits: {tags: 2, ranges: 1}')
    const run = (...args: string[]) => tidemark([...args, '--config', 'limited.yaml'], { cwd })
    const three = await run('tags', 'create', 'local/A', 'local/B', 'local/C')
    assert.equal(three.code, 1)
    assert.match(three.stderr, /^The tags limit of one request is 2, and this request has more/)
    assert.equal((await run('tags', 'create', 'local/A', 'local/B')).code, 0)
    const range = ['--from', 'yesterday', '--to', 'today']
    const two = await run('points', 'delete', 'local/A', 'local/B', ...range)
    assert.equal(two.code, 1)
    assert.match(two.stderr, /^The ranges limit of one request is 1, and this request has 2/)
    assert.equal((await run('points', 'delete', 'local/A', ...range)).code, 0)
  })
})
