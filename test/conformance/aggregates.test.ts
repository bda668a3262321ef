// Interface, section 8: aggregates, windows and their definitions; section 5 on BAD points.
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { post, multi, write, read: readNow, refusal } = await conformance()

const NOW = '2026-01-01T12:00:00Z'
const read = (type: string, tag: string, details: unknown, call = {}) =>
  readNow(type, tag, details, { now: NOW, ...call })
const t = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

await post('/historian/metadata/create', { entries: { 'local/S': { stepped: true }, 'local/E': {} } })
const SIGNAL = [
  [t(0), 2],
  [t(10), 4],
  [t(20), 1000, 'BAD'],
  [t(30), 9],
  [t(40), -3],
] as const
await write({
  'local/L': SIGNAL,
  'local/S': SIGNAL,
  'local/ONE': [[t(10), 7]],
  'local/BAD': [[t(10), 7, 'BAD']],
})

const FIELDS = [
  'from',
  'to',
  'min',
  'max',
  'avg',
  'median',
  'variance',
  'stdDev',
  'first',
  'last',
  'sum',
  'range',
  'count',
  'numGood',
  'numBad',
  'timeAvg',
]
const NULLS = Object.fromEntries(FIELDS.slice(2).map((name) => [name, null]))

function same(actual: Json, expected: Record<string, unknown>) {
  const fields = [...new Set([...FIELDS, ...Object.keys(expected)])]
  assert.deepEqual(Object.keys(actual).toSorted(), fields.toSorted())
  for (const name of fields) {
    const [a, e] = [actual[name], expected[name]]
    if (typeof e === 'number' && typeof a === 'number') {
      assert.ok(Math.abs(a - e) <= 1e-9 * Math.max(1, Math.abs(e)), `${name}: ${a} instead of ${e}`)
    } else assert.equal(a, e, `${name}: ${a} instead of ${e}`)
  }
}

const one = async (tag: string, from: number, to: number, more = {}, call = {}) => {
  const { aggregates } = await read('AGGREGATED_POINTS', tag, { from: t(from), to: t(to), ...more }, call)
  assert.equal(aggregates.length, 1)
  return aggregates[0]
}

test('AGGREGATED_POINTS: all aggregates over the raw good points of [from, to)', async () => {
  // good points 2, 4, 9: mean 5, sample variance (9 + 1 + 16) / 2 = 13
  // signal 0..10: 2 to 4, mean 3; 10..30: 4 to 9, mean 6.5; 30..40: 9 to -3, mean 3; (30 + 130 + 30) / 40 = 4.75
  same(await one('local/L', 0, 40), {
    from: t(0),
    to: t(40),
    min: 2,
    max: 9,
    avg: 5,
    median: 4,
    variance: 13,
    stdDev: Math.sqrt(13),
    first: 2,
    last: 9,
    sum: 15,
    range: 7,
    count: 4,
    numGood: 3,
    numBad: 1,
    timeAvg: 4.75,
  })
})

test('of a stepped tag only TIMEAVG is another', async () => {
  // 0..10 at 2, 10..30 at 4, 30..40 at 9: (20 + 80 + 90) / 40
  same(await one('local/S', 0, 40), {
    from: t(0),
    to: t(40),
    min: 2,
    max: 9,
    avg: 5,
    median: 4,
    variance: 13,
    stdDev: Math.sqrt(13),
    first: 2,
    last: 9,
    sum: 15,
    range: 7,
    count: 4,
    numGood: 3,
    numBad: 1,
    timeAvg: 4.75,
  })
})

test('an even number of points: the median is the mean of the middle two', async () => {
  const { median } = await one('local/L', 0, 41)
  assert.equal(median, 3)
})

test('sample variance and deviation are 0 for one point', async () => {
  const { variance, stdDev, range, avg } = await one('local/ONE', 0, 60)
  assert.deepEqual([variance, stdDev, range, avg], [0, 0, 0, 7])
})

