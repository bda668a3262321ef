// Calculations, sections 1 (grammar), 2 (evaluation), arithmetic of 3, 7 (totalisers) and constants.
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { post, multi, write, read: readNow, refusal } = await conformance()
const NOW = '2026-01-01T01:00:00Z'
const read = (type: string, tag: string, details: unknown = {}, call = {}) =>
  readNow(type, tag, details, { now: NOW, ...call })
const t = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const point = (minute: number, value: number | null, status = value === null ? 'BAD' : 'OK') => ({
  timestamp: t(minute),
  value,
  status,
})
const at = async (tag: string, when: unknown, call = {}) =>
  (await read('HISTORICAL_POINT', tag, { at: when }, call)).dataPoint.value
const near = (actual: number, expected: number, relative = 1e-9) =>
  assert.ok(
    Math.abs(actual - expected) <= relative * Math.max(1e-300, Math.abs(expected)),
    `${actual} instead of ${expected}`,
  )

await post('/historian/metadata/create', { entries: { 'local/S': { stepped: true } } })
await write({
  'local/L': [
    [t(0), 0],
    [t(10), 10],
    [t(20), 99, 'BAD'],
    [t(30), 30],
  ],
  'local/S': [
    [t(5), 1],
    [t(15), 2],
  ],
  'local/LATE': [[t(20), 100]],
  'local/a b (c), \'d\' "e"': [[t(0), 42]],
  'local/ spaced ': [[t(0), 43]],
  'local/has space': [[t(0), 44]],
  'local/f(x)': [[t(0), 45]],
  'local/Z': [[t(0), 0]],
})

const CONSTANT: [string, number][] = [
  ['calc/ADD(8, 2)', 10],
  ['calc/ADD(constants/8, value/2)', 10],
  ['calc/ADD(1,2,3,4)', 10],
  ['calc/ADD(7)', 7],
  ['calc/SUB(10, 3, 2)', 5],
  ['calc/SUB(10)', 10],
  ['calc/MUL(2, 3, 4)', 24],
  ['calc/DIV(10, 8)', 1.25],
  ['calc/DIV(100, 5, 2)', 10],
  ['calc/DIV(9)', 9],
  ['Calc/add( 1 ,\t2 )', 3],
  ['calc/ADD(SUB(5, 2), calc/MUL(2, 2))', 7],
  ['calc/ADD(-2, +3)', 1],
  ['calc/ADD(1.5, 2e3)', 2001.5],
  ['calc/ADD(0.1, .5)', 0.6],
  ['constants/5', 5],
  ['constants/-2.5', -2.5],
  ['value/1e3', 1000],
]
for (const [tag, value] of CONSTANT) {
  test(`${tag} is ${value}`, async () => near(await at(tag, t(5)), value))
}

test('CURRENT_POINT of constants is at now; Constants have no raw points', async () => {
  for (const tag of ['constants/5', 'calc/ADD(2, 3)']) {
    assert.deepEqual(await read('CURRENT_POINT', tag), { dataPoint: point(60, 5) })
    assert.deepEqual(await read('RAW_POINTS', tag, { from: t(0), to: t(60) }), {
      dataPoints: [],
    })
    assert.deepEqual(await read('POINT_BEFORE', tag, { at: t(5) }), { dataPoint: point(5, null) })
    assert.deepEqual(await read('ADJACENT_POINTS', tag, { at: t(5) }), {
      before: null,
      at: point(5, 5),
      after: null,
    })
    const { dataPoints } = await read('INTERPOLATED_POINTS', tag, { from: t(0), to: t(100), count: 2 })
    assert.deepEqual(dataPoints, [point(0, 5), point(100, 5)])
  }
})

test('constants/empty is a series without any value', async () => {
  assert.equal(await at('constants/empty', t(5)), null)
  assert.equal(await at('calc/ADD(constants/empty, 1)', t(5)), null)
})

test('a constant that is no number is refused', async () => {
  for (const tag of ['constants/x', 'constants/', 'value/NaN', 'constants/Infinity', 'constants/1e999']) {
    assert.ok((await refusal('CURRENT_POINT', tag)).length > 5, tag)
  }
})

