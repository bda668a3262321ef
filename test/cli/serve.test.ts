import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { STEP_US } from '../../src/demo/plant.ts'
import { until } from '../until.ts'
import { acceptedWrite } from './accepted-write.ts'
import { PROJECT, serve, temporaryFolder, tidemark } from './run.ts'

const CURRENT = { requests: { a: { type: 'CURRENT_POINT', tag: 'local/A' } } }

describe('serve', async () => {
  const cwd = await temporaryFolder()

  it('prints keys that work on the first start and on no other', async () => {
    const first = await serve([], { cwd })
    assert.match(first.stdout(), /historians {2}local \(embedded, writable\)/)
    const points = { 'local/A': [{ timestamp: '2026-01-01T00:00:00Z', value: 1.5 }] }
    const written = await first.post('/historian/write/points', { points, createTags: true })
    assert.deepEqual([written.status, written.body.message], [200, 'All points written!'])
    const forbidden = await first.post('/historian/write/points', { points }, first.readKey)
    assert.equal(forbidden.status, 403)
    assert.equal(await first.stop(), 0)
    assert.match(first.stdout(), /Stopped\.\n$/)

    const second = await serve([], { cwd })
    assert.deepEqual([second.writeKey, second.readKey], ['', ''])
    const read = await second.post('/historian/multi', CURRENT, first.readKey)
    assert.deepEqual(read.body.results, {
      a: { dataPoint: { timestamp: '2026-01-01T00:00:00.000Z', value: 1.5, status: 'OK' } },
    })
    await second.stop()
  })

  it('prints at its start the lines that docs/command-line.md shows', async () => {
    const page = readFileSync(join(PROJECT, 'docs', 'command-line.md'), 'utf8')
    const [, shown = ''] = /^\$ tidemark serve\n(.*?)\n\n/ms.exec(page)!
    const service = await serve(['--data-dir', 'shown'], { cwd })
    const [printed = ''] = service.stdout().split('\n\n')
    // Version, port and folder are other ones in each run.
    const common = (text: string) =>
      text
        .replace(/^Tidemark \S+/, 'Tidemark VERSION')
        .replace(/127\.0\.0\.1:\d+/g, 'HOST')
        .replace(/(data|--data-dir)( +)\/\S+$/gm, '$1$2FOLDER')
    assert.equal(common(printed), common(shown))
    await service.stop()
  })

  it('sees keys that are made and revoked beside it, and the last revoked one brings no new first keys', async () => {
    const options = ['--data-dir', 'revoking']
    const service = await serve(options, { cwd })
    const created = await tidemark(['keys', 'create', '--name', 'x', '--scope', 'read', ...options], { cwd })
    const key = created.stdout.trim()
    assert.equal((await service.post('/historian/multi', CURRENT, key)).status, 200)
    for (const name of ['x', 'first-write', 'first-read']) {
      assert.equal((await tidemark(['keys', 'revoke', name, ...options], { cwd })).code, 0)
    }
    assert.equal((await service.post('/historian/multi', CURRENT, key)).status, 401)
    await service.stop()
    const again = await serve(options, { cwd })
    assert.equal(again.writeKey, '')
    assert.equal((await again.post('/historian/multi', CURRENT, service.writeKey)).status, 401)
    await again.stop()
  })

  it('answers below its base path, and in the zone of its configuration', async () => {
    await writeFile(
      join(cwd, 'based.yaml'),
      'server: {basePath: /tide}\ndataDir: based\ntimeZone: Europe/Oslo\nhistorians: {plant: {type: embedded}, old: {type: embedded, writable: false}}\n',
    )
    const service = await serve(['--config', 'based.yaml'], { cwd })
    assert.match(service.url, /\/tide$/)
    const { body } = await service.post('/historian/multi', { now: '2026-07-01T00:00:00Z', requests: {} })
    assert.equal(body.now, '2026-07-01T02:00:00.000+02:00')
    const refused = await service.post('/historian/write/points', {
      points: { 'old/A': [] },
      createTags: true,
    })
    assert.deepEqual(refused.body.errors, ['Historian old for tag A is not writable'])
    await service.stop()
  })

  it('refuses in one sentence a port, a host and a data directory that it cannot have', async () => {
    const service = await serve(['--data-dir', 'taken'], { cwd })
    const port = new URL(service.url).port
    const run = (args: readonly string[]) => tidemark(['serve', ...args], { cwd })
    const samePort = await run(['--data-dir', 'other', '--port', port])
    assert.equal(samePort.code, 1)
    assert.match(samePort.stderr, /^Something listens at 127\.0\.0\.1, port \d+ already: .*--port/m)
    const sameData = await run(['--data-dir', 'taken', '--port', '0'])
    assert.equal(sameData.code, 1)
    assert.match(
      sameData.stderr,
      /^The data directory .*taken is in use by a running tidemark \(process \d+\)/m,
    )
    await writeFile(join(cwd, 'file'), '')
    const noFolder = await run(['--data-dir', 'file', '--port', '0'])
    assert.equal(noFolder.code, 1)
    assert.match(noFolder.stderr, /^The data directory .*file cannot be used: /m)
    const noHost = await run(['--host', '203.0.113.7', '--data-dir', 'other', '--port', '0'])
    assert.equal(noHost.code, 1)
    assert.match(noHost.stderr, /^203\.0\.113\.7 is no address of this machine/m)
    for (const { stderr } of [samePort, sameData, noFolder, noHost]) assert.doesNotMatch(stderr, /^ +at /m)
    // A start that failed has not used up the first keys.
    const other = await serve(['--data-dir', 'other'], { cwd })
    assert.match(other.writeKey, /^tdm_/)
    await other.stop()
    await service.stop()
  })

  it('finishes a write that it accepted before it was told to stop', async () => {
    const service = await serve(['--data-dir', 'finishing'], { cwd })
    const { hostname, port } = new URL(service.url)
    const call = await acceptedWrite(service)
    call.begin()
    const stopped = service.stop()
    await until(() => isRefused(Number(port), hostname), 'the stop has begun')
    const answer = await call.finish()
    assert.match(answer, /^HTTP\/1\.1 100 .*\r\n\r\nHTTP\/1\.1 200 /)
    assert.match(answer, /All points written!/)
    assert.equal(await stopped, 0)
  })

  it('logs JSON lines on standard error, and no key', async () => {
    const service = await serve(['--data-dir', 'logging'], { cwd })
    await fetch(`${service.url}/historian/list?apikey=${service.readKey}`)
    await fetch(`${service.url}/historian/list?apikey=wrong-key-of-somebody`)
    await service.stop()
    const lines = service.stderr().trim().split('\n')
    for (const line of lines) assert.equal(typeof (JSON.parse(line) as { level: unknown }).level, 'string')
    assert.ok(lines.some((line) => line.includes('/historian/list')))
    assert.doesNotMatch(service.stderr(), /tdm_|wrong-key/)
  })
})