test('nothing in the window: null, counts 0, sum null; TIMEAVG is of the interpolated signal all the same', async () => {
  same(await one('local/L', 1, 9), {
    ...NULLS,
    from: t(1),
    to: t(9),
    count: 0,
    numGood: 0,
    numBad: 0,
    timeAvg: 3,
  })
  same(await one('local/E', 1, 9), { ...NULLS, from: t(1), to: t(9), count: 0, numGood: 0, numBad: 0 })
})

test('only BAD points: COUNT counts all points, the rest has nothing', async () => {
  same(await one('local/BAD', 0, 60), { ...NULLS, from: t(0), to: t(60), count: 1, numGood: 0, numBad: 1 })
})

test('TIMEAVG covers the part of the window where the signal has a value', async () => {
  // before the first point nothing; ONE is 7 from 0:10 on, held to now
  assert.equal((await one('local/ONE', 0, 60)).timeAvg, 7)
  // now at 0:50: held from 0:40 to 0:50 only: (0..40: 190, 40..50: -30) / 50
  const { timeAvg } = await one('local/L', 0, 90, {}, { now: t(50) })
  assert.ok(Math.abs(timeAvg - 160 / 50) < 1e-12, String(timeAvg))
  // wholly after now and after the last point
  assert.equal((await one('local/L', 60, 90, {}, { now: t(50) })).timeAvg, null)
})

test('aggregates: those not asked for are null; names are case-insensitive', async () => {
  same(await one('local/L', 0, 40, { aggregates: ['avg', 'StdDev', 'NUMBAD'] }), {
    ...NULLS,
    from: t(0),
    to: t(40),
    avg: 5,
    stdDev: Math.sqrt(13),
    numBad: 1,
  })
  const each = [
    'MIN',
    'MAX',
    'AVG',
    'MEDIAN',
    'VAR',
    'STDDEV',
    'FIRST',
    'LAST',
    'SUM',
    'RANGE',
    'COUNT',
    'NUMGOOD',
    'NUMBAD',
    'TIMEAVG',
  ]
  const keys = [
    'min',
    'max',
    'avg',
    'median',
    'variance',
    'stdDev',
    'first',
    'last',
    'sum',
    'range',
    'count',
    'numGood',
    'numBad',
    'timeAvg',
  ]
  const all = await one('local/L', 0, 40)
  for (const [i, name] of each.entries()) {
    const key = keys[i]!
    same(await one('local/L', 0, 40, { aggregates: [name] }), {
      ...NULLS,
      from: t(0),
      to: t(40),
      [key]: all[key],
      ...(name === 'VAR' ? { var: all.variance } : {}),
    })
  }
  same(await one('local/L', 0, 40, { aggregates: ['MIN', 'min'] }), {
    ...NULLS,
    from: t(0),
    to: t(40),
    min: 2,
  })
})

test('An empty aggregates array is an error, and so is a name that is none', async () => {
  for (const aggregates of [[], ['MODE'], 'AVG', [5], [null], ['variance ']]) {
    const sentence = await refusal('AGGREGATED_POINTS', 'local/L', { from: t(0), to: t(40), aggregates })
    assert.ok(sentence.length > 10, JSON.stringify(aggregates))
  }
  assert.match(
    await refusal('AGGREGATED_POINTS', 'local/L', { from: t(0), to: t(40), aggregates: ['AVGG'] }),
    /AVGG/,
  )
})