test('Elementwise: each input by its own rule, interpolated or held', async () => {
  assert.equal(await at('calc/ADD(local/L, local/S)', t(7)), 8)
  assert.equal(await at('calc/ADD(local/L, local/S)', t(25)), 27)
  assert.equal(await at('calc/SUB(local/L, local/S)', t(16)), 14)
})

test('Their raw points stand at the union of the inputs’ raw timestamps; a BAD raw input makes the result BAD', async () => {
  const { dataPoints } = await read('RAW_POINTS', 'calc/ADD(local/L, local/S)', { from: t(0), to: t(60) })
  assert.deepEqual(
    dataPoints.map((p: Json) => p.timestamp),
    [0, 5, 10, 15, 20, 30].map(t),
  )
  assert.deepEqual(
    dataPoints.map((p: Json) => p.status),
    ['BAD', 'OK', 'OK', 'OK', 'BAD', 'OK'],
  )
  assert.deepEqual(
    [1, 2, 3, 5].map((i) => dataPoints[i].value),
    [6, 11, 17, 32],
  )
  assert.equal(dataPoints[0].value, null)
})

test('null in, null out', async () => {
  assert.equal(await at('calc/ADD(local/L, local/LATE)', t(10)), null)
  assert.equal(await at('calc/ADD(local/L, local/LATE)', t(25)), 125)
})

test('A result that is not finite (division by zero) is null with status BAD', async () => {
  assert.deepEqual(await read('HISTORICAL_POINT', 'calc/DIV(1, local/Z)', { at: t(5) }), {
    dataPoint: point(5, null),
  })
  assert.equal(await at('calc/DIV(0, 0)', t(5)), null)
  assert.equal(await at('calc/MUL(1e308, 1e308)', t(5)), null)
  assert.deepEqual(await read('CURRENT_POINT', 'calc/DIV(1, local/Z)'), { dataPoint: point(0, null) })
})

test('The result is stepped when all inputs that vary are stepped', async () => {
  assert.equal(await at('calc/ADD(local/S, 10)', t(14)), 11)
  assert.equal(await at('calc/MUL(local/S, local/S)', t(14)), 1)
})

test('CURRENT_POINT of an elementwise calculation: from the inputs’ current points, the latest timestamp', async () => {
  assert.deepEqual(await read('CURRENT_POINT', 'calc/ADD(local/L, local/S)'), { dataPoint: point(30, 32) })
  assert.deepEqual(await read('CURRENT_POINT', 'calc/ADD(local/S, 5)'), { dataPoint: point(15, 7) })
  assert.deepEqual(await read('CURRENT_POINT', 'calc/ADD(local/S, 5)', {}, { now: t(10) }), {
    dataPoint: point(5, 6),
  })
})

test('White space is ignored; names are case-insensitive; the calc/ prefix inside is optional', async () => {
  for (const tag of [
    'calc/add(local/L,5)',
    'CALC/Add(  local/L  ,  5  )',
    'calc/ADD(calc/ADD(local/L), 5)',
    'calc/ADD(\nlocal/L,\n5\n)',
  ]) {
    assert.equal(await at(tag, t(5)), 10, tag)
  }
})

test('A tag whose name holds , ( ) quotes or outer spaces is written in quotes, a backslash before a quote inside', async () => {
  assert.equal(await at(`calc/ADD('local/a b (c), \\'d\\' "e"', 0)`, t(5)), 42)
  assert.equal(await at(`calc/ADD("local/a b (c), 'd' \\"e\\"", 0)`, t(5)), 42)
  assert.equal(await at(`calc/ADD('local/ spaced ', 0)`, t(5)), 43)
  assert.equal(await at('calc/ADD(local/has space, 0)', t(5)), 44)
  assert.equal(await at('calc/ADD(local/f(x), 0)', t(5)), 45)
})

test('A bare name is a tag of the configured default historian, when there is one', async () => {
  assert.equal(await at('calc/ADD(L, 5)', t(5)), 10)
})

