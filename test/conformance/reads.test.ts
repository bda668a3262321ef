// Specification, section 4.6; interface, sections 5 (points) and 8 (request types of single points, raw and
// interpolated).
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { post, multi, write, read: readNow, refusal: refusalNow } = await conformance()

const NOW = '2026-01-01T01:00:00Z'
const read = (type: string, tag: string, details: unknown = {}, call = {}) =>
  readNow(type, tag, details, { now: NOW, ...call })
const refusal = (type: string, tag: string, details: unknown = {}, call = {}) =>
  refusalNow(type, tag, details, { now: NOW, ...call })

/** 10 -> 2026-01-01T00:10:00Z; a whole number of minutes. */
const t = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const point = (minute: number, value: number | null, status = value === null ? 'BAD' : 'OK') => ({
  timestamp: t(minute),
  value,
  status,
})

await post('/historian/metadata/create', { entries: { 'local/S': { stepped: true }, 'local/E': {} } })
const SIGNAL = [
  [t(0), 0],
  [t(10), 10],
  [t(20), 99, 'BAD'],
  [t(30), 30],
  [t(40), 10],
] as const
await write({
  'local/L': SIGNAL,
  'local/S': SIGNAL,
  'local/ONE': [[t(10), 5]],
  'local/BADS': [
    [t(10), 1, 'BAD'],
    [t(20), 2, 'BAD'],
  ],
  'local/FUT': [
    [t(0), 0],
    [t(120), 120],
  ],
})

// ---- CURRENT_POINT ----

test('CURRENT_POINT: the last point at or before the call’s now', async () => {
  assert.deepEqual(await read('CURRENT_POINT', 'local/L'), { dataPoint: point(40, 10) })
  assert.deepEqual(await read('CURRENT_POINT', 'local/L', {}, { now: t(30) }), { dataPoint: point(30, 30) })
  assert.deepEqual(await read('CURRENT_POINT', 'local/L', {}, { now: t(29) }), {
    dataPoint: point(20, 99, 'BAD'),
  })
})

test('CURRENT_POINT: with now in the details the last point strictly before it', async () => {
  assert.deepEqual(await read('CURRENT_POINT', 'local/L', { now: t(30) }), {
    dataPoint: point(20, 99, 'BAD'),
  })
  assert.deepEqual(await read('CURRENT_POINT', 'local/L', { now: t(11) }), { dataPoint: point(10, 10) })
})

test('now in the details takes every form, against the call’s now', async () => {
  assert.deepEqual(await read('CURRENT_POINT', 'local/L', { now: '49 minutes ago' }), {
    dataPoint: point(10, 10),
  })
  assert.deepEqual(await read('CURRENT_POINT', 'local/L', { now: 'now' }), { dataPoint: point(40, 10) })
})

test('Where a single dataPoint does not exist it is the time asked for, null and BAD', async () => {
  const missing = (minute: number) => ({ dataPoint: point(minute, null) })
  assert.deepEqual(await read('CURRENT_POINT', 'local/E'), missing(60))
  assert.deepEqual(await read('CURRENT_POINT', 'local/L', { now: t(0) }), missing(0))
  assert.deepEqual(await read('HISTORICAL_POINT', 'local/E', { at: t(5) }), missing(5))
  assert.deepEqual(await read('POINT_BEFORE', 'local/L', { at: t(0) }), missing(0))
  assert.deepEqual(await read('POINT_BEFORE_OR_AT', 'local/L', { at: t(-1) }), missing(-1))
  assert.deepEqual(await read('POINT_AFTER', 'local/L', { at: t(40) }), missing(40))
  assert.deepEqual(await read('POINT_AFTER_OR_AT', 'local/L', { at: t(41) }), missing(41))
})

test('details may be left out or empty for CURRENT_POINT', async () => {
  const { body } = await multi({
    now: NOW,
    requests: {
      a: { type: 'CURRENT_POINT', tag: 'local/L' },
      b: { type: 'CURRENT_POINT', tag: 'local/L', details: {} },
    },
  })
  assert.deepEqual(body.results, { a: { dataPoint: point(40, 10) }, b: { dataPoint: point(40, 10) } })
  assert.deepEqual(body.errors, {})
  assert.equal(body.now, '2026-01-01T01:00:00.000Z')
})

