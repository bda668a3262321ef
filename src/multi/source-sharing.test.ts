import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, historianOf, type Json, type TestPoint, timeOf } from '../../test/multi-harness.ts'
import { pointRead } from '../calc/leaves/stored-cost.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { HistorianView } from '../historian/registry.ts'
import { type Instant, instantFromUs, US_PER_SECOND } from '../time/instant.ts'
import { PlannedReads } from './reads.ts'
import { CallSource, KEPT_READS } from './source.ts'

let plant: MemoryHistorian
before(async () => {
  const points: TestPoint[] = Array.from({ length: 600 }, (_, i) => [
    `${String(Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}`,
    i,
  ])
  plant = await historianOf('plant', { FLOW: { points }, LEVEL: { points: [['00:30', 1]] } })
})

/** The points that a call planned and those that it fetched. */
async function costOf(requests: Json): Promise<{ planned: number; fetched: number }> {
  const { json } = await askBody([plant], { requests, explain: true })
  const { answer, json: answered } = await askBody([plant], { requests })
  assert.deepEqual(answered.errors, {})
  return { planned: json.explain.totals.load, fetched: answer.statistics.points }
}

describe('reads are shared by what they ask for', () => {
  test('ten equal labels of a shifted tag fetch what one of them plans', async () => {
    const details = { from: '2026-01-16T01:00:00Z', to: '2026-01-16T09:00:00Z', count: 100 }
    const label = { type: 'INTERPOLATED_POINTS', tag: 'calc/TIMESHIFT(plant/FLOW, -1d)', details }
    const requests = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`l${i}`, label]))
    const { planned, fetched } = await costOf(requests)
    assert.equal(planned, 200)
    assert.ok(fetched <= planned, `${fetched} fetched, ${planned} planned`)
  })

  test('pages that overlap and are on their way together are planned with the points that each fetches', async () => {
    const page = (from: string, to: string) => ({
      type: 'RAW_POINTS',
      tag: 'plant/FLOW',
      details: { from: timeOf(from) / 1000, to: timeOf(to) / 1000 },
    })
    const whole = { from: timeOf('00:00') / 1000, to: timeOf('10:00') / 1000, aggregates: ['STDDEV'] }
    const requests = {
      a: page('01:00', '04:00'),
      b: page('02:00', '05:00'),
      c: page('03:00', '06:00'),
      all: { type: 'AGGREGATED_POINTS', tag: 'plant/FLOW', details: whole },
    }
    const { planned, fetched } = await costOf(requests)
    assert.ok(fetched <= planned && planned <= 1.2 * fetched, `${fetched} fetched, ${planned} planned`)
  })

  test('a range of few points within another one is planned with these, which are fetched again', async () => {
    const over = (from: string, to: string, type: string) => ({
      type: 'AGGREGATED_POINTS',
      tag: 'plant/FLOW',
      details: { from: timeOf(from) / 1000, to: timeOf(to) / 1000, aggregates: [type] },
    })
    const requests = { few: over('03:00', '03:03', 'MEDIAN'), all: over('00:00', '05:00', 'STDDEV') }
    assert.deepEqual(await costOf(requests), { planned: 303, fetched: 303 })
  })

  test('HISTORICAL_POINT and POINTINTIME at the same instant are one read', async () => {
    const details = { at: '2026-01-15T06:00:00Z' }
    const requests = {
      plain: { type: 'HISTORICAL_POINT', tag: 'plant/FLOW', details },
      fixed: { type: 'HISTORICAL_POINT', tag: 'calc/POINTINTIME(plant/FLOW, -6h)', details },
    }
    assert.deepEqual(await costOf(requests), { planned: 2, fetched: 2 })
  })
})

describe('bounding values at times that no two labels share', () => {
  const tag = { historian: 'plant', tag: 'FLOW', number: 0, stepped: false }
  const instants = Array.from({ length: 100 }, (_, i) => timeOf('01:00') + i * US_PER_SECOND)

  /** What the reads of all instants settle as, of a historian that waits for a function before each answer. */
  function readingBy(answer: () => Promise<void>) {
    const historian = Object.create(plant, {
      readBoundingValues: {
        value: async (...read: Parameters<MemoryHistorian['readBoundingValues']>) => {
          await answer()
          return plant.readBoundingValues(...read)
        },
      },
    })
    const historians = { find: () => historian } as unknown as HistorianView
    const source = new CallSource(historians, { signal: new AbortController().signal })
    const stored = { ...tag, pushDowns: plant.capabilities }
    return Promise.allSettled(instants.map((at) => source.boundingValues(stored, Float64Array.of(at))))
  }

  test('are read a few at a time', async () => {
    let now = 0
    let most = 0
    const settled = await readingBy(async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
    })
    assert.ok(settled.every(({ status }) => status === 'fulfilled'))
    assert.equal(most, 8)
  })

  test('are not asked for one after the other of a historian that cannot be reached', async () => {
    const gone = new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'plant', reason: 'no answer' })
    let calls = 0
    const settled = await readingBy(async () => {
      calls++
      await new Promise((resolve) => setImmediate(resolve))
      throw gone
    })
    assert.ok(settled.every((one) => one.status === 'rejected' && one.reason === gone))
    assert.equal(calls, 8)
  })
})

describe('pages of a call that has fetched very much', () => {
  for (const [title, compared] of [
    ['of points', {}],
    ['of points that decide a comparison', { compared: { thresholds: [300] } }],
  ] as const) {
    test(`${title} leave the cache as soon as they were handed out`, async () => {
      const historians = { find: () => plant } as unknown as HistorianView
      const source = new CallSource(historians, { signal: new AbortController().signal })
      source.statistics.points = 2_000_000
      const pushDowns = { ...plant.capabilities, comparisons: true }
      const tag = { historian: 'plant', tag: 'FLOW', number: 0, stepped: false, pushDowns, ...compared }
      const range = { from: timeOf('01:00'), to: timeOf('02:00'), order: 'asc', limit: 10 } as const
      const [first, beside] = [source.page(tag, range), source.page(tag, range)]
      assert.equal(first, beside)
      await first
      assert.notEqual(source.page(tag, range), first)
    })
  }
})

test('a call of very many reads keeps the first of them, and makes each further one as often as it is counted', async () => {
  const historians = { find: () => plant } as unknown as HistorianView
  const source = new CallSource(historians, { signal: new AbortController().signal })
  const tag = { historian: 'plant', tag: 'LEVEL', number: 0, stepped: false, pushDowns: plant.capabilities }
  const instants = Array.from({ length: KEPT_READS + 2 }, (_, i) =>
    instantFromUs(timeOf('01:00') + i * US_PER_SECOND),
  )
  const again = [...instants.slice(0, 3), ...instants.slice(-2), ...instants.slice(-2)]
  const planned = new PlannedReads()
  for (const at of [...instants, ...again]) planned.add(pointRead(tag, 'before', at))
  assert.equal(planned.areKept, false)
  assert.equal(planned.atMost(), instants.length + 4)

  source.keepsAll = planned.areKept
  const read = (at: Instant) => source.point(tag, 'before', at)
  const points = new Map(await Promise.all(instants.map(async (at) => [at, await read(at)] as const)))
  for (const at of again) assert.deepEqual(await read(at), points.get(at))
  assert.equal(source.statistics.points, planned.atMost())
})