test('Errors name the position and what was expected', async () => {
  assert.equal(
    await refusal('CURRENT_POINT', 'calc/ADD(a/b c'),
    'Cannot parse calculation: expected , or ) at column 15 of calc/ADD(a/b c',
  )
  for (const tag of [
    'calc/',
    'calc/ADD',
    'calc/ADD(',
    'calc/ADD()',
    'calc/ADD(1,)',
    'calc/ADD(1))',
    'calc/ADD(1) x',
    "calc/ADD('local/L)",
    'calc/(1)',
    'calc/ADD(,1)',
  ]) {
    const sentence = await refusal('CURRENT_POINT', tag)
    assert.match(sentence, /column \d+|expects|needs|argument/i, `${tag}: ${sentence}`)
  }
})

test('An unknown function suggests the nearest name', async () => {
  assert.match(await refusal('CURRENT_POINT', 'calc/ADDD(1, 2)'), /ADDD.*\bADD\b/)
  assert.match(await refusal('CURRENT_POINT', 'calc/TOTALIZE(1, DAY, BEGIN_DAY, 1h)'), /TOTALISE/)
})

test('More than 50 calls inside each other, or more than 10,000 characters, are refused', async () => {
  const nest = (depth: number) => `calc/${'ADD('.repeat(depth)}1${')'.repeat(depth)}`
  assert.equal(await at(nest(50), t(5)), 1)
  assert.match(await refusal('CURRENT_POINT', nest(51)), /50/)
  assert.match(await refusal('CURRENT_POINT', nest(2000)), /50|10,?000/)
  const long = (length: number) => `calc/ADD(${'1,'.repeat((length - 10) / 2).slice(0, length - 11)}1)`
  assert.match(await refusal('CURRENT_POINT', `${long(10_100)}`), /10,?000/)
  assert.match(await refusal('CURRENT_POINT', `calc/${'('.repeat(200_000)}`), /10,?000|50|column/)
})

test('Every request type works on a calculation', async () => {
  const tag = 'calc/ADD(local/L, 0)'
  const range = { from: t(0), to: t(40) }
  const types: [string, unknown][] = [
    ['CURRENT_POINT', {}],
    ['HISTORICAL_POINT', { at: t(5) }],
    ['INTERPOLATED_POINTS', { ...range, count: 9 }],
    ['RAW_POINTS', range],
    ['RAW_POINTS', { from: t(5), to: t(25), leftBoundary: 'NEAREST', rightBoundary: 'INTERPOLATED' }],
    ['POINT_BEFORE', { at: t(10) }],
    ['POINT_BEFORE_OR_AT', { at: t(10) }],
    ['POINT_AFTER', { at: t(0) }],
    ['POINT_AFTER_OR_AT', { at: t(0) }],
    ['ADJACENT_POINTS', { at: t(5) }],
    ['AGGREGATED_POINTS', range],
    ['MULTIPLE_AGGREGATED_POINTS', { ...range, count: 4 }],
    ['MULTIPLE_AGGREGATED_POINTS', { ...range, interval: '7m' }],
  ]
  for (const [type, details] of types) {
    const [mine, plain] = [await read(type, tag, details), await read(type, 'local/L', details)]
    // a BAD raw input has no value that could be added to
    const same = (json: unknown) =>
      JSON.parse(JSON.stringify(json).replaceAll('"value":99,', '"value":null,'))
    assert.deepEqual(same(mine), same(plain), type)
  }
})

// ---- TOTALISE: the documented examples ----

test('TOTALISE(1, 1d, 00:00:00, 1h) just before midnight = 24', async () => {
  near(await at('calc/TOTALISE(1, 1d, 00:00:00, 1h)', '2026-01-01T23:59:59.999999Z'), 24)
})

test('TOTALISE(1, QUARTER, BEGIN_QUARTER, 1d) at the end of March 2023 = 90', async () => {
  near(await at('calc/TOTALISE(1, QUARTER, BEGIN_QUARTER, 1d)', '2023-03-31T23:59:59.999999Z'), 90)
})