test('MULTIPLE_AGGREGATED_POINTS: count objects for equal subintervals, lain out exactly', async () => {
  const { aggregates } = await read('MULTIPLE_AGGREGATED_POINTS', 'local/L', {
    from: t(0),
    to: t(40),
    count: 2,
  })
  assert.equal(aggregates.length, 2)
  same(aggregates[0], {
    from: t(0),
    to: t(20),
    min: 2,
    max: 4,
    avg: 3,
    median: 3,
    variance: 2,
    stdDev: Math.SQRT2,
    first: 2,
    last: 4,
    sum: 6,
    range: 2,
    count: 2,
    numGood: 2,
    numBad: 0,
    timeAvg: 4.125,
  })
  same(aggregates[1], {
    from: t(20),
    to: t(40),
    min: 9,
    max: 9,
    avg: 9,
    median: 9,
    variance: 0,
    stdDev: 0,
    first: 9,
    last: 9,
    sum: 9,
    range: 0,
    count: 2,
    numGood: 1,
    numBad: 1,
    timeAvg: 5.375,
  })
  const uneven = await read('MULTIPLE_AGGREGATED_POINTS', 'local/L', {
    from: '2026-01-01T00:00:00Z',
    to: '2026-01-01T00:00:00.000010Z',
    count: 3,
    aggregates: ['COUNT'],
  })
  assert.deepEqual(
    uneven.aggregates.map((w: Json) => [w.from.slice(20, -1), w.to.slice(20, -1)]),
    [
      ['000', '000003'],
      ['000003', '000007'],
      ['000007', '000010'],
    ],
  )
})

test('count or interval is needed, both are an error', async () => {
  const range = { from: t(0), to: t(40) }
  for (const details of [
    range,
    { ...range, count: 2, interval: '1h' },
    { ...range, count: 0 },
    { ...range, count: 1.5 },
    { ...range, count: '2' },
    { ...range, interval: 'x' },
    { ...range, interval: '0h' },
  ]) {
    const sentence = await refusal('MULTIPLE_AGGREGATED_POINTS', 'local/L', details)
    assert.match(sentence, /count|interval/, JSON.stringify(details))
  }
})

const windows = async (
  zone: string,
  from: string,
  to: string,
  interval: string | number,
): Promise<string[]> => {
  const { aggregates } = await read(
    'MULTIPLE_AGGREGATED_POINTS',
    'local/L',
    { from, to, interval, aggregates: ['COUNT'] },
    { timeZone: zone },
  )
  for (const [i, window] of aggregates.entries()) {
    if (i > 0) assert.equal(window.from, aggregates[i - 1].to, 'windows join')
  }
  return [...aggregates.map((w: Json) => w.from), aggregates.at(-1).to]
}

test('interval: one window for each step from the step’s boundary at or before from, first and last cut', async () => {
  assert.deepEqual(await windows('UTC', '2026-01-01T00:10', '2026-01-01T02:20', '1h'), [
    '2026-01-01T00:10:00.000Z',
    '2026-01-01T01:00:00.000Z',
    '2026-01-01T02:00:00.000Z',
    '2026-01-01T02:20:00.000Z',
  ])
  assert.deepEqual(await windows('UTC', '2026-01-01T01:00', '2026-01-01T02:00', 'PT1H'), [
    '2026-01-01T01:00:00.000Z',
    '2026-01-01T02:00:00.000Z',
  ])
})

test('interval: hours and shorter count exactly from each local midnight and begin anew there', async () => {
  assert.deepEqual(await windows('Europe/Oslo', '2026-01-01T20:00', '2026-01-02T08:00', '5h'), [
    '2026-01-01T20:00:00.000+01:00',
    '2026-01-02T00:00:00.000+01:00',
    '2026-01-02T05:00:00.000+01:00',
    '2026-01-02T08:00:00.000+01:00',
  ])
  // the clock goes forward at 02:00: exact hours from midnight, so the third hour begins at 03:00
  assert.deepEqual(await windows('Europe/Oslo', '2026-03-29T00:00', '2026-03-29T08:00', '2h'), [
    '2026-03-29T00:00:00.000+01:00',
    '2026-03-29T03:00:00.000+02:00',
    '2026-03-29T05:00:00.000+02:00',
    '2026-03-29T07:00:00.000+02:00',
    '2026-03-29T08:00:00.000+02:00',
  ])
  assert.equal((await windows('Europe/Oslo', '2026-03-29', '2026-03-30', '1h')).length, 24)
  assert.equal((await windows('Europe/Oslo', '2026-10-25', '2026-10-26', '1h')).length, 26)
})

