// Specification, section 1 (timestamp formats); interface, section 4 (timestamps).
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance } from './service.ts'

const { post, multi, write, read, refusal } = await conformance()
await write({ 'local/A': [['2020-01-01T00:00:00Z', 1]] })

const NOW = '2026-04-22T12:34:56.123456Z'

/** What an input means, as the output of HISTORICAL_POINT says it. */
async function instants(zone: string, now: unknown, cases: readonly (readonly [unknown, string])[]) {
  const requests = Object.fromEntries(
    cases.map(([at], i) => [`r${i}`, { type: 'HISTORICAL_POINT', tag: 'local/A', details: { at } }]),
  )
  const { status, body } = await multi({ now, timeZone: zone, requests })
  assert.equal(status, 200, JSON.stringify(body))
  for (const [i, [input, expected]] of cases.entries()) {
    const got = body.results[`r${i}`]?.dataPoint.timestamp ?? body.errors[`r${i}`]
    assert.equal(got, expected, JSON.stringify(input))
  }
}

/** Texts that are no timestamps. */
async function refused(zone: string, inputs: readonly unknown[]) {
  const requests = Object.fromEntries(
    inputs.map((at, i) => [`r${i}`, { type: 'HISTORICAL_POINT', tag: 'local/A', details: { at } }]),
  )
  const { body } = await multi({ now: NOW, timeZone: zone, requests })
  for (const [i, input] of inputs.entries()) {
    assert.equal(body.results[`r${i}`], undefined, `${JSON.stringify(input)} was taken`)
    assert.match(body.errors[`r${i}`], /Cannot parse type/, JSON.stringify(input))
  }
}

test('ISO 8601 in UTC, with offset and with zone id', () =>
  instants('UTC', NOW, [
    ['2023-09-25T17:29:04.446Z', '2023-09-25T17:29:04.446Z'],
    ['2023-09-25T17:29:04+02:00', '2023-09-25T15:29:04.000Z'],
    ['2023-09-25T17:29:04[Europe/Oslo]', '2023-09-25T15:29:04.000Z'],
    ['2023-09-25T17:29:04-09:30', '2023-09-26T02:59:04.000Z'],
    ['2023-09-25T17:29:04+02', '2023-09-25T15:29:04.000Z'],
    ['2023-09-25T17:29:04+0200', '2023-09-25T15:29:04.000Z'],
    ['2023-09-25T17:29:04+02:00[Europe/Oslo]', '2023-09-25T15:29:04.000Z'],
    ['2023-09-25 17:29:04[Asia/Kolkata]', '2023-09-25T11:59:04.000Z'],
    ['2023-09-25T17:29[America/New_York]', '2023-09-25T21:29:00.000Z'],
  ]))

test('date, or date and time with T or a space, seconds and fraction optional; basic forms, ordinal and week dates', () =>
  instants('Europe/Oslo', NOW, [
    ['2026-04-22', '2026-04-22T00:00:00.000+02:00'],
    ['2026-04-22T23:59', '2026-04-22T23:59:00.000+02:00'],
    ['2026-04-22 23:59:49', '2026-04-22T23:59:49.000+02:00'],
    ['2026-04-22T23:59:49,5', '2026-04-22T23:59:49.500+02:00'],
    ['2026-04-22T23:59:49.1', '2026-04-22T23:59:49.100+02:00'],
    ['2026-04-22T23:59:49.123456789', '2026-04-22T23:59:49.123456+02:00'],
    ['2026-04-22T23:59:49.999999999', '2026-04-22T23:59:49.999999+02:00'],
    ['20260422T235949Z', '2026-04-23T01:59:49.000+02:00'],
    ['20260422T235949', '2026-04-22T23:59:49.000+02:00'],
    ['20260422T2359', '2026-04-22T23:59:00.000+02:00'],
    ['2026-112', '2026-04-22T00:00:00.000+02:00'],
    ['2026-112T10:00:00Z', '2026-04-22T12:00:00.000+02:00'],
    ['2026-W17-3', '2026-04-22T00:00:00.000+02:00'],
    ['2026-W17-3T10:00', '2026-04-22T10:00:00.000+02:00'],
    ['2026-01-22', '2026-01-22T00:00:00.000+01:00'],
  ]))

