import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PushDownHistorian } from '../../../test/contract/push-down-historian.ts'
import { askBody, askOne, fill, historianOf, type Json, type TestTag } from '../../../test/multi-harness.ts'
import { PUMP } from './page-tags.fixture.ts'

// The examples of docs/multi.md, worked by hand.
const TAGS: Readonly<Record<string, TestTag>> = {
  PUMP,
  LEVEL: {
    points: [
      ['10:00', 0],
      ['10:10', 4],
      ['10:20', -4],
      ['10:30', 0],
      ['10:40', 0],
      ['10:50', 99, 'BAD'],
      ['11:00', 8],
    ],
  },
}

const FROM = '2026-01-15T10:00:00Z'

async function historians() {
  const pushing = new PushDownHistorian('fast')
  await fill(pushing, TAGS)
  return [await historianOf('plant', TAGS), pushing]
}

async function ask(type: string, tag: string, details: object, call: object = {}): Promise<Json> {
  return askOne(await historians(), type, tag, { from: FROM, ...details }, { call })
}

function show({ intervals }: Json): readonly string[] {
  return intervals.map(
    ({ from, to, openStart, openEnd, kind }: Json) =>
      `${from.slice(11, -1)} ${to.slice(11, -1)}${openStart ? ' open start' : ''}${openEnd ? ' open end' : ''}${kind === undefined ? '' : ` ${kind}`}`,
  )
}

test('the intervals in which a stepped tag is not 0, open where they go on beyond the range', async () => {
  assert.deepEqual(show(await ask('INTERVALS', 'plant/PUMP', {})), [
    '10:00:00.000 10:10:00.000 open start',
    '10:12:00.000 10:30:00.000',
    '10:40:00.000 10:41:00.000',
    '11:50:00.000 12:00:00.000 open end',
  ])
})

test('short pauses are merged first, then short intervals are left out', async () => {
  const details = { mergeWithin: '2m', minDuration: '5m' }
  assert.deepEqual(show(await ask('INTERVALS', 'plant/PUMP', details)), [
    '10:00:00.000 10:30:00.000 open start',
    '11:50:00.000 12:00:00.000 open end',
  ])
  assert.deepEqual(show(await ask('INTERVALS', 'plant/PUMP', { ...details, mergeWithin: 'PT10M' })), [
    '10:00:00.000 10:41:00.000 open start',
    '11:50:00.000 12:00:00.000 open end',
  ])
})

test('a linear signal is not 0 but where it stays at 0; a change of sign ends no interval', async () => {
  assert.deepEqual(show(await ask('INTERVALS', 'plant/LEVEL', { to: '2026-01-15T11:00:00Z' })), [
    '10:00:00.000 10:30:00.000',
    '10:40:00.000 11:00:00.000 open end',
  ])
})

test('a comparison is exact at its crossings', async () => {
  const tag = 'calc/THRESHOLD(plant/LEVEL, 2, 1, 0)'
  // 2 is reached at 10:05 upwards, at 10:12:30 downwards, and at 10:45 upwards for good.
  assert.deepEqual(show(await ask('INTERVALS', tag, { to: '2026-01-15T10:50:00Z' })), [
    '10:05:00.000 10:12:30.000',
    '10:45:00.000 10:50:00.000 open end',
  ])
})

test('no value ends an interval, and is no pause', async () => {
  const tag = 'calc/DIV(fast/PUMP, TIME_THRESHOLD(2026-01-15T10:20:00Z, 1, constants/empty))'
  assert.deepEqual(show(await ask('INTERVALS', tag, { mergeWithin: '1h' })), [
    '10:00:00.000 10:20:00.000 open start',
  ])
})

test('constants are on or off for the whole range', async () => {
  assert.deepEqual(show(await ask('INTERVALS', 'constants/5', {})), [
    '10:00:00.000 12:00:00.000 open start open end',
  ])
  assert.deepEqual(show(await ask('INTERVALS', 'constants/0', {})), [])
  assert.deepEqual(show(await ask('INTERVALS', 'constants/empty', {})), [])
})

test('aggregates of another tag are those of each interval', async () => {
  for (const other of ['plant/LEVEL', 'fast/LEVEL', 'calc/ADD(plant/LEVEL, 0)']) {
    const details = { aggregatesOf: other, aggregates: ['MAX', 'COUNT'], maxIntervals: 2 }
    const { intervals } = await ask('INTERVALS', 'plant/PUMP', details)
    const [first, second] = intervals
    assert.equal(first.aggregates.from, first.from)
    assert.equal(first.aggregates.to, first.to)
    assert.deepEqual([first.aggregates.max, first.aggregates.count], [0, 1], other)
    // 10:20 alone: 10:30 is not in [10:12, 10:30).
    assert.deepEqual([second.aggregates.max, second.aggregates.count], [-4, 1], other)
    assert.equal(second.aggregates.min, null)
  }
})

test('the next page goes on exactly', async () => {
  const details = { maxIntervals: 1, aggregatesOf: 'fast/LEVEL', aggregates: ['COUNT'] }
  const whole = await ask('INTERVALS', 'plant/PUMP', { ...details, maxIntervals: 10 })
  const found: Json[] = []
  let cursor: string | null = null
  do {
    const page = await ask('INTERVALS', 'plant/PUMP', cursor === null ? details : { ...details, cursor })
    assert.equal(page.intervals.length, 1)
    found.push(...page.intervals)
    cursor = page.next ?? null
  } while (cursor !== null)
  assert.deepEqual(found, whole.intervals)
})

