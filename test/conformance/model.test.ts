// Interface, sections 5 and 8, on some thousand points: the service against a few lines of arithmetic over an array.
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { post, multi, read, get } = await conformance(`
historians:
  b:
    type: embedded
  a:
    type: embedded
  c:
    type: embedded
`)

interface Row {
  readonly ms: number
  readonly value: number
  readonly bad: boolean
}

// A repeatable shuffle: the same numbers in every run.
let seed = 12345
const random = () => {
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed / 2147483648
}
const START = Date.UTC(2026, 0, 1)
const rows = new Map<number, Row>()
const put = (row: Row) => rows.set(row.ms, row)

async function send(batch: readonly Row[]) {
  for (const row of batch) put(row)
  const columns = {
    timestamps: batch.map((row) => row.ms),
    values: batch.map((row) => row.value),
    statuses: batch.map((row) => (row.bad ? 'BAD' : 'OK')),
    unit: 'ms',
  }
  const { status, body } = await post('/historian/write/points', {
    createTags: true,
    points: { 'a/X': columns },
  })
  assert.equal(status, 200, JSON.stringify(body))
}

/** Points out of order, some of them twice, some BAD. */
const batch = (count: number) =>
  Array.from({ length: count }, () => ({
    ms: START + Math.floor(random() * 20_000) * 1000,
    value: Math.round(random() * 1e6) / 1000,
    bad: random() < 0.05,
  }))

await send(batch(8000))
for (let i = 0; i < 20; i++) await send(batch(300))
// a hole
const HOLE = [START + 5_000_000, START + 6_000_000] as const
const removed = [...rows.keys()].filter((ms) => ms >= HOLE[0] && ms < HOLE[1])
for (const ms of removed) rows.delete(ms)
const deletion = await post('/historian/delete/points', {
  ranges: { 'a/X': [{ from: HOLE[0], to: HOLE[1] }] },
})
await send(batch(1000))

const sorted = [...rows.values()].toSorted((x, y) => x.ms - y.ms)
const good = sorted.filter((row) => !row.bad)
const within = (from: number, to: number) => sorted.filter((row) => row.ms >= from && row.ms < to)
const NOW = START + 21_000_000

function valueAt(ms: number): number | null {
  const after = good.findIndex((row) => row.ms > ms)
  const before = after === -1 ? good.at(-1)! : good[after - 1]
  if (before === undefined) return null
  if (after === -1) return ms <= NOW ? before.value : null
  const next = good[after]!
  return before.value + ((next.value - before.value) * (ms - before.ms)) / (next.ms - before.ms)
}
const near = (actual: number | null, expected: number | null, what: string) => {
  if (actual === null || expected === null) return assert.equal(actual, expected, what)
  assert.ok(
    Math.abs(actual - expected) <= 1e-8 * Math.max(1, Math.abs(expected)),
    `${what}: ${actual}, not ${expected}`,
  )
}
const call = { now: NOW, format: 'columns' }

test('delete/points said how many points it deleted', () => {
  assert.deepEqual(deletion.body.deleted, { 'a/X': removed.length })
})

test('pages of raw points join to what was written, in both orders', async () => {
  for (const order of ['asc', 'desc']) {
    const times: number[] = []
    const values: number[] = []
    let cursor: string | undefined
    do {
      const details = {
        from: START,
        to: NOW,
        maxPoints: 1777,
        order,
        ...(cursor === undefined ? {} : { cursor }),
      }
      const result = await read('RAW_POINTS', 'a/X', details, call)
      times.push(...result.dataPoints.timestamps)
      values.push(...result.dataPoints.values)
      cursor = result.next
    } while (cursor !== undefined)
    const expected = order === 'asc' ? sorted : sorted.toReversed()
    assert.deepEqual(
      times,
      expected.map((row) => row.ms),
    )
    assert.deepEqual(
      values,
      expected.map((row) => row.value),
    )
  }
})

test('interpolated values lie where they should, BAD points left out', async () => {
  const { dataPoints } = await read(
    'INTERPOLATED_POINTS',
    'a/X',
    { from: START - 1000, to: NOW + 1000, count: 2001 },
    call,
  )
  for (const [i, ms] of dataPoints.timestamps.entries()) near(dataPoints.values[i], valueAt(ms), `at ${ms}`)
})