test('Without any zone the call’s timeZone applies; the default is the zone of the instance', async () => {
  await instants('Asia/Kathmandu', NOW, [['2026-04-22T10:00', '2026-04-22T10:00:00.000+05:45']])
  const point = await read('HISTORICAL_POINT', 'local/A', { at: '2026-04-22T10:00' })
  assert.equal(point.dataPoint.timestamp, '2026-04-22T10:00:00.000Z')
})

test('Epoch: an absolute value below 100,000,000,000 is seconds (a fraction is kept), otherwise milliseconds', () =>
  instants('UTC', NOW, [
    [0, '1970-01-01T00:00:00.000Z'],
    [1695655744, '2023-09-25T15:29:04.000Z'],
    [1695655744446, '2023-09-25T15:29:04.446Z'],
    [1695655744.446, '2023-09-25T15:29:04.446Z'],
    [1695655744.44662, '2023-09-25T15:29:04.446620Z'],
    [1695655744446.621, '2023-09-25T15:29:04.446621Z'],
    [-1, '1969-12-31T23:59:59.000Z'],
    [-0.000001, '1969-12-31T23:59:59.999999Z'],
    [7258118399, '2199-12-31T23:59:59.000Z'],
    [100000000000, '1973-03-03T09:46:40.000Z'],
    [-100000000000, '1966-10-31T14:13:20.000Z'],
    [-8520336000, '1700-01-01T00:00:00.000Z'],
    ['1695655744', '2023-09-25T15:29:04.000Z'],
    ['1695655744446', '2023-09-25T15:29:04.446Z'],
    ['+1695655744', '2023-09-25T15:29:04.000Z'],
    ['-1.5', '1969-12-31T23:59:58.500Z'],
    ['1695655744.446620', '2023-09-25T15:29:04.446620Z'],
    ['20260422', '1970-08-23T11:53:42.000Z'],
  ]))

test('a string of digits alone is always an epoch, never a basic date', () =>
  instants('UTC', NOW, [['2026112', '1970-01-24T10:48:32.000Z']]))

test('a JSON number is rounded to the nearest microsecond of its exact decimal value', () =>
  instants('UTC', NOW, [
    [1.0000005, '1970-01-01T00:00:01.000001Z'],
    [1.0000004, '1970-01-01T00:00:01.000Z'],
    [1582196580.100001, '2020-02-20T11:03:00.100001Z'],
    [4102444799.999999, '2099-12-31T23:59:59.999999Z'],
    [4102444799.123457, '2099-12-31T23:59:59.123457Z'],
    [-2208988800.000001, '1899-12-31T23:59:59.999999Z'],
    [7258118399999.999, '2199-12-31T23:59:59.999999Z'],
  ]))

test('digits of a text after the sixth are cut, also in an epoch', () =>
  instants('UTC', NOW, [
    ['1695655744.4466209', '2023-09-25T15:29:04.446620Z'],
    ['2026-04-22T00:00:00.0000009Z', '2026-04-22T00:00:00.000Z'],
  ]))

test('Accepted from 1700-01-01T00:00:00Z up to but not including 2200-01-01T00:00:00Z', async () => {
  await instants('UTC', NOW, [
    ['1700-01-01T00:00:00Z', '1700-01-01T00:00:00.000Z'],
    ['2199-12-31T23:59:59.999999Z', '2199-12-31T23:59:59.999999Z'],
  ])
  await refused('UTC', [
    '1699-12-31T23:59:59.999999Z',
    '2200-01-01T00:00:00Z',
    '2200-01-01',
    '9999-01-01',
    7258118400,
    7258118400000,
    -8520336001,
    1e300,
    1e18,
    '500 years ago',
    'in 1000 years',
    'in 99999999999999999999 days',
  ])
})

test('Relative, case-insensitive, in the call’s zone and against the call’s now: days', () =>
  instants('Europe/Oslo', '2026-04-22T12:34:56.123456Z', [
    ['now', '2026-04-22T14:34:56.123456+02:00'],
    ['NOW', '2026-04-22T14:34:56.123456+02:00'],
    ['today', '2026-04-22T00:00:00.000+02:00'],
    ['Yesterday', '2026-04-21T00:00:00.000+02:00'],
    ['tomorrow', '2026-04-23T00:00:00.000+02:00'],
    ['today at 06:30', '2026-04-22T06:30:00.000+02:00'],
    ['yesterday at 06:30:15', '2026-04-21T06:30:15.000+02:00'],
    ['today at midnight', '2026-04-22T00:00:00.000+02:00'],
    ['tomorrow at noon', '2026-04-23T12:00:00.000+02:00'],
    ['yesterday at the same time', '2026-04-21T14:34:56.123456+02:00'],
    ['  yesterday   at  noon ', '2026-04-21T12:00:00.000+02:00'],
  ]))

