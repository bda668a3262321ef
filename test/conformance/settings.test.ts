// Interface, sections 1, 2, 6, 7 and 10, as far as configuration changes what a client sees.
import assert from 'node:assert/strict'
import { type ClientRequest, request } from 'node:http'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { until } from '../until.ts'
import { conformance, type Json } from './service.ts'

const { get, post, send, service } = await conformance(`
server:
  basePath: /plant/api
  bodyLimitBytes: 100000
  maxConcurrentCalls: 2
  corsOrigins: ['https://dash.example']
  metricsNeedKey: true
limits:
  requestedPoints: 3000
  historianLoad: 2000
  effectiveTags: 3
  aggregateWindows: 50
historians:
  local:
    type: embedded
  other:
    type: embedded
  archive:
    type: embedded
    writable: false
`)
const JSON_TYPE = { 'Content-Type': 'application/json' }
// what the service prints may or may not have the base path in it
const BASE = service.url.endsWith('/plant/api') ? '' : '/plant/api'
const at = (path: string) => BASE + path

test('A configurable base path stands for the path of {base_url}', async () => {
  assert.equal((await get(at('/historian/list'))).status, 200)
  assert.equal((await get(at('/historian/list/'))).status, 200)
  assert.equal((await get(at('/openapi.json'), { key: null })).status, 200)
  const origin = new URL(service.url).origin
  for (const path of [
    '/historian/list',
    '/plant/historian/list',
    '/plant/apihistorian/list',
    '/plant/api/api/historian/list',
  ]) {
    const response = await fetch(origin + path, { headers: { 'X-Api-Key': service.writeKey } })
    assert.equal(response.status, 404, path)
  }
})

test('openapi names the base path', async () => {
  const { body } = await get(at('/openapi.json'), { key: null })
  const text = JSON.stringify(body.servers ?? []) + Object.keys(body.paths).join()
  assert.match(text, /\/plant\/api/)
})

test('GET /historian/list has all historians of the instance, listwritable only those flagged writable', async () => {
  const all = await get(at('/historian/list'))
  assert.deepEqual(
    new Set(all.body.historians.map((one: Json) => one.name)),
    new Set(['local', 'other', 'archive']),
  )
  const writable = await get(at('/historian/listwritable'))
  assert.deepEqual(
    new Set(writable.body.historians.map((one: Json) => one.name)),
    new Set(['local', 'other']),
  )
})

test('A body over the limit: 413, when announced, when streamed, and after decompression', async () => {
  const big = JSON.stringify({ requests: {}, pad: 'x'.repeat(150_000) })
  const announced = await send('POST', at('/historian/multi'), big, { headers: JSON_TYPE })
  assert.equal(announced.status, 413)
  assert.deepEqual(announced.body.errors, {})
  assert.match(announced.body.message, /100,?000/)
  const zipped = gzipSync(big)
  assert.ok(zipped.length < 5000)
  const bomb = await send('POST', at('/historian/write/points'), zipped, {
    headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' },
  })
  assert.equal(bomb.status, 413)
  assert.ok(Array.isArray(bomb.body.errors))
  assert.equal(await streamed(big), 413)
})

test('a body over the limit without a key is 401: no work for strangers', async () => {
  const big = JSON.stringify({ requests: {}, pad: 'x'.repeat(150_000) })
  const answer = await send('POST', at('/historian/multi'), big, { headers: JSON_TYPE, key: null })
  assert.equal(answer.status, 401)
})

async function streamed(text: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const call = request(
    service.url + at('/historian/multi'),
    {
      method: 'POST',
      headers: { ...JSON_TYPE, 'X-Api-Key': service.writeKey, 'Transfer-Encoding': 'chunked' },
    },
    (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    },
  )
  call.on('error', reject)
  for (let from = 0; from < text.length; from += 10_000) call.write(text.slice(from, from + 10_000))
  call.end()
  return await promise
}