// ---- HISTORICAL_POINT: the interpolated value, timestamp = at ----

const historical = (title: string, tag: string, cases: readonly [number, number | null][], call = {}) =>
  test(`HISTORICAL_POINT ${title}`, async () => {
    for (const [minute, value] of cases) {
      assert.deepEqual(
        await read('HISTORICAL_POINT', tag, { at: t(minute) }, call),
        { dataPoint: point(minute, value) },
        String(minute),
      )
    }
  })

historical('of a linear tag lies between its good boundingValues; BAD points are left out', 'local/L', [
  [0, 0],
  [5, 5],
  [10, 10],
  [20, 20],
  [25, 25],
  [35, 20],
  [40, 10],
])
historical('of a stepped tag holds until the next good point', 'local/S', [
  [0, 0],
  [9, 0],
  [10, 10],
  [20, 10],
  [29, 10],
  [30, 30],
  [45, 10],
])
historical('has no value before the first good point', 'local/L', [[-1, null]])
historical('holds the last good point up to the call’s now, and is null beyond it', 'local/L', [
  [41, 10],
  [60, 10],
  [61, null],
])
historical('is null where all points are BAD', 'local/BADS', [
  [10, null],
  [15, null],
  [30, null],
])
historical(
  'sees points after now and interpolates between them: now ends nothing but the hold',
  'local/FUT',
  [
    [59, 59],
    [60, 60],
    [90, 90],
    [120, 120],
    [121, null],
  ],
)
historical(
  'before now with an earlier now does not forget later points',
  'local/L',
  [
    [25, 25],
    [35, 20],
    [41, null],
  ],
  {
    now: t(5),
  },
)

// ---- INTERPOLATED_POINTS ----

test('INTERPOLATED_POINTS: exactly count evenly spaced points, the first at from, the last at to', async () => {
  const { dataPoints } = await read('INTERPOLATED_POINTS', 'local/L', { from: t(0), to: t(40), count: 9 })
  assert.deepEqual(
    dataPoints,
    [0, 5, 10, 15, 20, 25, 30, 20, 10].map((value, i) => point(i * 5, value)),
  )
})

test('INTERPOLATED_POINTS: of a stepped tag', async () => {
  const { dataPoints } = await read('INTERPOLATED_POINTS', 'local/S', { from: t(0), to: t(40), count: 9 })
  assert.deepEqual(
    dataPoints,
    [0, 0, 10, 10, 10, 10, 30, 30, 10].map((value, i) => point(i * 5, value)),
  )
})

test('INTERPOLATED_POINTS: null with BAD before the first good point and beyond now', async () => {
  const { dataPoints } = await read('INTERPOLATED_POINTS', 'local/ONE', { from: t(0), to: t(80), count: 5 })
  assert.deepEqual(dataPoints, [point(0, null), point(20, 5), point(40, 5), point(60, 5), point(80, null)])
})

test('INTERPOLATED_POINTS: count defaults to 1000; count 1 gives from, and takes from equal to to', async () => {
  const all = await read('INTERPOLATED_POINTS', 'local/L', { from: t(0), to: t(40) })
  assert.equal(all.dataPoints.length, 1000)
  assert.equal(all.dataPoints[0].timestamp, t(0))
  assert.equal(all.dataPoints[999].timestamp, t(40))
  for (const to of [t(40), t(5)]) {
    const one = await read('INTERPOLATED_POINTS', 'local/L', { from: t(5), to, count: 1 })
    assert.deepEqual(one, { dataPoints: [point(5, 5)] })
  }
})