test('Europe/Oslo: TOTALISE2(constants/1, MONTH, BEGIN_MONTH, 1d) at 2023-09-25T17:29:04.446620+02:00 = 24.7285236...', async () => {
  const value = await at(
    'calc/TOTALISE2(constants/1, MONTH, BEGIN_MONTH, 1d)',
    '2023-09-25T17:29:04.446620+02:00',
    {
      timeZone: 'Europe/Oslo',
      now: '2023-09-25T17:29:04.446620+02:00',
    },
  )
  near(value, 24 + (17 * 3600 + 29 * 60 + 4.44662) / 86400, 1e-12)
  assert.equal(String(value).slice(0, 10), '24.7285236')
  const current = await readNow(
    'CURRENT_POINT',
    'calc/TOTALISE2(constants/1, MONTH, BEGIN_MONTH, 1d)',
    {},
    {
      timeZone: 'Europe/Oslo',
      now: '2023-09-25T17:29:04.446620+02:00',
    },
  )
  assert.equal(current.dataPoint.timestamp, '2023-09-25T17:29:04.446620+02:00')
  assert.equal(String(current.dataPoint.value).slice(0, 10), '24.7285236')
})

test('over a month with a clock change the total of constants/1 at rate 1h is 743 or 745', async () => {
  const call = { timeZone: 'Europe/Oslo' }
  near(
    await at('calc/TOTALISE(constants/1, MONTH, BEGIN_MONTH, 1h)', '2026-03-31T23:59:59.999999', call),
    743,
  )
  near(
    await at('calc/TOTALISE(constants/1, MONTH, BEGIN_MONTH, 1h)', '2026-10-31T23:59:59.999999', call),
    745,
  )
})

test('A rate tag that is 1 on 1 January and 0 on 1 February: linear gives 15.5 for January, stepped 31', async () => {
  const points = [
    ['2025-01-01', 1],
    ['2025-02-01', 0],
  ] as const
  await post('/historian/metadata/create', { entries: { 'local/RS': { stepped: true } } })
  await write({ 'local/RL': points, 'local/RS': points })
  near(await at('calc/TOTALISE(local/RL, MONTH, BEGIN_MONTH, 1d)', '2025-01-31T23:59:59.999999Z'), 15.5)
  near(await at('calc/TOTALISE(local/RS, MONTH, BEGIN_MONTH, 1d)', '2025-01-31T23:59:59.999999Z'), 31)
})

test('At the very start of a window the value is 0; just before it, the whole window’s total', async () => {
  const tag = 'calc/TOTALISE(1, HOUR, BEGIN_HOUR, 1h)'
  assert.equal(await at(tag, '2026-01-01T05:00:00Z'), 0)
  near(await at(tag, '2026-01-01T04:59:59.999999Z'), 1)
  near(await at(tag, '2026-01-01T04:30:00Z'), 0.5)
})

test('stretches where a is null add nothing: 0 before the first point, beyond now the total so far', async () => {
  const tag = 'calc/TOTALISE(local/LATE, DAY, BEGIN_DAY, 1h)'
  assert.equal(await at(tag, t(10)), 0)
  near(await at(tag, t(50)), 50)
  near(await at(tag, t(60)), 100 * (40 / 60))
  near(await at(tag, t(300)), 100 * (40 / 60))
})

test('BAD points are left out of the integral, the line goes over them', async () => {
  near(await at('calc/TOTALISE(local/L, DAY, BEGIN_DAY, 1m)', t(30)), 450)
  near(await at('calc/TOTALISE(local/L, DAY, BEGIN_DAY, 1m)', t(15)), 112.5)
  near(await at('calc/TOTALISE(local/L, DAY, BEGIN_DAY, 1m)', t(40)), 750)
})

test('Raw points: a’s raw points in the range, each window start (value 0), the microsecond before, and the ends of the range', async () => {
  const { dataPoints } = await read('RAW_POINTS', 'calc/TOTALISE(local/L, 20m, 00:00, 1m)', {
    from: t(5),
    to: t(35),
    leftBoundary: 'INCLUDE',
    rightBoundary: 'INCLUDE',
  })
  assert.deepEqual(
    dataPoints.map((p: Json) => p.timestamp),
    [t(5), t(10), '2026-01-01T00:19:59.999999Z', t(20), t(30), t(35)],
  )
  near(dataPoints[0].value, 12.5)
  near(dataPoints[1].value, 50)
  near(dataPoints[2].value, 200, 1e-6)
  near(dataPoints[4].value, 250)
  near(dataPoints[5].value, 400)
})