/** A call that is in work, and never sends its body. Where a call before it is just being put away, it comes again. */
function heldCall(): Promise<ClientRequest> {
  return until(async () => {
    const call = request(service.url + at('/historian/multi'), {
      method: 'POST',
      headers: {
        ...JSON_TYPE,
        'X-Api-Key': service.writeKey,
        'Content-Length': '1000',
        Expect: '100-continue',
      },
    })
    call.on('error', () => {})
    call.flushHeaders()
    // The service asks for a body only when it has taken the call in.
    const taken = await new Promise<boolean>((resolve) => {
      call.once('continue', () => resolve(true)).once('response', () => resolve(false))
    })
    if (!taken) call.destroy()
    return taken && call
  }, 'a place is free for a call')
}

test('Calls in work are bounded; beyond, 503 with Retry-After', async () => {
  // Two calls that never finish sending keep nobody out.
  const held = [await heldCall(), await heldCall()]
  assert.equal((await get(at('/historian/list'))).status, 200)
  for (const call of held) call.destroy()
  // Many that arrive whole at once are more than two places.
  const details = { from: '2020-01-01', to: '2026-01-01', count: 3_000 }
  const call = { requests: { a: { type: 'INTERPOLATED_POINTS', tag: 'siggen/sin10@600', details } } }
  const ask = () => post(at('/historian/multi'), call)
  const answers = await Promise.all(Array.from({ length: 60 }, ask))
  assert.ok(answers.some(({ status }) => status === 200))
  const answer = answers.find(({ status }) => status === 503)!
  assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal(typeof answer.body.message, 'string')
  assert.deepEqual(answer.body.errors, {})
  assert.equal((await get(at('/health/live'), { key: null })).status, 200)
  const statuses = new Set<number>()
  await until(async () => {
    const { status } = await get(at('/historian/list'))
    statuses.add(status)
    return status !== 503
  }, 'the places are free again')
  statuses.delete(503)
  assert.deepEqual([...statuses], [200])
})

test('CORS origins are configuration; a preflight needs no key', async () => {
  const ask = (origin: string) =>
    send('OPTIONS', at('/historian/multi'), undefined, {
      key: null,
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-api-key,content-type',
      },
    })
  const good = await ask('https://dash.example')
  assert.ok(good.status === 200 || good.status === 204)
  assert.equal(good.headers.get('access-control-allow-origin'), 'https://dash.example')
  assert.match(good.headers.get('access-control-allow-headers') ?? '', /x-api-key/i)
  assert.match(good.headers.get('access-control-allow-headers') ?? '', /content-type/i)
  assert.match(good.headers.get('access-control-allow-methods') ?? '', /POST/)
  const bad = await ask('https://evil.example')
  assert.notEqual(bad.headers.get('access-control-allow-origin'), 'https://evil.example')
  assert.notEqual(bad.headers.get('access-control-allow-origin'), '*')
  const real = await get(at('/historian/list'), { headers: { Origin: 'https://dash.example' } })
  assert.equal(real.headers.get('access-control-allow-origin'), 'https://dash.example')
  const refused = await get(at('/historian/list'), { headers: { Origin: 'https://dash.example' }, key: null })
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('access-control-allow-origin'), 'https://dash.example')
})

test('/metrics can be put behind a key by configuration', async () => {
  assert.equal((await get(at('/metrics'), { key: null })).status, 401)
  assert.equal((await get(at('/metrics'))).status, 200)
  assert.equal((await get(at('/health/live'), { key: null })).status, 200)
})