describe('serve --demo', async () => {
  const cwd = await temporaryFolder()

  it('prints a link and three lines for curl that work, at each start', async (context) => {
    if (spawnSync('curl', ['--version']).status !== 0) return context.skip('curl is not installed')
    await mkdir(join(cwd, 'x'), { recursive: true })
    for (const start of ['first', 'second']) {
      const started = Date.now()
      const service = await serve(['--demo'], { cwd })
      const lines = service.stdout().match(/^ {2}curl .*$/gm) ?? []
      assert.equal(lines.length, 3, start)
      const answers = await Promise.all(lines.map(runLine))
      const [search, level, calculated] = answers
      assert.equal((search as { tags: unknown[] }).tags.length, 20)
      const current = (level as Multi).results.level as { dataPoint: { value: number; timestamp: string } }
      assert.ok(current.dataPoint.value > 0 && current.dataPoint.value < 100)
      // Filled up to the present, also at the second start.
      assert.ok(Date.parse(current.dataPoint.timestamp) > started - STEP_US / 1_000)
      assert.deepEqual((calculated as Multi).errors, {})
      assert.equal(Object.keys((calculated as Multi).results).length, 2)
      assert.match(
        service.stdout(),
        start === 'first' ? /took 1,2\d\d,\d{3} points/ : /took (?:\d,)?\d{2,3} points|up to the present/,
      )

      const key = /X-Api-Key: (tdm_[^']+)/.exec(lines[0]!)![1]!
      const link = /^ {2}(http:\S+\/#key=(tdm_[^&\s]+)\S*)$/m.exec(service.stdout())!
      assert.equal(link[2], key)
      assert.match(await (await fetch(link[1]!)).text(), /<title>Tidemark<\/title>/)
      const foreign = await service.post('/historian/multi', CURRENT, key)
      assert.deepEqual(foreign.body.errors, { a: 'Historian local for tag A does not exist' })
      assert.equal((await service.post('/historian/write/points', { points: {} }, key)).status, 403)
      await service.stop()
    }
  })
})

/** Whether nobody listens at a port any more. */
function isRefused(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy()
      resolve(false)
    }).on('error', () => resolve(true))
  })
}

interface Multi {
  readonly results: Record<string, unknown>
  readonly errors: object
}

async function runLine(line: string): Promise<unknown> {
  const { spawn } = await import('node:child_process')
  const child = spawn('/bin/sh', ['-c', line.trim()])
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return JSON.parse(text)
}