test('An even grid lies at from + round(i (to - from) / (n - 1)) microseconds, computed exactly', async () => {
  const three = await read('INTERPOLATED_POINTS', 'local/L', {
    from: '1970-01-01T00:00:00Z',
    to: '1970-01-01T00:00:00.000010Z',
    count: 4,
  })
  assert.deepEqual(
    three.dataPoints.map((p: Json) => p.timestamp.slice(20, -1)),
    ['000', '000003', '000007', '000010'],
  )
  // the widest span there is: 1700 to 2200, in 7 parts; by BigInt
  const from = BigInt(Date.UTC(1700, 0, 1)) * 1000n
  const to = BigInt(Date.UTC(2200, 0, 1)) * 1000n - 1n
  const wide = await read('INTERPOLATED_POINTS', 'local/L', {
    from: '1700-01-01',
    to: '2199-12-31T23:59:59.999999Z',
    count: 8,
  })
  for (const [i, got] of wide.dataPoints.entries()) {
    const product = 2n * BigInt(i) * (to - from) + 7n
    const us = from + product / 14n
    const whole = us >= 0n ? us / 1000n : -((-us + 999n) / 1000n)
    const rest = us - whole * 1000n
    const iso = new Date(Number(whole)).toISOString().slice(0, -1)
    assert.equal(got.timestamp, `${iso}${rest === 0n ? '' : String(rest).padStart(3, '0')}Z`, String(i))
  }
})

test('interval: points at from and each whole number of its steps after it up to and including to', async () => {
  const { dataPoints } = await read('INTERPOLATED_POINTS', 'local/L', {
    from: t(0),
    to: t(40),
    interval: '20m',
  })
  assert.deepEqual(dataPoints, [point(0, 0), point(20, 20), point(40, 10)])
  const cut = await read('INTERPOLATED_POINTS', 'local/L', { from: t(0), to: t(39), interval: 'PT20M' })
  assert.deepEqual(cut.dataPoints, [point(0, 0), point(20, 20)])
  const number = await read('INTERPOLATED_POINTS', 'local/L', { from: t(0), to: t(40), interval: 1_200_000 })
  assert.equal(number.dataPoints.length, 3)
})

test('interval: months keep from’s day, cut to the month’s last', async () => {
  const { dataPoints } = await read(
    'INTERPOLATED_POINTS',
    'local/L',
    { from: '2026-01-31T06:00', to: '2026-05-31T06:00', interval: '1mo' },
    { timeZone: 'Europe/Oslo' },
  )
  assert.deepEqual(
    dataPoints.map((p: Json) => p.timestamp),
    [
      '2026-01-31T06:00:00.000+01:00',
      '2026-02-28T06:00:00.000+01:00',
      '2026-03-31T06:00:00.000+02:00',
      '2026-04-30T06:00:00.000+02:00',
      '2026-05-31T06:00:00.000+02:00',
    ],
  )
})

test('interval: days keep the wall clock across a DST change, hours are exact', async () => {
  const days = await read(
    'INTERPOLATED_POINTS',
    'local/L',
    { from: '2026-03-28T12:00', to: '2026-03-30T12:00', interval: '1d' },
    { timeZone: 'Europe/Oslo' },
  )
  assert.deepEqual(
    days.dataPoints.map((p: Json) => p.timestamp),
    ['2026-03-28T12:00:00.000+01:00', '2026-03-29T12:00:00.000+02:00', '2026-03-30T12:00:00.000+02:00'],
  )
  const hours = await read(
    'INTERPOLATED_POINTS',
    'local/L',
    { from: '2026-03-29T00:00', to: '2026-03-30T00:00', interval: '1h' },
    { timeZone: 'Europe/Oslo' },
  )
  assert.equal(hours.dataPoints.length, 24)
})

test('count and interval both: an error; count and interval at least 1', async () => {
  const range = { from: t(0), to: t(40) }
  for (const details of [
    { ...range, count: 5, interval: '1m' },
    { ...range, count: 0 },
    { ...range, count: -1 },
    { ...range, count: 1.5 },
    { ...range, count: '5' },
    { ...range, interval: 'nonsense' },
    { ...range, interval: '0s' },
    { ...range, interval: '-1h' },
    { ...range, interval: true },
  ]) {
    assert.ok((await refusal('INTERPOLATED_POINTS', 'local/L', details)).length > 10, JSON.stringify(details))
  }
})

// ---- ranges ----