test('aggregates over windows are those of the points in them', async () => {
  const { aggregates } = await read(
    'MULTIPLE_AGGREGATED_POINTS',
    'a/X',
    { from: START, to: START + 21_000_000, count: 70 },
    { ...call, format: 'points' },
  )
  for (const [i, found] of aggregates.entries()) {
    const [from, to] = [START + i * 300_000, START + (i + 1) * 300_000]
    const all = within(from, to)
    const values = all.filter((row) => !row.bad).map((row) => row.value)
    const n = values.length
    const sum = values.reduce((x, y) => x + y, 0)
    const middle = values.toSorted((x, y) => x - y)
    const spread = values.reduce((x, y) => x + (y - sum / n) ** 2, 0)
    const variance = n === 0 ? null : n === 1 ? 0 : spread / (n - 1)
    const what = (name: string) => `${name} of window ${i}`
    near(found.count, all.length, what('count'))
    near(found.numGood, n, what('numGood'))
    near(found.numBad, all.length - n, what('numBad'))
    near(found.sum, n === 0 ? null : sum, what('sum'))
    near(found.avg, n === 0 ? null : sum / n, what('avg'))
    near(found.min, n === 0 ? null : middle[0]!, what('min'))
    near(found.max, n === 0 ? null : middle.at(-1)!, what('max'))
    near(found.range, n === 0 ? null : middle.at(-1)! - middle[0]!, what('range'))
    near(found.first, values[0] ?? null, what('first'))
    near(found.last, values.at(-1) ?? null, what('last'))
    near(found.variance, variance, what('variance'))
    near(found.stdDev, variance === null ? null : Math.sqrt(variance), what('stdDev'))
    near(found.median, n === 0 ? null : (middle[(n - 1) >> 1]! + middle[n >> 1]!) / 2, what('median'))
    near(found.timeAvg, mean(from, to), what('timeAvg'))
  }
})

/** Trapezoids between the good points, ends interpolated. */
function area(from: number, to: number): { area: number; length: number } {
  const first = good[0]!.ms
  const start = Math.max(from, first)
  const end = Math.min(to, NOW)
  const breakpoints = [start, ...good.map((row) => row.ms).filter((ms) => ms > start && ms < end), end]
  let area = 0
  for (let i = 1; i < breakpoints.length; i++) {
    area +=
      ((breakpoints[i]! - breakpoints[i - 1]!) *
        (valueAt(breakpoints[i - 1]!)! + valueAt(breakpoints[i]!)!)) /
      2
  }
  return { area, length: end - start }
}
function mean(from: number, to: number): number | null {
  const found = area(from, to)
  return found.length <= 0 ? null : found.area / found.length
}

test('TOTALISE is the trapezoids over the rows', async () => {
  const { dataPoints } = await read(
    'INTERPOLATED_POINTS',
    'calc/TOTALISE(a/X, 1h, BEGIN_DAY, 1m)',
    { from: START, to: NOW, count: 36 },
    call,
  )
  for (const [i, ms] of dataPoints.timestamps.entries()) {
    const windowStart = START + Math.floor((ms - START) / 3_600_000) * 3_600_000
    near(dataPoints.values[i], area(windowStart, ms).area / 60_000, `at ${ms}`)
  }
})

test('a calculation of two such tags is worked out point by point', async () => {
  const { dataPoints } = await read(
    'INTERPOLATED_POINTS',
    'calc/SUB(MUL(a/X, 2), a/X, 5)',
    { from: START, to: NOW, count: 501 },
    call,
  )
  for (const [i, ms] of dataPoints.timestamps.entries()) {
    const value = valueAt(ms)
    near(dataPoints.values[i], value === null ? null : value - 5, `at ${ms}`)
  }
})

test('CURRENT_POINT does not see points after now', async () => {
  const now = START + 10_000_500
  const last = sorted.findLast((row) => row.ms <= now)!
  const { dataPoint } = await read('CURRENT_POINT', 'a/X', {}, { now })
  assert.equal(Date.parse(dataPoint.timestamp), last.ms)
  assert.equal(dataPoint.value, last.value)
})

test('points of one call and of single calls are the same', async () => {
  const times = Array.from({ length: 30 }, (_, i) => START + i * 700_123)
  const requests = Object.fromEntries(
    times.map((at) => [String(at), { type: 'HISTORICAL_POINT', tag: 'a/X', details: { at } }]),
  )
  const { body } = await multi({ now: NOW, requests })
  for (const at of times) near(body.results[at].dataPoint.value, valueAt(at), `at ${at}`)
})

test('search over several historians is in order of address, page by page', async () => {
  for (const name of ['c', 'b', 'a']) {
    await post('/historian/metadata/create', {
      entries: Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`${name}/S${(i * 7) % 25}`, {}])),
    })
  }
  const found: string[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({
      search: 's*',
      limit: '11',
      ...(cursor === undefined ? {} : { cursor }),
    })
    const { body }: { body: Json } = await get(`/historian/search?${query}`)
    found.push(...body.tags.map((tag: Json) => tag.qualifiedTagName))
    cursor = body.next
  } while (cursor !== undefined)
  assert.equal(found.length, 75)
  assert.deepEqual(
    found,
    found.toSorted((x, y) => (x < y ? -1 : 1)),
  )
})
