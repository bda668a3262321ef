import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { until } from '../until.ts'
import { PROJECT, serve, temporaryFolder, tidemark } from './run.ts'

const BY_DEFAULT = { TIDEMARK_FIRST_KEYS_FILE: '' }
const list = (url: string, key: string) => fetch(`${url}/historian/list`, { headers: { 'X-Api-Key': key } })

describe('the keys of a first start', async () => {
  const cwd = await temporaryFolder()

  it('that no terminal sees are in a file for its user alone, whose name is said, and not in the output', async () => {
    const service = await serve([], { cwd, env: BY_DEFAULT })
    const file = join(cwd, 'data', 'first-keys.txt')
    assert.ok(service.stdout().includes(`\n  ${file}\n`), service.stdout())
    assert.doesNotMatch(service.stdout() + service.stderr(), /tdm_/)
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600)
    const [write, read] = readFileSync(file, 'utf8').trim().split('\n')
    for (const line of [write!, read!]) {
      const [, key] = /^(?:write|read) (tdm_\S+)$/.exec(line)!
      assert.equal((await list(service.url, key!)).status, 200)
    }
    // Every start says how to make another one.
    const [, made] = /keys {8}tidemark (keys create .*)\n/.exec(service.stdout())!
    const args = made!.replace('NAME', 'mine').split(' ')
    const created = await tidemark(args, { cwd: '/' })
    assert.equal((await list(service.url, created.stdout.trim())).status, 200)
    assert.equal(await service.stop(), 0)
    const again = await serve([], { cwd, env: BY_DEFAULT })
    assert.match(again.stdout(), /keys create/)
    assert.doesNotMatch(again.stdout(), /first start/)
    await again.stop()
  })

  it('are not made where they cannot be kept, and the start says so', async () => {
    await writeFile(join(cwd, 'taken'), 'of somebody')
    const env = { TIDEMARK_FIRST_KEYS_FILE: join(cwd, 'taken') }
    const service = await serve(['--data-dir', 'other'], { cwd, env })
    assert.match(service.stdout(), /No first keys were made \(.*taken cannot be written: .*exists already\)/)
    assert.equal(readFileSync(join(cwd, 'taken'), 'utf8'), 'of somebody')
    await service.stop()
    // They were not used up.
    const later = await serve(['--data-dir', 'other'], { cwd })
    assert.match(later.writeKey, /^tdm_/)
    await later.stop()
  })

  it('are shown at a terminal, and in no file', {
    skip: !existsSync('/usr/bin/script') && 'script is not installed',
  }, async (t) => {
    const command = `'${process.execPath}' '${PROJECT}/bin/tidemark.js' serve --port 0 --data-dir shown`
    const terminal = spawn('/usr/bin/script', ['-qefc', command, '/dev/null'], { cwd, stdio: 'pipe' })
    t.after(() => terminal.kill())
    let output = ''
    terminal.stdout.on('data', (text) => {
      output += text
    })
    const closed = once(terminal, 'close')
    await until(() => /More are made/.test(output), 'it has started')
    const [, url] = /answers at (\S+)/.exec(output)!
    for (const scope of ['write', 'read']) {
      const [, key] = new RegExp(`^ {2}${scope} +(tdm_\\S+)`, 'm').exec(output)!
      assert.equal((await list(url!, key!)).status, 200)
    }
    assert.ok(!existsSync(join(cwd, 'shown', 'first-keys.txt')))
    terminal.stdin.write('\x03')
    await closed
  })
})

describe('keys', async () => {
  const cwd = await temporaryFolder()
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await tidemark(['keys', ...args], { cwd })
    return { code, stdout: stdout.trim(), stderr }
  }

  it('rotate puts a new key in the place of one, which goes on for its grace', async () => {
    const service = await serve([], { cwd })
    const create = [
      'create',
      '--name',
      'boards',
      '--scope',
      'read',
      '--historians',
      'local',
      '--expires',
      '90d',
    ]
    const old = (await run(...create)).stdout
    const rotated = await run('rotate', 'boards', '--grace', '1h')
    assert.equal(rotated.code, 0, rotated.stderr)
    assert.match(rotated.stderr, /Key boards \(id \w+\) is created.*old one opens until .*, as boards~\w+/)
    for (const key of [old, rotated.stdout]) assert.equal((await list(service.url, key)).status, 200)
    const again = await run('rotate', 'boards', '--grace', '0s', '--json')
    const { key, name, scope, historians, expiresAt } = JSON.parse(again.stdout) as Record<string, unknown>
    assert.deepEqual([name, scope, historians], ['boards', 'read', ['local']])
    // As long as the first one was made for.
    assert.ok(Math.abs(Date.parse(expiresAt as string) - Date.now() - 90 * 86_400_000) < 2 * 86_400_000)
    assert.equal((await list(service.url, rotated.stdout)).status, 401)
    assert.equal((await list(service.url, key as string)).status, 200)
    await service.stop()

    // What was used, and when, is known when the service has ended, at the latest.
    const records = JSON.parse((await run('list', '--json')).stdout) as Record<string, unknown>[]
    const uses = new Map(records.map(({ name, lastUsedAt }) => [name, lastUsedAt]))
    assert.ok(Math.abs(Date.parse(uses.get('boards') as string) - Date.now()) < 600_000)
    assert.equal(uses.get('first-read'), null)
    assert.match((await run('list')).stdout, /last used/)
  })

  it('rotate refuses in a sentence what it cannot do', async () => {
    for (const [args, code, sentence] of [
      [['none'], 1, /There is no usable key with the id or name none/],
      [['boards', '--grace', 'soon'], 2, /--grace soon: a duration such as 1d/],
      [['boards', '--grace', '5'], 2, /--grace 5: a duration/],
      [['boards', '--expires', 'yesterday'], 2, /in the past/],
    ] as const) {
      const outcome = await run('rotate', ...args)
      assert.equal(outcome.code, code, outcome.stderr)
      assert.match(outcome.stderr, sentence)
    }
  })

  it('that expire soon are told in the log', async () => {
    await run('create', '--name', 'short', '--scope', 'read', '--expires', '3d')
    const service = await serve([], { cwd })
    await until(() => /"key":"short".*a key expires in 2 days/.test(service.stderr()), 'it is told')
    assert.doesNotMatch(service.stderr(), /"key":"boards"/)
    await service.stop()
  })
})