for (const type of ['RAW_POINTS', 'INTERPOLATED_POINTS', 'AGGREGATED_POINTS', 'MULTIPLE_AGGREGATED_POINTS']) {
  test(`${type}: from is needed, and before to, which is now when left out`, async () => {
    const count = type === 'MULTIPLE_AGGREGATED_POINTS' ? { count: 2 } : {}
    for (const details of [
      { from: t(1), to: t(1) },
      { from: t(2), to: t(1) },
      { to: t(1) },
      {},
      { from: 'bad', to: t(1) },
      { from: 'tomorrow' },
    ]) {
      const sentence = await refusal(type, 'local/L', { ...details, ...count })
      assert.ok(sentence.length > 10, JSON.stringify(details))
    }
    assert.match(
      await refusal(type, 'local/L', { from: 'a while', to: t(1), ...count }),
      /Cannot parse type a while/,
    )
  })
}

// ---- RAW_POINTS ----

const raw = async (details: unknown, tag = 'local/L', call = {}) =>
  await read('RAW_POINTS', tag, details, call)
const minutes = (result: Json) =>
  result.dataPoints.map((p: Json) => (Date.parse(p.timestamp) - Date.UTC(2026, 0, 1)) / 60_000)

test('RAW_POINTS: in time order with status, BAD too, left boundary in and right one out by default', async () => {
  assert.deepEqual(await raw({ from: t(0), to: t(40) }), {
    dataPoints: [point(0, 0), point(10, 10), point(20, 99, 'BAD'), point(30, 30)],
  })
})

test('RAW_POINTS: an empty range has no points and no next', async () => {
  assert.deepEqual(await raw({ from: t(1), to: t(2) }), { dataPoints: [] })
  assert.deepEqual(await raw({ from: t(1), to: t(2) }, 'local/E'), { dataPoints: [] })
})

const BOUNDARIES: [string, string, number, number, number[]][] = [
  // left, right, from, to, minutes
  ['INCLUDE', 'INCLUDE', 10, 30, [10, 20, 30]],
  ['INCLUDE', 'EXCLUDE', 10, 30, [10, 20]],
  ['EXCLUDE', 'INCLUDE', 10, 30, [20, 30]],
  ['EXCLUDE', 'EXCLUDE', 10, 30, [20]],
  ['NEAREST', 'EXCLUDE', 15, 35, [10, 20, 30]],
  ['NEAREST', 'EXCLUDE', 10, 35, [10, 20, 30]],
  ['INCLUDE', 'NEAREST', 15, 35, [20, 30, 40]],
  ['INCLUDE', 'NEAREST', 15, 30, [20, 30]],
  ['NEAREST', 'NEAREST', 11, 12, [10, 20]],
  ['NEAREST', 'NEAREST', -5, 45, [0, 10, 20, 30, 40]],
  ['INTERPOLATED', 'INTERPOLATED', 5, 35, [5, 10, 20, 30, 35]],
  ['INTERPOLATED', 'INTERPOLATED', 10, 30, [10, 20, 30]],
  ['INTERPOLATED', 'EXCLUDE', 5, 30, [5, 10, 20]],
  ['EXCLUDE', 'INTERPOLATED', 10, 25, [20, 25]],
  ['INTERPOLATED', 'INTERPOLATED', -5, 5, [0, 5]],
  ['INTERPOLATED', 'INTERPOLATED', 45, 70, [45]],
  ['NEAREST', 'INTERPOLATED', 12, 14, [10, 14]],
  ['INTERPOLATED', 'NEAREST', 12, 14, [12, 20]],
]
for (const [leftBoundary, rightBoundary, from, to, expected] of BOUNDARIES) {
  test(`RAW_POINTS boundaries ${leftBoundary}, ${rightBoundary} of ${from} .. ${to}, asc and desc`, async () => {
    const details = { from: t(from), to: t(to), leftBoundary, rightBoundary }
    const asc = await raw(details)
    assert.deepEqual(minutes(asc), expected)
    assert.equal(asc.next, undefined)
    const desc = await raw({ ...details, order: 'desc' })
    assert.deepEqual(minutes(desc), expected.toReversed())
  })
}

test('INTERPOLATED boundary: interpolated over BAD points, as a point of its own with status OK', async () => {
  const result = await raw({
    from: t(15),
    to: t(25),
    leftBoundary: 'INTERPOLATED',
    rightBoundary: 'INTERPOLATED',
  })
  assert.deepEqual(result.dataPoints, [point(15, 15), point(20, 99, 'BAD'), point(25, 25)])
})