const ANCHORS: [string, string, string, number, string?][] = [
  // tag, at, why, value
  [
    'calc/TOTALISE(1, 1d, 06:00, 1h)',
    '2026-01-01T05:00:00Z',
    'end to end from 00:00 UTC plus the offset',
    23,
  ],
  ['calc/TOTALISE(1, 1d, -06:00, 1h)', '2026-01-01T19:00:00Z', 'a negative offset', 1],
  [
    'calc/TOTALISE(1, 1d, 06:00:00, 1h)',
    '2026-07-01T05:00:00',
    'UTC, whatever the zone: 03:00 UTC',
    21,
    'Europe/Oslo',
  ],
  [
    'calc/TOTALISE(1, 1d, 06:00 local, 1h)',
    '2026-07-01T05:00:00',
    'local: at that wall-clock time of the zone',
    23,
    'Europe/Oslo',
  ],
  [
    'calc/TOTALISE(1, 1d, 00:00 local, 1h)',
    '2026-03-29T12:00:00',
    'local calendar steps across DST',
    11,
    'Europe/Oslo',
  ],
  [
    'calc/TOTALISE(1, DAY, BEGIN_DAY, 1h)',
    '2026-03-29T12:00:00',
    'calendar day across DST',
    11,
    'Europe/Oslo',
  ],
  ['calc/TOTALISE(1, WEEK, BEGIN_WEEK, 1d)', '2026-01-07T12:00:00Z', 'Monday', 2.5],
  ['calc/TOTALISE(1, YEAR, BEGIN_YEAR, 1d)', '2026-02-01T12:00:00Z', 'year', 31.5],
  ['calc/TOTALISE(1, MONTH, BEGIN_YEAR, 1d)', '2026-02-03T00:00:00Z', 'restarts each month', 2],
  ['calc/TOTALISE(1, DAY, BEGIN_MONTH, 1h)', '2026-02-03T05:00:00Z', 'restarts each day', 5],
  [
    'calc/TOTALISE(1, WEEK, BEGIN_YEAR, 1d)',
    '2026-01-06T00:00:00Z',
    'WEEK inside a longer anchor starts on its Mondays',
    1,
  ],
  [
    'calc/TOTALISE(1, 5h, BEGIN_DAY, 1h)',
    '2026-01-01T22:00:00Z',
    'laid end to end from the calendar instant',
    2,
  ],
  ['calc/TOTALISE(1, 1d, 2024-04-01T06:00:00Z, 1h)', '2026-01-01T07:00:00Z', 'a fixed time', 1],
  ['calc/TOTALISE(1, 1d, 2024-04-01T06:00:00Z, 1h)', '2020-01-01T05:00:00Z', 'and backwards too', 23],
  [
    'calc/TOTALISE(1, 1d, 2024-04-01 00:00:00 CEST, 1h)',
    '2026-01-01T23:00:00Z',
    'an unambiguous zone abbreviation; 22:00 UTC',
    1,
  ],
  ['calc/TOTALISE(1, 2h, 0, 1h)', '2026-01-01T05:17:00Z', 'dynamic: one window that ends at t', 2],
  ['calc/TOTALISE(1, 30m, 1h, 1h)', '2026-01-01T05:17:00Z', 'dynamic with an offset', 0.5],
  ['calc/TOTALISE(6, 1h, BEGIN_HOUR, 1m)', '2026-01-01T05:10:00Z', 'rate 1m', 60],
  ['calc/TOTALISE(1, DAY, BEGIN_DAY, 1s)', '2026-01-01T00:10:00Z', 'rate 1s', 600],
  ['calc/TOTALISE(1, DAY, BEGIN_DAY, PT1H)', '2026-01-01T06:00:00Z', 'ISO rate', 6],
  ['calc/TOTALISE(1, DAY, BEGIN_DAY, 3600000)', '2026-01-01T06:00:00Z', 'rate in milliseconds', 6],
  ['calc/TOTALISE(1, WEEK, BEGIN_WEEK, 1w)', '2026-01-08T12:00:00Z', '1w is 168 h as a rate', 0.5],
  ['calc/totalise(1, day, begin_day, 1h)', '2026-01-01T06:00:00Z', 'words are case-insensitive', 6],
  ['calc/TOTALISERAW(1, DAY, BEGIN_DAY, 1h)', '2026-01-01T06:00:00Z', 'TOTALISERAW is the same', 6],
  ['calc/TOTALISE(ADD(local/L, 1), DAY, BEGIN_DAY, 1m)', '2026-01-01T00:10:00Z', 'of a calculation', 60],
  ['calc/ADD(TOTALISE(1, DAY, BEGIN_DAY, 1h), 100)', '2026-01-01T06:00:00Z', 'inside a calculation', 106],
  ['calc/TOTALISE(local/S, DAY, BEGIN_DAY, 1m)', '2026-01-01T00:20:00Z', 'stepped is held', 20],
]
for (const [tag, when, why, value, timeZone] of ANCHORS) {
  test(`${tag}: ${why}`, async () => {
    near(await at(tag, when, { timeZone: timeZone ?? 'UTC', now: '2026-12-01T00:00:00Z' }), value)
  })
}