test('<n> <unit> ago, in <n> <unit>, several joined by and or a comma, a/an for 1, each followed by at ...', () =>
  instants('Europe/Oslo', '2026-04-22T12:34:56.123456Z', [
    ['3 hours ago', '2026-04-22T11:34:56.123456+02:00'],
    ['2 days ago at 00:00', '2026-04-20T00:00:00.000+02:00'],
    ['2h ago', '2026-04-22T12:34:56.123456+02:00'],
    ['an hour ago', '2026-04-22T13:34:56.123456+02:00'],
    ['a day ago', '2026-04-21T14:34:56.123456+02:00'],
    ['in 2 hours', '2026-04-22T16:34:56.123456+02:00'],
    ['in a week', '2026-04-29T14:34:56.123456+02:00'],
    ['1 day and 2 hours ago', '2026-04-21T12:34:56.123456+02:00'],
    ['1 day, 2 hours and 4 minutes ago', '2026-04-21T12:30:56.123456+02:00'],
    ['in 1 month and 1 day at noon', '2026-05-23T12:00:00.000+02:00'],
    ['3 days ago at the same time', '2026-04-19T14:34:56.123456+02:00'],
    ['1 millisecond ago', '2026-04-22T14:34:56.122456+02:00'],
    ['500 milliseconds ago', '2026-04-22T14:34:55.623456+02:00'],
    ['1 second ago', '2026-04-22T14:34:55.123456+02:00'],
    ['90 minutes ago', '2026-04-22T13:04:56.123456+02:00'],
    ['1 month ago', '2026-03-22T14:34:56.123456+01:00'],
    ['2 quarters ago', '2025-10-22T14:34:56.123456+02:00'],
    ['1 year ago', '2025-04-22T14:34:56.123456+02:00'],
    ['1w ago', '2026-04-15T14:34:56.123456+02:00'],
    ['1mo ago', '2026-03-22T14:34:56.123456+01:00'],
    ['1y ago', '2025-04-22T14:34:56.123456+02:00'],
    ['10m ago', '2026-04-22T14:24:56.123456+02:00'],
    ['10s ago', '2026-04-22T14:34:46.123456+02:00'],
  ]))

test('first moment of <day> and last moment of <day> (its last millisecond)', () =>
  instants('Europe/Oslo', NOW, [
    ['first moment of today', '2026-04-22T00:00:00.000+02:00'],
    ['last moment of today', '2026-04-22T23:59:59.999+02:00'],
    ['first moment of yesterday', '2026-04-21T00:00:00.000+02:00'],
    ['last moment of yesterday', '2026-04-21T23:59:59.999+02:00'],
    ['last moment of tomorrow', '2026-04-23T23:59:59.999+02:00'],
    ['first moment of 3 days ago', '2026-04-19T00:00:00.000+02:00'],
    ['last moment of 3 days ago', '2026-04-19T23:59:59.999+02:00'],
  ]))

test('begin of/start of/end of [this|last|next] hour, day, week, month, quarter, year', () =>
  instants('Europe/Oslo', NOW, [
    ['begin of hour', '2026-04-22T14:00:00.000+02:00'],
    ['end of hour', '2026-04-22T14:59:59.999+02:00'],
    ['start of this day', '2026-04-22T00:00:00.000+02:00'],
    ['end of last day', '2026-04-21T23:59:59.999+02:00'],
    ['begin of week', '2026-04-20T00:00:00.000+02:00'],
    ['end of next week', '2026-05-03T23:59:59.999+02:00'],
    ['begin of last month', '2026-03-01T00:00:00.000+01:00'],
    ['end of last month', '2026-03-31T23:59:59.999+02:00'],
    ['start of quarter', '2026-04-01T00:00:00.000+02:00'],
    ['end of quarter', '2026-06-30T23:59:59.999+02:00'],
    ['begin of next quarter', '2026-07-01T00:00:00.000+02:00'],
    ['BEGIN OF YEAR', '2026-01-01T00:00:00.000+01:00'],
    ['end of next year', '2027-12-31T23:59:59.999+01:00'],
    ['begin of last hour', '2026-04-22T13:00:00.000+02:00'],
  ]))