test('INTERPOLATED boundary of a stepped tag holds', async () => {
  const result = await raw(
    { from: t(5), to: t(35), leftBoundary: 'INTERPOLATED', rightBoundary: 'INTERPOLATED' },
    'local/S',
  )
  assert.deepEqual(
    result.dataPoints.map((p: Json) => p.value),
    [0, 10, 99, 30, 30],
  )
})

test('a boundary mode that is none is refused with what is allowed; types and modes are exact', async () => {
  for (const mode of ['include', 'NEXT', '', 5, true]) {
    const sentence = await refusal('RAW_POINTS', 'local/L', { from: t(0), to: t(1), leftBoundary: mode })
    assert.match(sentence, /leftBoundary/)
    assert.match(sentence, /NEAREST/)
  }
  assert.match(await refusal('RAW_POINTS', 'local/L', { from: t(0), to: t(1), order: 'DOWN' }), /order/)
})

test('maxPoints: the first of the range (desc: the last), next says whether more were there', async () => {
  const range = { from: t(0), to: t(50) }
  const two = await raw({ ...range, maxPoints: 2 })
  assert.deepEqual(minutes(two), [0, 10])
  assert.equal(typeof two.next, 'string')
  assert.equal(typeof two.next, 'string')
  const five = await raw({ ...range, maxPoints: 5 })
  assert.equal(five.next, undefined)
  assert.equal('next' in five, false)
  const desc = await raw({ ...range, maxPoints: 2, order: 'desc' })
  assert.deepEqual(minutes(desc), [40, 30])
  assert.equal(typeof desc.next, 'string')
})

test('maxPoints defaults to 1000 and is at least 1', async () => {
  await write({ 'local/MANY': Array.from({ length: 1500 }, (_, i) => [1_600_000_000 + i, i] as const) })
  const many = await raw({ from: 1_600_000_000, to: 1_600_002_000 }, 'local/MANY')
  assert.equal(many.dataPoints.length, 1000)
  assert.equal(typeof many.next, 'string')
  for (const maxPoints of [0, -1, 1.5, '5', 1e300, true]) {
    assert.match(
      await refusal('RAW_POINTS', 'local/L', { from: t(0), to: t(1), maxPoints }).catch((e) => String(e)),
      /maxPoints|requested points/i,
    )
  }
})

test('Boundary points count against maxPoints', async () => {
  const modes = { leftBoundary: 'NEAREST', rightBoundary: 'NEAREST' }
  const two = await raw({ from: t(11), to: t(35), maxPoints: 2, ...modes })
  assert.deepEqual(minutes(two), [10, 20])
  assert.equal(typeof two.next, 'string')
  const all = await raw({ from: t(11), to: t(35), maxPoints: 4, ...modes })
  assert.deepEqual(minutes(all), [10, 20, 30, 40])
  assert.equal(all.next, undefined)
  const three = await raw({ from: t(11), to: t(35), maxPoints: 3, order: 'desc', ...modes })
  assert.deepEqual(minutes(three), [40, 30, 20])
  assert.equal(typeof three.next, 'string')
})

// ---- cursors ----

async function pages(tag: string, details: Json, call = {}): Promise<Json[]> {
  const found: Json[] = []
  let cursor: string | undefined
  for (let page = 0; page < 50; page++) {
    const result = await raw({ ...details, ...(cursor === undefined ? {} : { cursor }) }, tag, call)
    found.push(...result.dataPoints)
    cursor = result.next
    if (cursor === undefined) return found
  }
  throw new Error('no end')
}

for (const tag of [
  'local/L',
  'local/S',
  'calc/ADD(local/L, 1)',
  'calc/ADD(local/L, local/S)',
  'calc/TOTALISE(local/L, 1h, BEGIN_HOUR, 1h)',
]) {
  for (const order of ['asc', 'desc']) {
    for (const mode of ['INCLUDE', 'NEAREST', 'INTERPOLATED']) {
      test(`next goes on exactly after the last point, without gap or repeat: ${tag} ${order} ${mode}`, async () => {
        const details = { from: t(5), to: t(35), order, leftBoundary: mode, rightBoundary: mode }
        const whole = (await raw(details, tag)).dataPoints
        for (const maxPoints of [1, 2, 3]) {
          assert.deepEqual(await pages(tag, { ...details, maxPoints }), whole, String(maxPoints))
        }
      })
    }
  }
}