test('interval: days from 1970-01-01, local, across DST', async () => {
  assert.deepEqual(await windows('Europe/Oslo', '2026-03-28', '2026-03-31', '1d'), [
    '2026-03-28T00:00:00.000+01:00',
    '2026-03-29T00:00:00.000+01:00',
    '2026-03-30T00:00:00.000+02:00',
    '2026-03-31T00:00:00.000+02:00',
  ])
  // 2026-01-01 is day 20454 since 1970-01-01, an even number of 2 d steps but 20454 = 3 * 6818
  assert.deepEqual(await windows('UTC', '2026-01-02', '2026-01-08', '3d'), [
    '2026-01-02T00:00:00.000Z',
    '2026-01-04T00:00:00.000Z',
    '2026-01-07T00:00:00.000Z',
    '2026-01-08T00:00:00.000Z',
  ])
})

test('interval: weeks from Monday 1970-01-05', async () => {
  assert.deepEqual(await windows('UTC', '2026-01-01', '2026-01-20', '1w'), [
    '2026-01-01T00:00:00.000Z',
    '2026-01-05T00:00:00.000Z',
    '2026-01-12T00:00:00.000Z',
    '2026-01-19T00:00:00.000Z',
    '2026-01-20T00:00:00.000Z',
  ])
})

test('interval: months and years from January 1970', async () => {
  assert.deepEqual(await windows('Europe/Oslo', '2026-01-15', '2026-04-02', '1mo'), [
    '2026-01-15T00:00:00.000+01:00',
    '2026-02-01T00:00:00.000+01:00',
    '2026-03-01T00:00:00.000+01:00',
    '2026-04-01T00:00:00.000+02:00',
    '2026-04-02T00:00:00.000+02:00',
  ])
  // 2026 - 1970 = 56 years: a boundary of 2 y, not of 3 y (54, 57)
  assert.deepEqual(await windows('UTC', '2026-01-01', '2030-01-01', '3y'), [
    '2026-01-01T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
    '2030-01-01T00:00:00.000Z',
  ])
  assert.deepEqual(await windows('UTC', '2026-02-01', '2026-08-01', 'P3M'), [
    '2026-02-01T00:00:00.000Z',
    '2026-04-01T00:00:00.000Z',
    '2026-07-01T00:00:00.000Z',
    '2026-08-01T00:00:00.000Z',
  ])
})

test('interval: a number is milliseconds', async () => {
  assert.deepEqual(await windows('UTC', '2026-01-01T00:00', '2026-01-01T00:00:01', 500), [
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00.500Z',
    '2026-01-01T00:00:01.000Z',
  ])
})

test('aggregates of a calculation are over its raw points, and TIMEAVG over its signal', async () => {
  // raw points of L + 1: 3, 5, (BAD), 10; BAD raw input gives a BAD raw result
  same(await one('calc/ADD(local/L, 1)', 0, 40), {
    from: t(0),
    to: t(40),
    min: 3,
    max: 10,
    avg: 6,
    median: 5,
    variance: 13,
    stdDev: Math.sqrt(13),
    first: 3,
    last: 10,
    sum: 18,
    range: 7,
    count: 4,
    numGood: 3,
    numBad: 1,
    timeAvg: 5.75,
  })
})

test('TIMEAVG of a sum with a stepped input switches without a ramp', async () => {
  // L alone 4.75, S alone 4.75
  const { timeAvg } = await one('calc/ADD(local/L, local/S)', 0, 40, { aggregates: ['TIMEAVG'] })
  assert.ok(Math.abs(timeAvg - 9.5) < 1e-12, String(timeAvg))
})

test('aggregates of constants: no raw points, TIMEAVG the constant', async () => {
  same(await one('constants/5', 0, 40), {
    ...NULLS,
    from: t(0),
    to: t(40),
    count: 0,
    numGood: 0,
    numBad: 0,
    timeAvg: 5,
  })
})