test('Historian <h> for tag <t> is not writable; several historians are all checked, nothing is written', async () => {
  const answer = await post(at('/historian/write/points'), {
    createTags: true,
    points: { 'local/A': [{ timestamp: 1, value: 1 }], 'archive/A': [{ timestamp: 1, value: 1 }] },
  })
  assert.equal(answer.status, 400)
  assert.equal(answer.body.message, 'There were errors in the request')
  assert.deepEqual(answer.body.errors, ['Historian archive for tag A is not writable'])
  assert.deepEqual((await get(at('/historian/search'))).body.tags, [])
  for (const [path, body] of [
    ['metadata/create', { entries: { 'archive/A': {} } }],
    ['metadata/update', { createIfMissing: true, entries: { 'archive/A': {} } }],
  ] as const) {
    const { status, body: told } = await post(at(`/historian/${path}`), body)
    assert.equal(status, 200)
    assert.deepEqual(told.errors, { 'archive/A': 'Historian archive for tag A is not writable' })
  }
  for (const [path, body] of [
    ['delete/points', { ranges: { 'archive/A': [{ from: 1, to: 2 }] } }],
    ['metadata/delete', { tags: ['archive/A'] }],
    ['metadata/rename', { renames: { 'archive/A': 'archive/B' } }],
  ] as const) {
    const { status, body: told } = await post(at(`/historian/${path}`), body)
    assert.equal(status, 400)
    assert.deepEqual(told.errors, ['Historian archive for tag A is not writable'])
  }
})

test('a rename stays inside one historian', async () => {
  await post(at('/historian/write/points'), { createTags: true, points: { 'local/OLD': [] } })
  const { status, body } = await post(at('/historian/metadata/rename'), {
    renames: { 'local/OLD': 'other/NEW' },
  })
  assert.equal(status, 400)
  assert.equal(body.errors.length, 1)
})

test('A bare name without a historian and without a default historian is an error that says so', async () => {
  await post(at('/historian/write/points'), {
    createTags: true,
    points: { 'local/A': [{ timestamp: 1, value: 1 }] },
  })
  const { body } = await post(at('/historian/multi'), {
    requests: { a: { type: 'CURRENT_POINT', tag: 'calc/ADD(A, 1)' } },
  })
  assert.match(body.errors.a, /historian/)
  assert.equal(body.issues[0].column, 10)
})

const breach = async (requests: Json, limit: RegExp, configured: string, value: string) => {
  const { status, body } = await post(at('/historian/multi'), { requests })
  assert.equal(status, 400, JSON.stringify(body))
  assert.deepEqual(body.results, {})
  for (const label of Object.keys(requests)) assert.equal(body.errors[label], body.message)
  assert.deepEqual(Object.keys(body.errors), Object.keys(requests))
  assert.match(body.message, limit)
  assert.match(body.message, new RegExp(configured))
  assert.match(body.message, new RegExp(value))
  assert.ok(body.issues.length >= 1)
  const explained = await post(at('/historian/multi'), { explain: true, requests })
  assert.equal(explained.status, 200)
  assert.deepEqual(explained.body.results, {})
  assert.equal(explained.body.explain.allowed, false)
  assert.ok(explained.body.explain.reasons.length >= 1)
  assert.equal(explained.body.explain.reasons[0], body.message)
  return explained.body.explain
}

const DAY = { from: '2026-01-01', to: '2026-01-02' }

test('Requested points over the limit: 400 with the same sentence under every label; defaults count too', async () => {
  await post(at('/historian/write/points'), {
    createTags: true,
    points: { 'local/A': [{ timestamp: 1, value: 1 }] },
  })
  const raw = { type: 'RAW_POINTS', tag: 'local/A', details: DAY }
  const interpolated = { type: 'INTERPOLATED_POINTS', tag: 'local/A', details: DAY }
  const explain = await breach(
    { a: raw, b: interpolated, c: raw, d: { type: 'CURRENT_POINT', tag: 'local/A' } },
    /requested points/i,
    '3,?000',
    '3,?001',
  )
  assert.equal(explain.totals.requestedPoints, 3001)
  assert.equal(explain.requests.a.requestedPoints, 1000)
  assert.equal(explain.requests.d.requestedPoints, 1)
  assert.equal(explain.limits.requestedPoints, 3000)
})