test('a cursor is of its tag and its type', async () => {
  const { next } = await ask('INTERVALS', 'plant/PUMP', { maxIntervals: 1 })
  assert.match((await ask('INTERVALS', 'fast/PUMP', { cursor: next })).error, /Invalid cursor/)
  assert.match((await ask('GAPS', 'plant/PUMP', { cursor: next })).error, /Invalid cursor/)
  assert.match((await ask('RAW_POINTS', 'plant/PUMP', { cursor: next })).error, /Invalid cursor/)
  assert.match((await ask('INTERVALS', 'plant/PUMP', { cursor: 'made up' })).error, /Invalid cursor/)
})

test('gaps between good points, the ends of the range included', async () => {
  const details = { to: '2026-01-15T11:20:00Z', longerThan: '10m' }
  assert.deepEqual(show(await ask('GAPS', 'plant/LEVEL', details)), [
    '10:40:00.000 11:00:00.000 bad',
    '11:00:00.000 11:20:00.000 missing',
  ])
  const first = await ask('GAPS', 'plant/LEVEL', { ...details, maxIntervals: 1 })
  assert.deepEqual(show(first), ['10:40:00.000 11:00:00.000 bad'])
  const second = await ask('GAPS', 'plant/LEVEL', { ...details, maxIntervals: 1, cursor: first.next })
  assert.deepEqual(show(second), ['11:00:00.000 11:20:00.000 missing'])
  assert.equal(second.next, undefined)
})

test('constants have no gaps', async () => {
  assert.deepEqual(show(await ask('GAPS', 'constants/1', { longerThan: '1s' })), [])
  assert.deepEqual(show(await ask('GAPS', 'calc/ADD(1, constants/empty)', { longerThan: '1s' })), [])
})

test('in columns', async () => {
  const start = Date.parse(FROM)
  const minute = (minutes: number) => start + minutes * 60_000
  const details = { to: '2026-01-15T10:35:00Z', aggregatesOf: 'plant/LEVEL', aggregates: ['COUNT'] }
  const { intervals } = await ask('INTERVALS', 'plant/PUMP', details, { format: 'columns' })
  assert.deepEqual(intervals, {
    from: [minute(0), minute(12)],
    to: [minute(10), minute(30)],
    unit: 'ms',
    openStart: [true, false],
    openEnd: [false, false],
    aggregates: { from: [minute(0), minute(12)], to: [minute(10), minute(30)], unit: 'ms', count: [1, 1] },
  })
  const gaps = await ask(
    'GAPS',
    'plant/LEVEL',
    { longerThan: '15m', to: '2026-01-15T11:00:00Z' },
    { format: 'columns' },
  )
  assert.deepEqual(gaps.intervals, { from: [minute(40)], to: [minute(60)], unit: 'ms', kind: ['bad'] })
})

test('maxIntervals counts as requested points, and intervals with aggregates as windows', async () => {
  const details = { from: FROM, maxIntervals: 7, aggregatesOf: 'fast/LEVEL', aggregates: ['MAX'] }
  const { json } = await askBody(await historians(), {
    explain: true,
    requests: { a: { type: 'INTERVALS', tag: 'plant/PUMP', details } },
  })
  assert.equal(json.explain.requests.a.requestedPoints, 7)
  assert.equal(json.explain.totals.aggregateWindows, 7)
  assert.deepEqual(json.explain.requests.a.tags, ['plant/PUMP', 'fast/LEVEL'])
  assert.deepEqual(json.explain.requests.a.pushDowns, ['aggregates'])
})

test('details that make no sense are refused with what would be right', async () => {
  const refused = async (type: string, details: object, pattern: RegExp) =>
    assert.match((await ask(type, 'plant/PUMP', details)).error, pattern)
  await refused('GAPS', {}, /longerThan/)
  for (const [type, field] of [
    ['GAPS', 'longerThan'],
    ['INTERVALS', 'minDuration'],
    ['INTERVALS', 'mergeWithin'],
  ] as const)
    for (const given of ['1mo', 0, -1, 'soon'])
      await refused(
        type,
        { [field]: given },
        /: a duration above zero of a fixed length such as 90s, 5min or 1d is/,
      )
  const total = { aggregatesOf: 'plant/LEVEL', aggregates: ['TOTAL'] }
  for (const per of ['1mo', 0])
    await refused('INTERVALS', { ...total, per }, /: a time unit such as 1s, 1min, 1h/)
  await refused('INTERVALS', { aggregates: ['MAX'] }, /aggregatesOf/)
  await refused('INTERVALS', { aggregatesOf: 'plant/NONE' }, /plant\/NONE does not exist/)
  await refused('INTERVALS', { aggregatesOf: 'plant/LEVEL', aggregates: ['NONSENSE'] }, /aggregates/)
  await refused('INTERVALS', { maxIntervals: 0 }, /maxIntervals/)
})

test('a call has no more labels of INTERVALS than memory for what is kept of them', async () => {
  const requests = Object.fromEntries(
    Array.from({ length: 26_000 }, (_, i) => [
      `l${i}`,
      {
        type: 'INTERVALS',
        tag: 'plant/PUMP',
        details: { from: FROM, to: '2026-01-15T10:30:00Z', maxIntervals: 1 },
      },
    ]),
  )
  const { json } = await askBody(await historians(), { requests })
  assert.deepEqual(json.results, {})
  assert.equal(json.issues[0].code, 'LIMIT_EVALUATED_VALUES')
})
