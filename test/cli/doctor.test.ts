import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from '../servers/required.ts'
import { serve, temporaryFolder, tidemark } from './run.ts'

interface Report {
  readonly isWell: boolean
  readonly findings: readonly { readonly what: string; readonly found: unknown; readonly problem?: string }[]
}

/** Files with their times and contents. */
function treeOf(folder: string): readonly string[] {
  return globSync('**', { cwd: folder }).map((name) => {
    const path = join(folder, name)
    const status = statSync(path)
    const content = status.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
    return `${name} ${status.mtimeMs} ${content}`
  })
}

describe('doctor', async () => {
  const cwd = await temporaryFolder()
  const doctor = async (args: readonly string[] = []) => {
    const outcome = await tidemark(['doctor', '--json', ...args], {
      cwd,
      env: { PEER_KEY: 'tdm_never-shown' },
    })
    const report = JSON.parse(outcome.stdout) as Report
    const of = (what: string) => report.findings.find((finding) => finding.what === what)
    return { ...outcome, report, of }
  }

  it('says what there is, beside a running service, and leaves nothing behind', async () => {
    const service = await serve([], { cwd })
    const before = readdirSync(join(cwd, 'data'))
    const { code, stderr, of } = await doctor()
    // A machine of the tests may have little room; nothing else is wrong with it.
    assert.ok(code === 0 || /free bytes|commit ms/.test(stderr), stderr)
    assert.equal(of('node')?.found, process.versions.node)
    for (const what of [
      'free bytes',
      'commit ms, median',
      'commit ms, longest',
      'processors',
      'memory bytes',
    ])
      assert.ok((of(what)?.found as number) > 0, what)
    assert.ok(!Number.isNaN(Date.parse(of('time')?.found as string)))
    assert.equal(of('data directory')?.found, join(cwd, 'data'))
    assert.deepEqual(readdirSync(join(cwd, 'data')), before)
    assert.equal(of('historian local (embedded)')?.found, 'up')
    assert.equal(of('historian local (embedded): tags')?.found, 0)
    assert.equal(of('historian local (embedded): newest point')?.found, 'none')
    const text = await tidemark(['doctor'], { cwd })
    assert.match(text.stdout, /^ok {3}tidemark: \d/m)
    await service.stop()
  })

  it('says what an embedded historian holds, beside a service and without one, and changes nothing', async () => {
    const folder = await temporaryFolder()
    const options = ['--data-dir', join(folder, 'data')]
    const service = await serve(options, { cwd: folder })
    const points = ['2026-01-15T10:00:00Z', '2026-01-15T11:00:00Z'].map((timestamp) => ({
      timestamp,
      value: 1,
    }))
    const { writeKey } = service
    const body = { createTags: true, points: { 'local/A': points, 'local/B': points } }
    assert.equal((await service.post('/historian/write/points', body)).status, 200)
    const what = 'historian local (embedded)'
    const found = async () => {
      const { of } = await doctor(options)
      return ['', ': tags', ': points in the journal', ': oldest point', ': newest point'].map(
        (detail) => of(what + detail)?.found,
      )
    }
    const held = ['up', 2, 4, '2026-01-15T10:00:00.000Z', '2026-01-15T11:00:00.000Z']
    assert.deepEqual(await found(), held)
    const more = { points: { 'local/A': [{ timestamp: '2026-01-15T12:00:00Z', value: 2 }] } }
    assert.equal((await service.post('/historian/write/points', more, writeKey)).status, 200)
    const later = ['up', 2, 5, '2026-01-15T10:00:00.000Z', '2026-01-15T12:00:00.000Z']
    assert.deepEqual(await found(), later)
    await service.kill()
    const before = treeOf(join(folder, 'data', 'historians'))
    assert.deepEqual(await found(), later)
    assert.deepEqual(treeOf(join(folder, 'data', 'historians')), before)

    const [manifest] = globSync('data/historians/*/manifest/*', { cwd: folder })
    await writeFile(join(folder, manifest!), 'damaged')
    const damaged = await doctor(options)
    assert.equal(damaged.code, 1)
    assert.equal(damaged.of(what)?.found, 'down')
    assert.match(damaged.of(what)?.problem ?? '', /manifest/)
    await rm(join(folder, 'data', 'historians'), { recursive: true })
    const missing = await doctor(options)
    assert.equal(missing.of(what)?.found, 'down')
    assert.match(missing.of(what)?.problem ?? '', /missing|empty/)
  })

  it('takes one that was never opened for no problem, and makes nothing', async () => {
    const folder = await temporaryFolder()
    const { code, stderr, of } = await doctor(['--data-dir', join(folder, 'not', 'yet', 'there')])
    assert.ok(code === 0 || /free bytes|commit ms/.test(stderr), stderr)
    assert.equal(of('historian local (embedded)')?.found, 'not there yet')
    assert.equal(of('historian local (embedded)')?.problem, undefined)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('names a historian that does not answer and a configuration that is wrong, without secrets', async () => {
    const port = await freePort()
    const peer = `{type: tidemark, url: "http://127.0.0.1:${port}", historian: x, key: {env: PEER_KEY}}`
    await writeFile(join(cwd, 'peer.yaml'), `historians: {hq: ${peer}, local: {type: embedded}}`)
    const down = await doctor(['--config', 'peer.yaml'])
    assert.equal(down.code, 1)
    assert.equal(down.of('historian hq (tidemark)')?.found, 'down')
    assert.equal(down.report.isWell, false)
    assert.match(down.stderr, /problem.*historian hq/)
    assert.doesNotMatch(down.stdout + down.stderr, /never-shown/)

    await writeFile(join(cwd, 'wrong.yaml'), 'server: {prot: 1}')
    const wrong = await doctor(['--config', 'wrong.yaml'])
    assert.equal(wrong.code, 1)
    assert.match(wrong.of('configuration')?.problem ?? '', /server\.prot: this name is not known/)
    await writeFile(join(cwd, 'wrong.yaml'), 'server: {prot: 1, hots: x}')
    const text = await tidemark(['doctor', '--config', 'wrong.yaml'], { cwd })
    assert.match(
      text.stdout,
      /\n {5}\S*wrong\.yaml is not valid:\n {7}server\.prot: this name[^\n]*\n {7}server\.hots: this name[^\n]*\n$/,
    )
  })
})