test('more labels than the limit of requested points are refused unread, with the same sentence under every label', async () => {
  const requests = Object.fromEntries(Array.from({ length: 3001 }, (_, i) => [`l${i}`, 0]))
  for (const explain of [false, true]) {
    const { status, body } = await post(at('/historian/multi'), { explain, requests })
    assert.equal(status, 400)
    assert.deepEqual(Object.keys(body.errors).length, 3001)
    assert.equal(body.errors.l3000, body.message)
    assert.match(body.message, /requested points/)
  }
})

test('each interval step of INTERPOLATED_POINTS counts as a requested point', async () => {
  const details = { ...DAY, interval: '10s' }
  await breach(
    { a: { type: 'INTERPOLATED_POINTS', tag: 'local/A', details } },
    /requested points/i,
    '3,?000',
    '8,?641',
  )
})

test('Historian load over the limit: 400 before anything is fetched', async () => {
  const points = Array.from({ length: 2500 }, (_, i) => ({ timestamp: 1_700_000_000 + i, value: i }))
  const written = await post(at('/historian/write/points'), {
    createTags: true,
    points: {
      'local/MANY': { timestamps: points.map((p) => p.timestamp), values: points.map((p) => p.value) },
    },
  })
  assert.equal(written.status, 200)
  const details = { from: 1_700_000_000, to: 1_700_002_400, maxPoints: 2400 }
  await breach(
    { a: { type: 'RAW_POINTS', tag: 'local/MANY', details } },
    /historian load/i,
    '2,?000',
    '2,?[04]00',
  )
})

test('when only a MEDIAN breaks the load the sentence says to leave it out', async () => {
  const details = { from: 1_700_000_000, to: 1_700_002_400 }
  const all = { a: { type: 'AGGREGATED_POINTS', tag: 'local/MANY', details } }
  const { status, body } = await post(at('/historian/multi'), { requests: all })
  assert.equal(status, 400)
  assert.match(body.message, /MEDIAN/)
  const without = { ...details, aggregates: ['AVG', 'COUNT', 'TIMEAVG', 'STDDEV'] }
  const good = await post(at('/historian/multi'), {
    requests: { a: { type: 'AGGREGATED_POINTS', tag: 'local/MANY', details: without } },
  })
  assert.equal(good.status, 200)
  assert.equal(good.body.results.a.aggregates[0].count, 2400)
})

test('Effective tags: distinct underlying historian tags over the call, constants not counted', async () => {
  await post(at('/historian/write/points'), {
    createTags: true,
    points: Object.fromEntries(['A', 'B', 'C', 'D'].map((n) => [`local/${n}`, [{ timestamp: 1, value: 1 }]])),
  })
  const current = (tag: string) => ({ type: 'CURRENT_POINT', tag })
  const good = await post(at('/historian/multi'), {
    requests: {
      a: current('calc/ADD(local/A, ADD(local/B, local/C), 5, constants/7)'),
      b: current('local/A'),
      c: current('calc/ADD(local/B, local/C)'),
      d: current('constants/5'),
    },
  })
  assert.equal(good.status, 200)
  assert.deepEqual(good.body.errors, {})
  const explain = await breach(
    { a: current('calc/ADD(local/A, ADD(local/B, local/C))'), b: current('local/D') },
    /effective tags/i,
    '3',
    '4',
  )
  assert.equal(explain.totals.effectiveTags, 4)
  assert.deepEqual(new Set(explain.requests.a.tags), new Set(['local/A', 'local/B', 'local/C']))
})

test('aggregate windows over the limit: 400', async () => {
  const details = { ...DAY, count: 51, aggregates: ['AVG'] }
  const explain = await breach(
    { a: { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'local/A', details } },
    /aggregate windows/i,
    '50',
    '51',
  )
  assert.equal(explain.totals.aggregateWindows, 51)
  const exact = { ...DAY, count: 50, aggregates: ['AVG'] }
  const good = await post(at('/historian/multi'), {
    requests: { a: { type: 'MULTIPLE_AGGREGATED_POINTS', tag: 'local/A', details: exact } },
  })
  assert.equal(good.status, 200)
})