test('aggregates in another zone show its offsets; in columns they are one object of what was asked for', async () => {
  const { body } = await multi({
    now: NOW,
    timeZone: 'Europe/Oslo',
    requests: {
      a: {
        type: 'AGGREGATED_POINTS',
        tag: 'local/L',
        details: { from: t(0), to: t(40), aggregates: ['SUM'] },
      },
    },
  })
  same(body.results.a.aggregates[0], {
    ...NULLS,
    from: '2026-01-01T01:00:00.000+01:00',
    to: '2026-01-01T01:40:00.000+01:00',
    sum: 15,
  })
  const columns = await multi({
    now: NOW,
    format: 'columns',
    requests: {
      a: {
        type: 'MULTIPLE_AGGREGATED_POINTS',
        tag: 'local/L',
        details: { from: t(0), to: t(40), count: 2, aggregates: ['SUM', 'VAR', 'MaxTime', 'WORSTSTATUS'] },
      },
    },
  })
  assert.deepEqual(columns.body.results.a.aggregates, {
    from: [Date.parse(t(0)), Date.parse(t(20))],
    to: [Date.parse(t(20)), Date.parse(t(40))],
    unit: 'ms',
    variance: [2, 0],
    var: [2, 0],
    sum: [6, 9],
    maxTime: [Date.parse(t(10)), Date.parse(t(30))],
    worstStatus: ['OK', 'BAD'],
  })
})

test('TOTAL needs the time unit of the rate, and without TOTAL that is said to mean nothing', async () => {
  const range = { from: t(0), to: t(40) }
  const details = { ...range, aggregates: ['TOTAL'] }
  assert.match(
    await refusal('AGGREGATED_POINTS', 'local/L', details),
    /^The details of AGGREGATED_POINTS need per /,
  )
  for (const per of ['1mo', '1y', '', 'hour', true]) {
    assert.match(await refusal('AGGREGATED_POINTS', 'local/L', { ...details, per }), /^Invalid per/)
  }
  const { total } = await one('local/L', 0, 40, { aggregates: ['total'], per: '1min' })
  assert.ok(Math.abs(total - 190) < 1e-9, String(total))
  const { body } = await multi({
    now: NOW,
    requests: { a: { type: 'AGGREGATED_POINTS', tag: 'local/L', details: { ...range, per: '1h' } } },
  })
  assert.deepEqual(body.warnings, [
    'The field per in the details of AGGREGATED_POINTS was ignored, since it is the time unit of TOTAL, which is not asked for',
  ])
  assert.equal('total' in body.results.a.aggregates[0], false)
})

test('large means keep their digits: variance is not computed by cancellation', async () => {
  await write({
    'local/BIG': [
      [t(0), 1e9 + 4],
      [t(1), 1e9 + 7],
      [t(2), 1e9 + 13],
      [t(3), 1e9 + 16],
    ],
  })
  const { variance, avg } = await one('local/BIG', 0, 10)
  assert.ok(Math.abs(variance - 30) < 1e-6, String(variance))
  assert.equal(avg, 1e9 + 10)
})

test('what is too large for a number is null with the rest intact', async () => {
  await write({
    'local/HUGE': [
      [t(0), 1.7e308],
      [t(1), 1.7e308],
      [t(2), -1.7e308],
    ],
  })
  const found = await one('local/HUGE', 0, 2)
  assert.equal(found.sum, null)
  assert.equal(found.max, 1.7e308)
  assert.equal(found.numGood, 2)
})

test('HISTORICAL_POINT between far apart values is finite', async () => {
  const { dataPoint } = await read('HISTORICAL_POINT', 'local/HUGE', { at: '2026-01-01T00:01:30Z' })
  assert.ok(Math.abs(dataPoint.value) < 1e293, String(dataPoint.value))
})
