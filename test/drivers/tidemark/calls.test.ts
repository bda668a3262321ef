import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { HistorianRegistry } from '../../../src/historian/registry.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { runMulti } from '../../../src/multi/run.ts'
import { TimeSlice } from '../../../src/scheduling/time-slice.ts'
import { instantFromUs } from '../../../src/time/instant.ts'
import { UTC } from '../../../src/time/zone.ts'
import { ramp } from '../../contract/points.ts'
import { LIMITS } from '../../multi-harness.ts'
import { configFor, connect, startUpstream } from './upstream.ts'

const context = { signal: new AbortController().signal }
const NOW = instantFromUs(10_000_000_000)
const TAGS = Array.from({ length: 100 }, (_, index) => `T${index}`)

const upstream = await startUpstream('plant')
const { historian, meter } = await connect(configFor(upstream, 'plant', { metadataSeconds: 600 }))
after(() => historian.close())

before(async () => {
  const entries = TAGS.map((tag) => ({ tag, points: ramp(100, 0, 100_000_000) }))
  meter.reset()
  await historian.write(writeBatch(entries, true), context)
  assert.equal(meter.total(), 1, 'a write of 100 tags is one call')
  meter.reset()
  await historian.findTags(TAGS, context)
  assert.equal(meter.total(), 1, 'a look at 100 tags is one call')
})

/** How many calls a multi call of one request for each tag costs. */
async function callsFor(tags: readonly string[], type: string, details: object, wrap = (tag: string) => tag) {
  const requests = Object.fromEntries(tags.map((tag) => [tag, { type, tag: wrap(`site/${tag}`), details }]))
  meter.reset()
  const answer = await runMulti(
    { requests },
    {
      historians: new HistorianRegistry([historian]),
      limits: LIMITS,
      defaultZone: UTC,
      defaultHistorian: null,
      now: NOW,
      signal: context.signal,
    },
  )
  assert.equal(
    answer.invalidLabels,
    0,
    Buffer.concat([...answer.chunks()])
      .toString()
      .slice(0, 500),
  )
  return meter.counts().map(({ kind, sent }) => `${sent} ${kind}`)
}

const range = { from: 0, to: 10_000 }

describe('a multi call is one call to the other instance', () => {
  const cases: readonly (readonly [
    title: string,
    type: string,
    details: object,
    wrap?: (tag: string) => string,
  ])[] = [
    ['100 current values', 'CURRENT_POINT', {}],
    ['100 values of the past', 'HISTORICAL_POINT', { at: 55 }],
    ['100 raw ranges', 'RAW_POINTS', { ...range, maxPoints: 500 }],
    ['100 grids', 'INTERPOLATED_POINTS', { ...range, count: 333 }],
    ['100 rows of windows', 'MULTIPLE_AGGREGATED_POINTS', { ...range, count: 24 }],
    [
      '100 further aggregates',
      'AGGREGATED_POINTS',
      { ...range, aggregates: ['TOTAL', 'INCREASE'], per: '1h' },
    ],
    ['100 lists of gaps', 'GAPS', { ...range, longerThan: '1s', maxIntervals: 5 }],
    ['100 totals', 'CURRENT_POINT', {}, (tag) => `calc/TOTALISE(${tag}, DAY, BEGIN_DAY, 1h)`],
  ]
  for (const [title, type, details, wrap] of cases) {
    test(title, async () => assert.deepEqual(await callsFor(TAGS, type, details, wrap), ['1 read']))
    test(`${title}, while other calls use the time up`, async (t) => {
      t.mock.method(TimeSlice.shared, 'isSpent', () => true)
      assert.deepEqual(await callsFor(TAGS, type, details, wrap), ['1 read'])
    })
  }
})

test('charts are two calls: one for the points of columns, and one for the values at the ends of the range', async () => {
  assert.deepEqual(await callsFor(TAGS, 'PLOT', { from: 0, to: 10_000, width: 50 }), ['2 read'])
})

test('lists of intervals are four: the load there, good points beside both ends, and the points that decide', async () => {
  const wrap = (tag: string) => `calc/THRESHOLD(${tag}, 50, 1, 0)`
  const found = await callsFor(TAGS, 'INTERVALS', { ...range, maxIntervals: 5 }, wrap)
  assert.deepEqual(found, ['1 estimate', '3 read'])
})

test('charts with maxGap are four: they also take their points without gaps, and those beside the range', async () => {
  const details = { from: 0, to: 10_000, width: 50, maxGap: '10s' }
  assert.deepEqual(await callsFor(TAGS, 'PLOT', details), ['4 read'])
})

test('tags that nobody asked for lately are looked up with one call more', async () => {
  await historian.write(writeBatch([], true), context)
  assert.deepEqual(await callsFor(TAGS, 'CURRENT_POINT', {}), ['1 metadata', '1 read'])
})

test('points that are more than one call may ask for come by pages', async () => {
  const points = ramp(250_000, 0, 1_000)
  await historian.write(writeBatch([{ tag: 'LONG', points }], true), context)
  meter.reset()
  const query = { tag: 'LONG', from: instantFromUs(0), to: NOW, order: 'asc', limit: 1_000_000 } as const
  const [range] = await historian.readRanges([query], context)
  assert.deepEqual(range!.points.times, points.times)
  assert.deepEqual(meter.counts(), [{ kind: 'read', sent: 3, failed: 0 }])
})