test('weekdays of this week, last and next, with or without a time of the day', () =>
  instants('Europe/Oslo', NOW, [
    // 22 April 2026 is a Wednesday.
    ['monday', '2026-04-20T00:00:00.000+02:00'],
    ['Sunday at 06:00', '2026-04-26T06:00:00.000+02:00'],
    ['last monday', '2026-04-20T00:00:00.000+02:00'],
    ['last wednesday at noon', '2026-04-15T12:00:00.000+02:00'],
    ['next wednesday', '2026-04-29T00:00:00.000+02:00'],
    ['next thursday at 22:00:30', '2026-04-23T22:00:30.000+02:00'],
  ]))

test('day-month-year with a name of the month, and dd.mm.yyyy[ hh:mm[:ss]]', () =>
  instants('Europe/Oslo', NOW, [
    ['1-Jan-2022 05:00:00', '2022-01-01T05:00:00.000+01:00'],
    ['1 January 2022', '2022-01-01T00:00:00.000+01:00'],
    ['Jan 1, 2022 05:00', '2022-01-01T05:00:00.000+01:00'],
    ['2022-jan-01', '2022-01-01T00:00:00.000+01:00'],
    ['22.04.2026', '2026-04-22T00:00:00.000+02:00'],
    ['22.04.2026 05:30', '2026-04-22T05:30:00.000+02:00'],
    ['22.04.2026 05:30:59', '2026-04-22T05:30:59.000+02:00'],
  ]))

test('a time that cannot be read is answered with two accepted forms, on write/points in issues', async () => {
  const { body } = await multi({
    now: NOW,
    requests: { a: { type: 'HISTORICAL_POINT', tag: 'local/A', details: { at: '22/4/2026' } } },
  })
  assert.match(body.errors.a, /a time such as 2026-04-22 or 22\.04\.2026 is expected$/)
  assert.deepEqual(body.issues[0].suggestions, ['2026-04-22', '22.04.2026'])
  const written = await post('/historian/write/points', {
    points: { 'local/A': [{ timestamp: 'yesteday', value: 1 }] },
  })
  assert.deepEqual(written.body.errors, ['Error: Cannot parse type yesteday as time input for tag local/A'])
  assert.deepEqual(written.body.issues[0].suggestions, ['yesterday', 'yesterday at 06:00'])
})

test('the Grafana dialect: units are case-sensitive, m minute and M month; /d always rounds down', () =>
  instants('Europe/Oslo', NOW, [
    ['now-6h', '2026-04-22T08:34:56.123456+02:00'],
    ['now-1d/d', '2026-04-21T00:00:00.000+02:00'],
    ['now/d', '2026-04-22T00:00:00.000+02:00'],
    ['now+1h', '2026-04-22T15:34:56.123456+02:00'],
    ['now-5m', '2026-04-22T14:29:56.123456+02:00'],
    ['now-1M', '2026-03-22T14:34:56.123456+01:00'],
    ['now-1M/M', '2026-03-01T00:00:00.000+01:00'],
    ['now-1y', '2025-04-22T14:34:56.123456+02:00'],
    ['now-1w/w', '2026-04-13T00:00:00.000+02:00'],
    ['now/h', '2026-04-22T14:00:00.000+02:00'],
    ['now-30s', '2026-04-22T14:34:26.123456+02:00'],
  ]))

test('the PI dialect', () =>
  instants('Europe/Oslo', NOW, [
    ['*', '2026-04-22T14:34:56.123456+02:00'],
    ['*-8h', '2026-04-22T06:34:56.123456+02:00'],
    ['t', '2026-04-22T00:00:00.000+02:00'],
    ['y', '2026-04-21T00:00:00.000+02:00'],
    ['T', '2026-04-22T00:00:00.000+02:00'],
    ['*-30m', '2026-04-22T14:04:56.123456+02:00'],
    ['*-1d', '2026-04-21T14:34:56.123456+02:00'],
    ['t+8h', '2026-04-22T08:00:00.000+02:00'],
    ['y-1d', '2026-04-20T00:00:00.000+02:00'],
  ]))

