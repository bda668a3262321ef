// Specification, section 8 (limits); interface, section 8 (limits, load and explain).
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { multi, write } = await conformance()
const NOW = '2026-01-02T00:00:00Z'
const FROM = Date.UTC(2026, 0, 1) / 1000
const DAY = { from: '2026-01-01', to: '2026-01-02' }
await write({
  'local/M': Array.from({ length: 1440 }, (_, i) => [FROM + i * 60, i] as const),
  'local/N': Array.from({ length: 1440 }, (_, i) => [FROM + i * 60, i] as const),
  'local/FEW': [
    [FROM, 1],
    [FROM + 3600, 2],
  ],
})

const explain = async (requests: Json, call = {}): Promise<Json> => {
  const { status, body } = await multi({ now: NOW, explain: true, requests, ...call })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(body.results, {})
  return body.explain
}
const request = (type: string, tag: string, details: unknown = {}) => ({ type, tag, details })
const load = async (type: string, tag: string, details: unknown = {}): Promise<number> => {
  const { totals, requests } = await explain({ a: request(type, tag, details) })
  assert.equal(requests.a.load, totals.load)
  return totals.load
}

test('explain: shape, letter by letter; no points are fetched', async () => {
  const told = await explain({
    a: request('RAW_POINTS', 'local/M', DAY),
    b: request('CURRENT_POINT', 'local/FEW'),
  })
  assert.deepEqual(Object.keys(told).toSorted(), ['allowed', 'limits', 'reasons', 'requests', 'totals'])
  assert.equal(told.allowed, true)
  assert.deepEqual(told.reasons, [])
  assert.deepEqual(Object.keys(told.requests), ['a', 'b'])
  for (const one of Object.values(told.requests) as Json[]) {
    assert.deepEqual(Object.keys(one).toSorted(), ['load', 'pushDowns', 'requestedPoints', 'tags'])
    assert.ok(Array.isArray(one.tags) && Array.isArray(one.pushDowns))
  }
  assert.deepEqual(told.requests.a.tags, ['local/M'])
  const names = ['aggregateWindows', 'effectiveTags', 'load', 'requestedPoints']
  assert.deepEqual(Object.keys(told.totals).toSorted(), names)
  assert.deepEqual(Object.keys(told.limits).toSorted(), names)
  assert.equal(told.totals.requestedPoints, 1001)
  assert.equal(told.totals.effectiveTags, 2)
})

test('the specification’s defaults: 100,000 points, 500,000 load, 100 tags; 100,000 windows', async () => {
  const { limits } = await explain({})
  assert.deepEqual(limits, {
    requestedPoints: 100_000,
    load: 500_000,
    effectiveTags: 100,
    aggregateWindows: 100_000,
  })
})

test('explain answers labels that are wrong in errors, and has no entry for them', async () => {
  const { status, body } = await multi({
    explain: true,
    requests: { good: request('CURRENT_POINT', 'local/M'), bad: request('CURRENT_POINT', 'local/none') },
  })
  assert.equal(status, 200)
  assert.deepEqual(body.errors, { bad: 'Tag local/none does not exist' })
  assert.deepEqual(Object.keys(body.explain.requests), ['good'])
})

const EVERY_OTHER = [
  ['CURRENT_POINT', {}],
  ['HISTORICAL_POINT', { at: NOW }],
  ['POINT_BEFORE', { at: NOW }],
  ['POINT_BEFORE_OR_AT', { at: NOW }],
  ['POINT_AFTER', { at: NOW }],
  ['POINT_AFTER_OR_AT', { at: NOW }],
  ['ADJACENT_POINTS', { at: NOW }],
  ['AGGREGATED_POINTS', DAY],
  ['MULTIPLE_AGGREGATED_POINTS', { ...DAY, count: 24 }],
] as const
test('RAW_POINTS counts its maxPoints; INTERPOLATED_POINTS its count; every other type counts as 1 point', async () => {
  const told = await explain(
    Object.fromEntries(EVERY_OTHER.map(([type, details]) => [type, request(type, 'local/M', details)])),
  )
  for (const [type] of EVERY_OTHER) assert.equal(told.requests[type].requestedPoints, 1, type)
  const counted = await explain({
    raw: request('RAW_POINTS', 'local/M', { ...DAY, maxPoints: 77 }),
    grid: request('INTERPOLATED_POINTS', 'local/M', { ...DAY, count: 33 }),
    steps: request('INTERPOLATED_POINTS', 'local/M', { ...DAY, interval: '1h' }),
    rawDefault: request('RAW_POINTS', 'local/M', DAY),
    gridDefault: request('INTERPOLATED_POINTS', 'local/M', DAY),
  })
  assert.deepEqual(
    Object.values(counted.requests).map((one: Json) => one.requestedPoints),
    [77, 33, 25, 1000, 1000],
  )
  assert.equal(counted.totals.requestedPoints, 77 + 33 + 25 + 2000)
})