test('a cursor holds the resolved range, boundaries, order, now and zone, which replace the request’s', async () => {
  const first = await raw(
    { from: '1 hour ago', to: 'now', maxPoints: 2, order: 'desc', leftBoundary: 'EXCLUDE' },
    'local/L',
    { now: NOW, timeZone: 'Europe/Oslo' },
  )
  assert.deepEqual(
    first.dataPoints.map((p: Json) => p.value),
    [10, 30],
  )
  assert.match(first.dataPoints[0].timestamp, /\+01:00$/)
  const second = await readNow(
    'RAW_POINTS',
    'local/L',
    { from: '5 minutes ago', to: 'now', order: 'asc', maxPoints: 10, cursor: first.next },
    { now: '2030-01-01', timeZone: 'UTC' },
  )
  assert.deepEqual(
    second.dataPoints.map((p: Json) => p.value),
    [99, 10],
  )
  assert.match(second.dataPoints[0].timestamp, /\+01:00$/)
  assert.equal(second.next, undefined)
})

test('pages join also while others write', async () => {
  await write({ 'local/GROW': Array.from({ length: 10 }, (_, i) => [t(i), i] as const) })
  const details = { from: t(0), to: t(50), maxPoints: 4 }
  const first = await raw(details, 'local/GROW')
  await write({
    'local/GROW': [
      ['2026-01-01T00:00:30Z', -1],
      ['2026-01-01T00:03:30Z', 3.5],
      [t(20), 20],
    ],
  })
  const second = await raw({ ...details, cursor: first.next }, 'local/GROW')
  assert.deepEqual(
    second.dataPoints.map((p: Json) => p.value),
    [3.5, 4, 5, 6],
  )
  const third = await raw({ ...details, cursor: second.next }, 'local/GROW')
  assert.deepEqual(
    third.dataPoints.map((p: Json) => p.value),
    [7, 8, 9, 20],
  )
})

test('a cursor made up or of another tag is `Invalid cursor`', async () => {
  const { next } = await raw({ from: t(0), to: t(50), maxPoints: 2 })
  const range = { from: t(0), to: t(50) }
  for (const cursor of [
    'x',
    '',
    'e30',
    `${next}A`,
    next.slice(0, -3),
    `A${next.slice(1)}`,
    '🌊',
    'x'.repeat(100_000),
  ]) {
    assert.match(
      await refusal('RAW_POINTS', 'local/L', { ...range, cursor }),
      /^Invalid cursor/,
      cursor.slice(0, 50),
    )
  }
  assert.match(await refusal('RAW_POINTS', 'local/S', { ...range, cursor: next }), /^Invalid cursor/)
  assert.match(
    await refusal('RAW_POINTS', 'calc/ADD(local/L, 0)', { ...range, cursor: next }),
    /^Invalid cursor/,
  )
  for (const cursor of [5, {}, [], true]) {
    assert.ok((await refusal('RAW_POINTS', 'local/L', { ...range, cursor })).length > 5)
  }
  assert.equal((await raw({ ...range, cursor: null })).dataPoints.length, 5)
})

// ---- POINT_* and ADJACENT_POINTS ----

const POINTS: [string, number, [number, number, string?]][] = [
  ['POINT_BEFORE', 10, [0, 0]],
  ['POINT_BEFORE', 11, [10, 10]],
  ['POINT_BEFORE', 25, [20, 99, 'BAD']],
  ['POINT_BEFORE', 500, [40, 10]],
  ['POINT_BEFORE_OR_AT', 10, [10, 10]],
  ['POINT_BEFORE_OR_AT', 9, [0, 0]],
  ['POINT_BEFORE_OR_AT', 20, [20, 99, 'BAD']],
  ['POINT_AFTER', 10, [20, 99, 'BAD']],
  ['POINT_AFTER', 9, [10, 10]],
  ['POINT_AFTER', -500, [0, 0]],
  ['POINT_AFTER_OR_AT', 10, [10, 10]],
  ['POINT_AFTER_OR_AT', 21, [30, 30]],
]
for (const [type, at, expected] of POINTS) {
  test(`${type} at ${at} is the raw point ${expected}`, async () => {
    assert.deepEqual(await read(type, 'local/L', { at: t(at) }), { dataPoint: point(...expected) })
  })
}