test('In a DST gap the time moves forward by the gap, in an overlap the first occurrence is meant', async () => {
  await instants('Europe/Oslo', NOW, [
    ['2026-03-29T02:30:00', '2026-03-29T03:30:00.000+02:00'],
    ['2026-03-29T02:00:00', '2026-03-29T03:00:00.000+02:00'],
    ['2026-10-25T02:30:00', '2026-10-25T02:30:00.000+02:00'],
    ['2026-10-25T02:30:00+01:00', '2026-10-25T02:30:00.000+01:00'],
    ['2026-10-25T02:30:00+01:00[Europe/Oslo]', '2026-10-25T02:30:00.000+01:00'],
    ['2026-10-25T02:30:00+02:00[Europe/Oslo]', '2026-10-25T02:30:00.000+02:00'],
    ['2026-03-29T02:30[Europe/Oslo]', '2026-03-29T03:30:00.000+02:00'],
  ])
  await instants('Australia/Lord_Howe', NOW, [
    ['2026-10-04T02:15:00', '2026-10-04T02:45:00.000+11:00'],
    ['2026-04-05T01:45:00', '2026-04-05T01:45:00.000+11:00'],
  ])
})

test('Days and longer are calendar steps (a day across a DST change keeps the wall clock), hours and shorter are exact', () =>
  instants('Europe/Oslo', '2026-03-29T12:00:00+02:00', [
    ['1 day ago', '2026-03-28T12:00:00.000+01:00'],
    ['24 hours ago', '2026-03-28T11:00:00.000+01:00'],
    ['now-1d', '2026-03-28T12:00:00.000+01:00'],
    ['now-24h', '2026-03-28T11:00:00.000+01:00'],
    ['*-1d', '2026-03-28T12:00:00.000+01:00'],
    ['today', '2026-03-29T00:00:00.000+01:00'],
    ['end of day', '2026-03-29T23:59:59.999+02:00'],
    ['yesterday at the same time', '2026-03-28T12:00:00.000+01:00'],
  ]))

test('a day whose midnight does not exist begins with its first moment', () =>
  instants('America/Sao_Paulo', '2018-11-04T12:00:00Z', [
    ['today', '2018-11-04T01:00:00.000-02:00'],
    ['first moment of today', '2018-11-04T01:00:00.000-02:00'],
    ['last moment of yesterday', '2018-11-03T23:59:59.999-03:00'],
  ]))

test('month steps are cut to the month’s last day', () =>
  instants('UTC', '2026-03-31T08:00:00Z', [
    ['1 month ago', '2026-02-28T08:00:00.000Z'],
    ['in 1 month', '2026-04-30T08:00:00.000Z'],
    ['1 month and 1 day ago', '2026-02-27T08:00:00.000Z'],
  ]))

test('an offset that contradicts the zone id beside it is refused', () =>
  refused('UTC', ['2026-04-22T12:00:00+01:00[Europe/Oslo]', '2026-10-25T02:30:00+03:00[Europe/Oslo]']))

test('Anything else is an error that names the input', async () => {
  await refused('UTC', [
    '',
    ' ',
    'never',
    '2026-13-01',
    '2026-02-30',
    '2026-04-22T25:00',
    '2026-04-22T10:61',
    '2026-04-22T10:00[Mars/Olympus]',
    '2026-366',
    '2026-W54-1',
    '2026-W17-8',
    '22/04/2026',
    '04/22/2026',
    'today at 25:00',
    'hours ago',
    'two hours',
    'now-',
    'now-1x',
    'now-1H',
    'NaN',
    'Infinity',
    '1e9',
    '--1',
    '0x10',
    'null',
    '-2026-04-22',
    `${'1 hour and '.repeat(5000)}1 hour ago`,
    '٢٠٢٦-٠٤-٢٢',
    true,
    [],
    {},
    [1],
    { at: 1 },
  ])
  assert.match(
    await refusal('HISTORICAL_POINT', 'local/A', { at: 'next blue moon' }),
    /^(Error: )?Cannot parse type next blue moon as time input/,
  )
})

test('for a point: Error: Cannot parse type <input> as time input for tag <historian_name>/<tag_name>', async () => {
  const inputs: [unknown, string][] = [
    ['never', 'never'],
    [true, 'true'],
    [{ a: 1 }, '{"a":1}'],
    [[1, 'x'], '[1,"x"]'],
    [null, 'null'],
    [1e300, '1e+300'],
    ['', ''],
  ]
  const { status, body } = await post('/historian/write/points', {
    points: { 'local/A': inputs.map(([timestamp]) => ({ timestamp, value: 1 })) },
  })
  assert.equal(status, 400)
  assert.deepEqual(
    body.errors,
    inputs.map(([, shown]) => `Error: Cannot parse type ${shown} as time input for tag local/A`),
  )
})