const REFUSED = [
  'calc/TOTALISE(1, MONTH, BEGIN_DAY, 1h)',
  'calc/TOTALISE(1, 25h, BEGIN_DAY, 1h)',
  'calc/TOTALISE(1, YEAR, BEGIN_QUARTER, 1h)',
  'calc/TOTALISE(1, DAY, BEGIN_DAY, 1mo)',
  'calc/TOTALISE(1, DAY, BEGIN_DAY, 1y)',
  'calc/TOTALISE(1, DAY, BEGIN_DAY, 0)',
  'calc/TOTALISE(1, DAY, BEGIN_DAY, -1h)',
  'calc/TOTALISE(1, DAY, BEGIN_DECADE, 1h)',
  'calc/TOTALISE(1, FORTNIGHT, BEGIN_DAY, 1h)',
  'calc/TOTALISE(1, 0s, BEGIN_DAY, 1h)',
  'calc/TOTALISE(1, DAY, BEGIN_DAY)',
  'calc/TOTALISE(1)',
  'calc/TOTALISE(1, DAY, BEGIN_DAY, 1h, 5)',
]
for (const tag of REFUSED) {
  test(`refused with a sentence: ${tag}`, async () => {
    const sentence = await refusal('CURRENT_POINT', tag)
    assert.ok(sentence.length > 15 && !/should hold/.test(sentence), sentence)
  })
}

test('CURRENT_POINT of a totaliser is its value at now, timestamp now', async () => {
  const { dataPoint } = await read(
    'CURRENT_POINT',
    'calc/TOTALISE(local/L, DAY, BEGIN_DAY, 1m)',
    {},
    { now: t(40) },
  )
  assert.equal(dataPoint.timestamp, t(40))
  near(dataPoint.value, 750)
})

test('unknown tags and historians inside a calculation say what a plain one says', async () => {
  assert.equal(await refusal('CURRENT_POINT', 'calc/ADD(local/none, 1)'), 'Tag local/none does not exist')
  assert.equal(
    await refusal('CURRENT_POINT', 'calc/ADD(nowhere/T, 1)'),
    'Historian nowhere for tag T does not exist',
  )
  assert.equal(
    await refusal('CURRENT_POINT', 'calc/TOTALISE(nowhere/T, DAY, BEGIN_DAY, 1h)'),
    'Historian nowhere for tag T does not exist',
  )
})

test('a calculation and its inputs in one call: the same underlying reads are fetched once', async () => {
  const details = { from: t(0), to: t(40) }
  const requests = {
    a: { type: 'RAW_POINTS', tag: 'local/L', details },
    b: { type: 'RAW_POINTS', tag: 'local/L', details },
  }
  const one = await multi({ explain: true, now: NOW, requests: { a: requests.a } })
  const two = await multi({ explain: true, now: NOW, requests })
  assert.equal(two.body.explain.totals.load, one.body.explain.totals.load)
  assert.equal(two.body.explain.totals.effectiveTags, 1)
})
