import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { found, type PostgresServer, startPostgres } from '../servers/postgres.ts'
import { until } from '../until.ts'
import { type RunningService, serve, temporaryFolder, tidemark } from './run.ts'

describe('services that share a store in PostgreSQL', { skip: found.skip }, () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })

  /** A folder with a configuration of historian `pg` and a store, in the schema given. */
  async function configured(schema: string, historians: object = {}): Promise<string> {
    const cwd = await temporaryFolder()
    const settings = {
      store: { type: 'postgres', ...server.config(schema), timeoutSeconds: 20 },
      historians: { pg: { type: 'postgres', ...server.config(schema) }, ...historians },
    }
    // JSON is YAML.
    writeFileSync(join(cwd, 'tidemark.yaml'), JSON.stringify(settings))
    return cwd
  }

  const ask = async (service: RunningService, path: string, key: string, init: RequestInit = {}) => {
    const headers = { 'X-Api-Key': key, 'Content-Type': 'application/json', Connection: 'close' }
    const response = await fetch(service.url + path, { ...init, headers })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
  }
  const putAlias = (service: RunningService, name: string, tag: string, key: string) =>
    ask(service, `/historian/aliases/${name}`, key, { method: 'PUT', body: JSON.stringify({ tag }) })
  const currentOf = async (service: RunningService, tag: string, key: string) => {
    const body = { requests: { a: { type: 'CURRENT_POINT', tag } } }
    const answer = await service.post('/historian/multi', body, key)
    const results = answer.body.results as { a?: { dataPoint: { value: number } } } | undefined
    return results?.a?.dataPoint.value ?? answer.body.errors
  }
  const createKey = async (cwd: string, name: string, scope: string) => {
    const made = await tidemark(['keys', 'create', '--name', name, '--scope', scope], { cwd })
    assert.equal(made.code, 0, made.stderr)
    return made.stdout.trim()
  }

  it('make the first keys once, keep nothing of their own, and give the same answers', async () => {
    const [here, there] = [await configured('same'), await configured('same')]
    const [one, two] = await Promise.all([serve([], { cwd: here }), serve([], { cwd: there })])
    assert.deepEqual([one.writeKey, two.writeKey].map((key) => key === '').sort(), [false, true])
    const key = one.writeKey + two.writeKey
    assert.ok(!existsSync(join(here, 'data')) && !existsSync(join(there, 'data')))
    assert.match(one.stdout(), /store {7}postgres/)
    const listed = await tidemark(['keys', 'list', '--json'], { cwd: there })
    assert.deepEqual((JSON.parse(listed.stdout) as { name: string }[]).map(({ name }) => name).sort(), [
      'first-read',
      'first-write',
    ])

    const points = { createTags: true, points: { 'pg/A': [{ timestamp: 1, value: 20 }] } }
    assert.equal((await one.post('/historian/write/points', points, key)).status, 200)
    for (let i = 0; i < 10; i++) {
      assert.equal((await putAlias(one, 'x', `calc/ADD(pg/A, ${i})`, key)).status, i === 0 ? 201 : 200)
      assert.equal(await currentOf(two, 'aliases/x', key), 20 + i)
    }
    const gone = await ask(two, '/historian/aliases/x', key, { method: 'DELETE' })
    assert.equal(gone.status, 204, JSON.stringify(gone.body))
    assert.deepEqual(await currentOf(one, 'aliases/x', key), { a: 'Tag aliases/x does not exist' })

    for (let i = 0; i < 5; i++) {
      const both = await Promise.all([
        putAlias(one, `p${i}`, `aliases/q${i}`, key),
        putAlias(two, `q${i}`, `aliases/p${i}`, key),
      ])
      assert.deepEqual(both.map(({ status }) => status).sort(), [201, 400])
      const refused = both.find(({ status }) => status === 400)!
      assert.match(JSON.stringify(refused.body), /ALIAS_CYCLE/)
    }

    const made = await createKey(here, 'made', 'read')
    for (const service of [one, two]) {
      assert.equal((await ask(service, '/historian/list', made)).status, 200)
    }
    assert.equal((await tidemark(['keys', 'revoke', 'made'], { cwd: there })).code, 0)
    await wait(1_000)
    for (const service of [one, two]) {
      assert.equal((await ask(service, '/historian/list', made)).status, 401)
    }
    assert.deepEqual([await one.stop(), await two.stop()], [0, 0])
    const query = await tidemark(['query', '--type', 'CURRENT_POINT', 'pg/A'], { cwd: here })
    assert.equal(query.code, 0, query.stderr)
    assert.ok(!existsSync(join(here, 'data')))
  })

  it('refuse calls while the store is down, whoever asks, and answer again when it is back', async () => {
    const cwd = await configured('down')
    const service = await serve([], { cwd })
    const { writeKey } = service
    assert.equal((await putAlias(service, 'x', 'value/7', writeKey)).status, 201)
    assert.equal((await ask(service, '/health/ready', '')).status, 200)
    await server.stop('fast')
    let late: RunningService
    try {
      await wait(1_000)
      const refused = await ask(service, '/historian/list', writeKey)
      assert.equal(refused.status, 503)
      assert.match(JSON.stringify(refused.body), /The store of API keys could not be reached: /)
      assert.equal((await ask(service, '/historian/list', 'tdm_unknown')).status, 503)
      assert.equal((await ask(service, '/health/live', writeKey)).status, 200)
      assert.equal((await ask(service, '/health/ready', writeKey)).status, 503)
      // Started meanwhile: it waits for the store, and makes no keys.
      late = await serve([], { cwd })
      assert.equal(late.writeKey, '')
      await until(() => /calls are refused until it is there/.test(late.stderr()), 'it is told')
      assert.equal((await ask(late, '/historian/list', writeKey)).status, 503)
      const keys = await tidemark(['keys', 'list'], { cwd })
      assert.notEqual(keys.code, 0)
      assert.match(keys.stderr, /The store of API keys could not be reached/)
    } finally {
      await server.start()
    }
    for (const one of [service, late]) {
      await until(
        async () => (await ask(one, '/historian/list', writeKey)).status === 200,
        'keys are looked up again',
      )
      assert.equal(await currentOf(one, 'aliases/x', writeKey), 7)
      assert.equal((await ask(one, '/historian/list', 'tdm_unknown')).status, 401)
    }
    assert.equal((await ask(service, '/health/ready', '')).status, 200)
    await Promise.all([service.stop(), late.stop()])
  })

  it('may be of several processes, with an embedded historian beside the store', async () => {
    const cwd = await configured('workers', { local: { type: 'embedded' } })
    const many = await serve(['--workers', '2'], { cwd })
    const other = await serve([], { cwd: await configured('workers') })
    assert.notEqual(many.writeKey, '')
    assert.equal(other.writeKey, '')
    assert.ok(existsSync(join(cwd, 'data')))
    const points = { createTags: true, points: { 'local/A': [{ timestamp: 1, value: 3 }] } }
    assert.equal((await many.post('/historian/write/points', points)).status, 200)
    assert.equal((await putAlias(other, 'x', 'local/A', many.writeKey)).status, 201)
    for (let i = 0; i < 6; i++) assert.equal(await currentOf(many, 'aliases/x', many.writeKey), 3)
    const made = await createKey(cwd, 'made', 'read')
    for (let i = 0; i < 6; i++) assert.equal((await ask(many, '/historian/list', made)).status, 200)
    const queried = await tidemark(['keys', 'revoke', 'made'], { cwd })
    assert.equal(queried.code, 0)
    await wait(1_000)
    for (let i = 0; i < 6; i++) assert.equal((await ask(many, '/historian/list', made)).status, 401)
    assert.deepEqual([await many.stop(), await other.stop()], [0, 0])
    // Keys and aliases of the store are what commands in place see as well.
    const query = await tidemark(['query', '--type', 'CURRENT_POINT', 'aliases/x'], { cwd })
    assert.equal(query.code, 0, query.stderr)
    assert.match(query.stdout, /\b3\b/)
  })
})
