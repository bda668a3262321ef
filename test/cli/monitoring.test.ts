import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { findServer } from '../servers/required.ts'
import { PROJECT, serve, temporaryFolder, tidemark } from './run.ts'

const DEPLOY = join(PROJECT, 'deploy')
const RULES = join(DEPLOY, 'prometheus', 'tidemark.rules.yml')
const dashboard = readFileSync(join(DEPLOY, 'grafana', 'tidemark-dashboard.json'), 'utf8')
const promtool = (args: readonly string[], cwd: string) =>
  spawnSync('promtool', args, { cwd, encoding: 'utf8' })
const { skip } = findServer('promtool of Prometheus', 'promtool')

const RETENTION = 'retention: [{match: "*.RAW", keep: 30d}]'

/** Metrics of ours that a text names, buckets and counts of a histogram by its name. */
function namesIn(text: string): ReadonlySet<string> {
  const names = text.match(/\b(?:tidemark|nodejs|process)_[a-z_]+\b/g) ?? []
  return new Set(names.map((name) => name.replace(/_bucket$/, '')))
}

describe('monitoring', async () => {
  const cwd = await temporaryFolder()

  it('has alerts that Prometheus takes, and that are raised when they should be', { skip }, () => {
    for (const args of [
      ['check', 'rules', RULES],
      ['test', 'rules', 'tidemark.rules.test.yml'],
    ]) {
      const { status, stdout, stderr } = promtool(args, join(DEPLOY, 'prometheus'))
      assert.equal(status, 0, stdout + stderr)
    }
    // Every alert is tested.
    const tests = readFileSync(join(DEPLOY, 'prometheus', 'tidemark.rules.test.yml'), 'utf8')
    const alerts = [...readFileSync(RULES, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name]) => name!)
    assert.ok(alerts.length > 10)
    for (const alert of alerts) assert.match(tests, new RegExp(`alertname: ${alert}\\n *exp_alerts`), alert)
    const page = readFileSync(join(PROJECT, 'docs', 'monitoring.md'), 'utf8')
    for (const alert of alerts) assert.ok(page.includes(`\`${alert}\``), alert)
  })

  it('gives the metrics that alerts, dashboard and page name, in a form that Prometheus takes', async () => {
    mkdirSync(join(cwd, 'archive'))
    writeFileSync(
      join(cwd, 'archived.yaml'),
      `historians: {local: {type: embedded, archive: archive, ${RETENTION}}}\n`,
    )
    const settings = ['--config', 'archived.yaml']
    const service = await serve(settings, { cwd })
    const points = { 'local/A': [{ timestamp: '2026-01-01T00:00:00Z', value: 1 }] }
    assert.equal((await service.post('/historian/write/points', { points, createTags: true })).status, 200)
    await service.post('/historian/multi', { requests: {} })
    assert.equal((await tidemark(['backup', 'copy'], { cwd })).code, 0)
    const expires = ['keys', 'create', '--name', 'short', '--scope', 'read', '--expires', '90d']
    assert.equal((await tidemark(expires, { cwd })).code, 0)
    const again = await (async () => {
      await service.stop()
      return serve(settings, { cwd })
    })()
    const read = async () => {
      const response = await fetch(`${again.url}/metrics`, { headers: { 'X-Api-Key': service.readKey } })
      return response.text()
    }
    await again.post('/historian/multi', { requests: {} }, service.readKey)
    const text = await read()
    const found = namesIn(text)
    const page = readFileSync(join(PROJECT, 'docs', 'monitoring.md'), 'utf8')
    // Nothing failed yet, and nothing was read or written since the start.
    const absent = ['tidemark_historian_failures_total', 'tidemark_points_total']
    for (const name of namesIn(dashboard + page + readFileSync(RULES, 'utf8')))
      assert.ok(found.has(name) || absent.includes(name), name)
    assert.match(text, /^tidemark_historian_up\{historian="local",type="embedded"\} 1$/m)
    assert.match(text, /^tidemark_historian_journal_points\{historian="local",type="embedded"\} \d+$/m)
    const newest = /^tidemark_historian_newest_point_timestamp_seconds\{[^}]*\} (\S+)$/m.exec(text)![1]
    assert.equal(Number(newest), Date.parse('2026-01-01T00:00:00Z') / 1_000)
    for (const name of [
      'tidemark_data_free_bytes',
      'tidemark_data_used_bytes',
      'tidemark_last_backup_timestamp_seconds',
    ])
      assert.ok(Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1]) > 1_000, name)
    await again.stop()
    if (skip !== false) return
    writeFileSync(join(cwd, 'metrics'), text)
    const lint = spawnSync('sh', ['-c', 'promtool check metrics < metrics'], { cwd, encoding: 'utf8' })
    assert.doesNotMatch(lint.stderr, /error while linting|parsing/)
  })

  it('joins what the workers know, once for all of them', async () => {
    writeFileSync(join(cwd, 'many.yaml'), `historians: {local: {type: embedded, ${RETENTION}}}\n`)
    const service = await serve(['--workers', '2', '--data-dir', 'many', '--config', 'many.yaml'], { cwd })
    const response = await fetch(`${service.url}/metrics`, { headers: { 'X-Api-Key': service.readKey } })
    const text = await response.text()
    assert.equal(text.match(/^tidemark_historian_up\{/gm)?.length, 1)
    assert.equal(text.match(/^tidemark_data_free_bytes /gm)?.length, 1)
    // What the first process alone knows.
    const paused = text.match(/^tidemark_historian_retention_paused\{.*$/gm)
    const labels = 'historian="local",type="embedded"'
    assert.deepEqual(
      paused,
      ['clock', 'error'].map(
        (reason) => `tidemark_historian_retention_paused{${labels},reason="${reason}"} 0`,
      ),
    )
    assert.match(text, /^tidemark_historian_retention_removed_points_total\{.*\} 0$/m)
    await service.stop()
  })
})