test('Output: at least three fraction digits (six when there are microseconds) and the zone’s offset at that instant', async () => {
  await instants('Europe/London', NOW, [
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000+00:00'],
    ['2026-07-01T00:00:00Z', '2026-07-01T01:00:00.000+01:00'],
    ['2026-07-01T00:00:00.000100Z', '2026-07-01T01:00:00.000100+01:00'],
    ['2026-07-01T00:00:00.1Z', '2026-07-01T01:00:00.100+01:00'],
  ])
  await instants('Europe/Oslo', NOW, [['2023-09-25T15:29:04.446Z', '2023-09-25T17:29:04.446+02:00']])
  await instants('America/St_Johns', NOW, [['2026-01-01T00:00:00Z', '2025-12-31T20:30:00.000-03:30']])
  await instants('Africa/Abidjan', NOW, [['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000+00:00']])
})

test('now of the answer is the reference time used, ISO 8601 with fractional seconds and zone offset', async () => {
  const fixed = await multi({ now: '2023-09-25T15:29:04.446Z', timeZone: 'Europe/Oslo', requests: {} })
  assert.equal(fixed.body.now, '2023-09-25T17:29:04.446+02:00')
  const before = Date.now()
  const free = await multi({ requests: {} })
  assert.match(free.body.now, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/)
  assert.ok(Date.parse(free.body.now) >= before - 1 && Date.parse(free.body.now) <= Date.now() + 1)
  const relative = await multi({ now: 'today at noon', timeZone: 'Europe/Oslo', requests: {} })
  assert.match(relative.body.now, /T12:00:00\.000\+0[12]:00$/)
})

test('now and timeZone are taken in every form; a wrong one is 400 for the whole call', async () => {
  for (const call of [
    { now: 'nonsense' },
    { now: {} },
    { timeZone: 'Mars/Olympus' },
    { timeZone: 5 },
    { timeZone: '' },
  ]) {
    const { status, body } = await multi({ ...call, requests: {} })
    assert.equal(status, 400, JSON.stringify(call))
    assert.deepEqual(body.errors, {})
    assert.ok(body.message.length > 10)
  }
})

test('A null where a timestamp, timeZone, details or status is optional is the same as leaving it out', async () => {
  const { status, body } = await multi({
    now: null,
    timeZone: null,
    requests: {
      a: { type: 'CURRENT_POINT', tag: 'local/A', details: null },
      b: { type: 'CURRENT_POINT', tag: 'local/A', details: { now: null } },
    },
  })
  assert.equal(status, 200)
  assert.equal(body.results.a.dataPoint.value, 1)
  assert.equal(body.results.b.dataPoint.value, 1)
  assert.equal('warnings' in body, false)
  const written = await post('/historian/write/points', {
    now: null,
    timeZone: null,
    points: { 'local/A': [{ timestamp: 5, value: 1, status: null }] },
  })
  assert.equal(written.status, 200)
})

test('IANA ids are taken without regard to case, and links too', async () => {
  for (const timeZone of [
    'europe/oslo',
    'EUROPE/OSLO',
    'Europe/Oslo',
    'Asia/Calcutta',
    'Etc/GMT+3',
    'UTC',
    'GMT',
  ]) {
    assert.equal((await multi({ timeZone, requests: {} })).status, 200, timeZone)
  }
})

test('write/points takes now and timeZone as in multi', async () => {
  const { status } = await post('/historian/write/points', {
    now: '2026-04-22T12:00:00Z',
    timeZone: 'Europe/Oslo',
    createTags: true,
    points: {
      'local/REL': [
        { timestamp: '2 hours ago', value: 1 },
        { timestamp: '2026-01-01', value: 2 },
        { timestamp: 'yesterday at 06:00', value: 3 },
      ],
    },
  })
  assert.equal(status, 200)
  const { dataPoints } = await read('RAW_POINTS', 'local/REL', { from: '2025-01-01', to: '2027-01-01' })
  assert.deepEqual(
    dataPoints.map((point: { timestamp: string }) => point.timestamp),
    ['2025-12-31T23:00:00.000Z', '2026-04-21T04:00:00.000Z', '2026-04-22T10:00:00.000Z'],
  )
})
