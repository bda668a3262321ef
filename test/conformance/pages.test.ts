// Interface, section 10: health, metrics, the reference, and what they may show without a key.
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { get, post, multi, write, service } = await conformance(`
historians:
  topsecretplant:
    type: embedded
`)
await write({ 'topsecretplant/HUSH.TAG': [[1, 98765.4321]] })
await multi({ requests: { 'quiet label': { type: 'CURRENT_POINT', tag: 'topsecretplant/HUSH.TAG' } } })
await multi({ requests: { 'quiet label': { type: 'CURRENT_POINT', tag: 'topsecretplant/HUSH.NOT' } } })
await get('/historian/search?search=HUSH')

const PAGES = ['/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs', '/']
for (const path of PAGES) {
  test(`${path} needs no key to load, and shows no tags, values or historian names without one`, async () => {
    const answer = await get(path, { key: null })
    assert.ok([200, 302].includes(answer.status), String(answer.status))
    assert.doesNotMatch(answer.text, /topsecret|HUSH|98765|quiet label|tdm_/)
  })
}

test('GET /health/ready: each historian’s state, named to a valid key', async () => {
  const without = await get('/health/ready', { key: null })
  assert.equal(without.status, 200)
  assert.equal(without.body.historians.length, 1)
  const answer = await get('/health/ready')
  assert.equal(answer.status, 200)
  assert.equal(answer.body.historians.length, 1)
  const [one] = answer.body.historians
  assert.equal(one.name, 'topsecretplant')
  assert.equal(one.durability, 'fsync')
  assert.equal(one.atomicWrites, 'request')
  assert.equal(
    (await get(`/health/ready?apikey=${service.readKey}`, { key: null })).body.historians[0].name,
    'topsecretplant',
  )
})

test('GET /metrics is Prometheus text, without tags, labels or keys even to a key', async () => {
  const answer = await get('/metrics')
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain|^application\/openmetrics-text/)
  assert.match(answer.text, /^# TYPE \S+ (counter|gauge|histogram)$/m)
  assert.doesNotMatch(answer.text, /HUSH|quiet label|tdm_/)
  for (const line of answer.text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    assert.match(line, /^[a-zA-Z_:][\w:]*(\{.*\})? [-+0-9.eEInfNa]+( \d+)?$/, line)
  }
})

test('unknown paths do not make new series in the metrics', async () => {
  for (let i = 0; i < 20; i++) await get(`/historian/made-up-${i}`)
  assert.doesNotMatch((await get('/metrics')).text, /made-up/)
})

test('GET /openapi.json describes every endpoint of the interface, with its key and its answers', async () => {
  const { body } = await get('/openapi.json', { key: null })
  assert.match(body.openapi, /^3\./)
  const paths = Object.keys(body.paths).map((path) => path.replace(/\/$/, ''))
  for (const path of [
    '/historian/list',
    '/historian/listwritable',
    '/historian/search',
    '/historian/metadata/create',
    '/historian/metadata/update',
    '/historian/metadata/get',
    '/historian/metadata/delete',
    '/historian/metadata/rename',
    '/historian/write/points',
    '/historian/delete/points',
    '/historian/multi',
    '/health/live',
    '/health/ready',
    '/metrics',
  ]) {
    assert.ok(paths.includes(path), path)
  }
  assert.match(JSON.stringify(body.components?.securitySchemes ?? {}), /X-Api-Key/)
  assert.match(JSON.stringify(body.components?.securitySchemes ?? {}), /apikey/)
  for (const type of [
    'CURRENT_POINT',
    'HISTORICAL_POINT',
    'INTERPOLATED_POINTS',
    'RAW_POINTS',
    'POINT_BEFORE',
    'POINT_BEFORE_OR_AT',
    'POINT_AFTER',
    'POINT_AFTER_OR_AT',
    'ADJACENT_POINTS',
    'AGGREGATED_POINTS',
    'MULTIPLE_AGGREGATED_POINTS',
  ]) {
    assert.ok(JSON.stringify(body).includes(type), type)
  }
  const codes = Object.keys(body.paths['/historian/multi'].post.responses)
  for (const code of ['200', '400', '401', '504']) assert.ok(codes.includes(code), code)
})

test('the rendered reference loads all it needs from the service itself', async () => {
  const page = await get('/docs', { key: null })
  const html =
    page.status === 302
      ? (await get(new URL(page.headers.get('location')!, `${service.url}/`).pathname, { key: null })).text
      : page.text
  assert.match(html, /<html/i)
  assert.doesNotMatch(html, /(src|href)="https?:\/\/(?!127\.0\.0\.1)/)
  for (const [, link] of html.matchAll(/(?:src|href)="([^"#:]+)"/g)) {
    const path = new URL(link!, `${service.url}/docs/`).pathname
    assert.equal((await get(path, { key: null })).status, 200, path)
  }
})

test('a log line never holds the key, tags or values of a call', async () => {
  await post('/historian/write/points', {
    points: { 'topsecretplant/HUSH.TAG': [{ timestamp: 2, value: 98765.4321 }] },
  })
  const log = service.stderr()
  assert.doesNotMatch(log, /tdm_|98765/)
})

test('each line of the log is JSON', () => {
  for (const line of service
    .stderr()
    .split('\n')
    .filter((text) => text !== '')) {
    const entry = JSON.parse(line) as Json
    assert.equal(typeof entry.msg, 'string')
    assert.match(entry.time, /^\d{4}-/)
  }
})