test('the requested points limit is exact: 100,000 pass, 100,001 do not', async () => {
  const details = { ...DAY, maxPoints: 100_000 }
  assert.equal((await explain({ a: request('RAW_POINTS', 'local/FEW', details) })).allowed, true)
  const over = await multi({
    now: NOW,
    requests: { a: request('RAW_POINTS', 'local/FEW', details), b: request('CURRENT_POINT', 'local/FEW') },
  })
  assert.equal(over.status, 400)
  assert.match(over.body.message, /requested points/i)
  assert.match(over.body.message, /100,?000/)
  assert.match(over.body.message, /100,?001/)
})

test('aggregate windows are counted over the call', async () => {
  const told = await explain({
    a: request('MULTIPLE_AGGREGATED_POINTS', 'local/M', { ...DAY, count: 24, aggregates: ['AVG'] }),
    b: request('MULTIPLE_AGGREGATED_POINTS', 'local/M', { ...DAY, interval: '6h', aggregates: ['AVG'] }),
    c: request('AGGREGATED_POINTS', 'local/M', { ...DAY, aggregates: ['AVG'] }),
  })
  assert.equal(told.totals.aggregateWindows, 24 + 4 + 1)
})

test('a count of windows that would break memory is refused before anything is laid out', async () => {
  for (const details of [
    { ...DAY, count: 1e15, aggregates: ['AVG'] },
    { from: '1700-01-01', to: '2199-01-01', interval: 1, aggregates: ['AVG'] },
    { from: '1700-01-01', to: '2199-01-01', interval: '0.001s', aggregates: ['AVG'] },
  ]) {
    const { status, body } = await multi({
      now: NOW,
      requests: { a: request('MULTIPLE_AGGREGATED_POINTS', 'local/M', details) },
    })
    assert.ok(status === 400 || (status === 200 && body.errors.a), JSON.stringify(body).slice(0, 300))
  }
  for (const details of [
    { from: '1700-01-01', to: '2199-01-01', interval: 1 },
    { ...DAY, count: 9e15 },
  ]) {
    const { status, body } = await multi({
      now: NOW,
      requests: { a: request('INTERPOLATED_POINTS', 'local/M', details) },
    })
    assert.ok(status === 400 || (status === 200 && body.errors.a), JSON.stringify(body).slice(0, 300))
  }
})

test('load: a raw read costs what its range holds, at most maxPoints, not what was asked for', async () => {
  const few = await load('RAW_POINTS', 'local/FEW', { ...DAY, maxPoints: 50_000 })
  assert.ok(few >= 2 && few <= 10, String(few))
  const many = await load('RAW_POINTS', 'local/M', { ...DAY, maxPoints: 100 })
  assert.ok(many >= 100 && many <= 300, String(many))
  const all = await load('RAW_POINTS', 'local/M', { ...DAY, maxPoints: 50_000 })
  assert.ok(all >= 1440 && all <= 3 * 1440, String(all))
})

test('load: a plain interpolated request costs its count (at most twice)', async () => {
  const cost = await load('INTERPOLATED_POINTS', 'local/M', { ...DAY, count: 100 })
  assert.ok(cost >= 100 && cost <= 200, String(cost))
})

