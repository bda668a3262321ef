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
    const deleteMissing = () => run('points', 'delete', 'local/FLWO', '--from', 'today', '--to', 'now')
    let missing = await deleteMissing()
    // Near names are looked for a quarter of a second, which is too short on a busy machine.
    for (let i = 0; i < 20 && !missing.stderr.includes('did you mean'); i++) missing = await deleteMissing()
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

describe('tags and points through a service with low limits', async () => {
  const cwd = await temporaryFolder()
  await writeFile(join(cwd, 'limited.yaml'), 'limits: {tags: 2}')
  const service = await serve(['--config', 'limited.yaml'], { cwd })

  it('are asked for, described and imported in smaller requests', async () => {
    const remote = { cwd, env: { TIDEMARK_URL: service.url, TIDEMARK_KEY: service.writeKey } }
    const names = ['a', 'b', 'c', 'd', 'e']
    await writeFile(join(cwd, 'wide.csv'), `timestamp,${names.join(',')}\n2026-01-01T00:00Z,1,2,3,4,5\n`)
    const imported = await tidemark(['import', 'wide.csv', '--units', 'e=bar'], remote)
    assert.match(imported.stdout, /^Imported 5 points of 5 tags in 1 row/, imported.stderr)
    const tags = names.map((name) => `local/${name}`)
    const described = await tidemark(['tags', 'describe', ...tags, '--description', 'x'], remote)
    assert.deepEqual([described.stdout, described.stderr], ['Changed 5 tags.\n', ''])
    const shown = await tidemark(['tags', 'show', ...tags], remote)
    assert.match(shown.stdout, /local\/e.*bar/s, shown.stderr)
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

describe('tags of which some cannot be changed or shown', async () => {
  const cwd = await temporaryFolder()
  const config =
    'defaultHistorian: local\nhistorians: {local: {type: embedded}, old: {type: embedded, writable: false}}\n'
  await writeFile(join(cwd, 'tidemark.yaml'), config)
  const listed = JSON.stringify([{ qualifiedTagName: 'local/E' }, { qualifiedTagName: 'old/E' }])
  const STEPS = [
    {
      args: ['tags', 'create', 'local/A', 'old/A', 'local/B', 'local/A'],
      code: 3,
      out: 'Made local/A.\nMade local/B.\n',
      err: 'Historian old for tag A is not writable\n',
    },
    {
      args: ['tags', 'create', 'local/A', 'local/C', 'local/D'],
      code: 3,
      out: 'Made local/C.\nMade local/D.\n',
      err: 'Tag local/A already exists; tidemark tags describe changes its metadata\n',
    },
    {
      args: ['tags', 'create', 'local/A', 'none/A'],
      code: 1,
      out: '',
      err:
        'Tag local/A already exists; tidemark tags describe changes its metadata\n' +
        'Historian none for tag A does not exist\n',
    },
    {
      args: ['tags', 'describe', 'local/A', 'local/NONE', '--units', 'bar'],
      code: 3,
      out: 'Changed local/A.\n',
      err: 'Tag local/NONE does not exist\n',
    },
    {
      args: ['tags', 'import', '-'],
      code: 3,
      out: 'Imported the metadata of 1 tag.\n',
      err: 'The metadata of some tags could not be stored:\n  Historian old for tag E is not writable\n',
    },
    {
      args: ['alias', 'put', 'level', 'local/A', '--units', 'm'],
      code: 0,
      out: 'Made aliases/level.\n',
      err: '',
    },
    {
      args: ['tags', 'show', 'local/A', 'aliases/level', 'none/A', 'calc/ADD(local/A, 1)', '--csv'],
      code: 3,
      out: 'tag,units,stepped,description,last,value,status\nlocal/A,bar,,,,,\naliases/level,m,,,,,\n',
      err: 'Historian none for tag A does not exist\nHistorian calc cannot hold metadata\n',
    },
    {
      args: ['tags', 'show', 'local/A', '--json'],
      code: 0,
      out: `${JSON.stringify(
        {
          'local/A': {
            description: null,
            units: 'bar',
            stepped: false,
            dataPoint: { timestamp: '2026-01-01T00:00:00.000Z', value: null, status: 'BAD' },
          },
        },
        null,
        2,
      )}\n`,
      err: '',
    },
    { args: ['tags', 'show', 'none/A'], code: 1, out: '', err: 'Historian none for tag A does not exist\n' },
  ] as const
  const removed = ['local/A', 'local/B', 'local/C', 'local/D', 'local/E']

  /** Each step with what it is expected to print; times of `now` are those of this test. */
  async function runSteps(access: readonly string[]) {
    for (const { args, ...expected } of STEPS) {
      const { code, stdout, stderr } = await tidemark([...args, ...access], { cwd, input: listed })
      const out = stdout.replace(/"timestamp": "[^"]*"/g, '"timestamp": "2026-01-01T00:00:00.000Z"')
      assert.deepEqual({ code, out, err: stderr }, expected, args.join(' '))
    }
    for (const args of [
      ['alias', 'delete', 'level'],
      ['tags', 'delete', ...removed],
    ])
      assert.equal((await tidemark([...args, ...access], { cwd })).code, 0)
  }

  it('are named beside those that were, with the same words through a service and in place', async () => {
    const service = await serve([], { cwd })
    await runSteps(['--url', service.url, '--key', service.writeKey])
    await service.stop()
    await runSteps([])
  })
})