test('POINT_AFTER sees points after now', async () => {
  assert.deepEqual(await read('POINT_AFTER', 'local/FUT', { at: t(60) }), { dataPoint: point(120, 120) })
})

const ADJACENT: [string, string, number, unknown][] = [
  [
    'between raw points at is interpolated',
    'local/L',
    5,
    { before: point(0, 0), at: point(5, 5), after: point(10, 10) },
  ],
  [
    'at a raw point it is that one',
    'local/L',
    10,
    { before: point(0, 0), at: point(10, 10), after: point(20, 99, 'BAD') },
  ],
  ['each null when there is none or no value', 'local/L', -1, { before: null, at: null, after: point(0, 0) }],
  [
    'the last point is held up to now',
    'local/L',
    50,
    { before: point(40, 10), at: point(50, 10), after: null },
  ],
  ['beyond now there is no value', 'local/L', 70, { before: point(40, 10), at: null, after: null }],
  ['nothing at all', 'local/E', 5, { before: null, at: null, after: null }],
]
for (const [title, tag, at, expected] of ADJACENT) {
  test(`ADJACENT_POINTS: ${title}`, async () => {
    assert.deepEqual(await read('ADJACENT_POINTS', tag, { at: t(at) }), expected)
  })
}

test('ADJACENT_POINTS at a raw BAD point shows it with its status', async () => {
  const result = await read('ADJACENT_POINTS', 'local/L', { at: t(20) })
  assert.deepEqual(result, { before: point(10, 10), at: point(20, 99, 'BAD'), after: point(30, 30) })
})

for (const type of [
  'HISTORICAL_POINT',
  'POINT_BEFORE',
  'POINT_BEFORE_OR_AT',
  'POINT_AFTER',
  'POINT_AFTER_OR_AT',
  'ADJACENT_POINTS',
]) {
  test(`${type} needs at`, async () => {
    for (const details of [{}, { at: null }, undefined]) {
      assert.match(await refusal(type, 'local/L', details), /\bat\b/)
    }
    assert.match(await refusal(type, 'local/L', { at: 'sometime' }), /Cannot parse type sometime/)
  })
}

// ---- labels and calls ----

test('A label whose request is wrong gets one sentence and no entry in results; the other labels are answered', async () => {
  const { status, body } = await multi({
    now: NOW,
    requests: {
      good: { type: 'CURRENT_POINT', tag: 'local/L' },
      type: { type: 'CURRENT', tag: 'local/L' },
      lower: { type: 'current_point', tag: 'local/L' },
      noType: { tag: 'local/L' },
      noTag: { type: 'CURRENT_POINT' },
      tagNumber: { type: 'CURRENT_POINT', tag: 5 },
      nullRequest: null,
      text: 'x',
      list: [],
      details: { type: 'CURRENT_POINT', tag: 'local/L', details: 'x' },
      detailsList: { type: 'CURRENT_POINT', tag: 'local/L', details: [] },
      tag: { type: 'CURRENT_POINT', tag: 'local/none of these' },
      historian: { type: 'CURRENT_POINT', tag: 'nowhere/T/U' },
      address: { type: 'CURRENT_POINT', tag: 'nothing' },
      calculation: { type: 'CURRENT_POINT', tag: 'calc/ADD(a/b c' },
      inner: { type: 'CURRENT_POINT', tag: 'calc/ADD(local/L, local/none)' },
    },
  })
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.results), ['good'])
  assert.equal(Object.keys(body.errors).length, 15)
  for (const [label, sentence] of Object.entries(body.errors)) assert.equal(typeof sentence, 'string', label)
  assert.equal(body.errors.tag, 'Tag local/none of these does not exist')
  assert.equal(body.errors.historian, 'Historian nowhere for tag T/U does not exist')
  assert.equal(body.errors.inner, 'Tag local/none does not exist')
  assert.equal(
    body.errors.calculation,
    'Cannot parse calculation: expected , or ) at column 15 of calc/ADD(a/b c',
  )
  assert.match(body.errors.type, /CURRENT_POINT/)
  assert.equal(body.issues.length, 15)
})