test('load: a calculation costs the sum of its inputs', async () => {
  const details = { ...DAY, count: 100 }
  const one = await load('INTERPOLATED_POINTS', 'local/M', details)
  const other = await load('INTERPOLATED_POINTS', 'local/N', details)
  assert.equal(await load('INTERPOLATED_POINTS', 'calc/ADD(local/M, local/N)', details), one + other)
  assert.equal(await load('INTERPOLATED_POINTS', 'calc/ADD(local/M, 5)', details), one)
  assert.equal(await load('INTERPOLATED_POINTS', 'calc/ADD(1, 5)', details), 0)
})

test('load: an aggregate that the historian computes itself costs 1 per window plus 2; a MEDIAN the points of its window', async () => {
  const pushed = await load('MULTIPLE_AGGREGATED_POINTS', 'local/M', {
    ...DAY,
    count: 24,
    aggregates: ['AVG', 'MIN', 'COUNT'],
  })
  assert.ok(pushed <= 26 && pushed >= 24, String(pushed))
  const median = await load('AGGREGATED_POINTS', 'local/M', { ...DAY, aggregates: ['MEDIAN'] })
  assert.ok(median >= 1440 && median <= 3 * 1440, String(median))
})

test('load: each distinct read counts once per call', async () => {
  const once = await explain({ a: request('RAW_POINTS', 'local/M', DAY) })
  const twice = await explain({
    a: request('RAW_POINTS', 'local/M', DAY),
    b: request('RAW_POINTS', 'local/M', DAY),
  })
  assert.equal(twice.totals.load, once.totals.load)
  const inside = await explain({
    a: request('INTERPOLATED_POINTS', 'calc/ADD(local/M, MUL(local/M, local/M))', { ...DAY, count: 50 }),
  })
  const plain = await explain({ a: request('INTERPOLATED_POINTS', 'local/M', { ...DAY, count: 50 }) })
  assert.equal(inside.totals.load, plain.totals.load)
  assert.equal(inside.totals.effectiveTags, 1)
})

test('effective tags: a calculation over one tag and a nested calculation over two tags counts as 3', async () => {
  const told = await explain({ a: request('CURRENT_POINT', 'calc/ADD(local/M, ADD(local/N, local/FEW))') })
  assert.equal(told.totals.effectiveTags, 3)
  assert.deepEqual(told.requests.a.tags.toSorted(), ['local/FEW', 'local/M', 'local/N'])
})

test('a TOTALISE over a day costs what it needs of its window, never more than a few times what is there', async () => {
  const cost = await load('HISTORICAL_POINT', 'calc/TOTALISE(local/M, DAY, BEGIN_DAY, 1h)', {
    at: '2026-01-01T12:00:00Z',
  })
  assert.ok(cost >= 1 && cost <= 3 * 720, String(cost))
})

test('a call over the limit is explained with 200 and its reasons', async () => {
  const told = await explain({
    a: request('RAW_POINTS', 'local/FEW', { ...DAY, maxPoints: 100_001 }),
    b: request('MULTIPLE_AGGREGATED_POINTS', 'local/FEW', { ...DAY, count: 100_001, aggregates: ['AVG'] }),
  })
  assert.equal(told.allowed, false)
  assert.equal(told.reasons.length, 2)
})

test('100 CURRENT_POINT over 100 tags pass, 101 do not', async () => {
  await write(
    Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`local/T${i}`, [[FROM, i]] as const])),
  )
  const call = (n: number) =>
    multi({
      now: NOW,
      requests: Object.fromEntries(
        Array.from({ length: n }, (_, i) => [`r${i}`, request('CURRENT_POINT', `local/T${i}`)]),
      ),
    })
  const good = await call(100)
  assert.equal(good.status, 200)
  assert.equal(good.body.results.r99.dataPoint.value, 99)
  const bad = await call(101)
  assert.equal(bad.status, 400)
  assert.match(bad.body.message, /effective tags/i)
  assert.equal(Object.keys(bad.body.errors).length, 101)
  assert.deepEqual(bad.body.results, {})
  assert.equal(typeof bad.body.now, 'string')
})