test('requests missing, or not an object: 400 for the whole call; an empty requests has empty results', async () => {
  for (const call of [{}, { requests: null }, { requests: [] }, { requests: 5 }]) {
    const { status, body } = await multi(call)
    assert.equal(status, 400)
    assert.deepEqual(body.errors, {})
    assert.match(body.message, /requests/)
  }
  const { status, body } = await multi({ requests: {} })
  assert.equal(status, 200)
  assert.deepEqual(body.results, {})
  assert.deepEqual(body.errors, {})
})

// ---- columns ----

test('Columns: every dataPoints is timestamps, values, statuses left out when all are OK, and unit ms', async () => {
  const call = { format: 'columns' }
  const part = await raw({ from: t(0), to: t(15) }, 'local/L', call)
  assert.deepEqual(part, {
    dataPoints: { timestamps: [Date.parse(t(0)), Date.parse(t(10))], values: [0, 10], unit: 'ms' },
  })
  const whole = await raw({ from: t(0), to: t(25) }, 'local/L', call)
  assert.deepEqual(whole.dataPoints.statuses, ['OK', 'OK', 'BAD'])
  const nulls = await read('INTERPOLATED_POINTS', 'local/ONE', { from: t(0), to: t(10), count: 2 }, call)
  assert.deepEqual(nulls.dataPoints, {
    timestamps: [Date.parse(t(0)), Date.parse(t(10))],
    values: [null, 5],
    statuses: ['BAD', 'OK'],
    unit: 'ms',
  })
  const single = await read('CURRENT_POINT', 'local/L', {}, call)
  assert.deepEqual(single, { dataPoint: point(40, 10) })
  const none = await raw({ from: t(1), to: t(2) }, 'local/L', call)
  assert.deepEqual(none, { dataPoints: { timestamps: [], values: [], unit: 'ms' } })
})

test('Columns: a fraction of a millisecond for microseconds, exactly', async () => {
  const stamps = [
    '2026-01-01T00:00:00.000001Z',
    '2026-01-01T00:00:00.123456Z',
    '1969-12-31T23:59:59.999999Z',
    '2199-12-31T23:59:59.999999Z',
  ]
  await write({ 'local/MICRO': stamps.map((stamp, i) => [stamp, i] as const) })
  const { body, text } = await multi({
    format: 'columns',
    requests: {
      a: {
        type: 'RAW_POINTS',
        tag: 'local/MICRO',
        details: { from: '1960-01-01', to: '2199-12-31T23:59:59.999999Z', rightBoundary: 'INCLUDE' },
      },
    },
  })
  assert.equal(body.results.a.dataPoints.timestamps.length, 4)
  for (const shown of ['-0.001', '1767225600000.001', '1767225600123.456', '7258118399999.999']) {
    assert.ok(text.includes(shown), `${shown} in ${text}`)
  }
})

test('Columns: a cursor of points goes on in columns', async () => {
  const first = await raw({ from: t(0), to: t(50), maxPoints: 2 })
  const second = await raw({ from: t(0), to: t(50), maxPoints: 10, cursor: first.next }, 'local/L', {
    format: 'columns',
  })
  assert.deepEqual(second.dataPoints.values, [99, 30, 10])
})

test('format null is left out, and the answer says which formats there are when it is wrong', async () => {
  const { status } = await multi({ format: null, requests: {} })
  assert.ok(status === 200 || status === 400)
  const wrong = await multi({ format: 'csv', requests: {} })
  assert.equal(wrong.status, 400)
  assert.match(wrong.body.message, /columns/)
})

// ---- DST ----

test('reads of a DST day show the offsets of the call’s zone', async () => {
  await write({
    'local/DST': [
      ['2026-10-25T00:30:00Z', 1],
      ['2026-10-25T01:30:00Z', 2],
    ],
  })
  const { dataPoints } = await raw({ from: '2026-10-25', to: '2026-10-26' }, 'local/DST', {
    timeZone: 'Europe/Oslo',
  })
  assert.deepEqual(
    dataPoints.map((p: Json) => p.timestamp),
    ['2026-10-25T02:30:00.000+02:00', '2026-10-25T02:30:00.000+01:00'],
  )
})
