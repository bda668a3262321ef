import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AGGREGATE_NAMES, FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { lowerBound, makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { type SlowRow, slowAggregates, slowTag } from '../../series/slow-aggregates.fixture.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { instantFromUs } from '../../time/instant.ts'
import { isUsable, zoneMapOf } from '../blocks/zone-map.ts'
import { LayeredBlocks } from '../engine/layered-blocks.ts'
import { MemorySource } from '../engine/sources.ts'
import { joinSummaries, summaryOf } from '../parts/part-summary.ts'
import type { ReadPace } from '../pause.ts'
import type { ZoneMapSink } from './point-blocks.ts'
import { readAggregates } from './signal-reads.ts'

/** Aggregates of points that are cut into blocks, chunks and pages anywhere, against loops over microseconds. */

const SPAN = 40
const FURTHER = AGGREGATE_NAMES.filter((name) => !(FIRST_AGGREGATE_NAMES as readonly string[]).includes(name))
const PACE: ReadPace = { isDue: () => false, pause: async () => {} }

/** What is kept of some points: a block's summary, that of a page, that of a chunk, or nothing. */
type Kept = 'block' | 'page' | 'chunk' | 'chunk of a block' | 'nothing'
const kept = fc.constantFrom<Kept>('block', 'block', 'page', 'chunk', 'chunk of a block', 'nothing')

const setting = fc.record({
  rows: fc
    .uniqueArray(fc.tuple(fc.nat(SPAN), fc.constantFrom(0, 0, 0, 1, 2, 2, 5, -3), fc.nat(4)), {
      maxLength: 20,
      selector: ([time]) => time,
    })
    .map((rows) =>
      rows.sort(([a], [b]) => a - b).map(([time, value, bad]): SlowRow => [time, value, bad === 0]),
    ),
  stepped: fc.boolean(),
  now: fc.integer({ min: -3, max: SPAN + 10 }),
  /** 0 for no limit. */
  gap: fc.constantFrom(0, 0, 2, 3, 7),
  pieces: fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), kept), { minLength: 1, maxLength: 6 }),
  names: fc.oneof(fc.constant(FURTHER), fc.subarray([...FURTHER], { minLength: 1, maxLength: 3 })),
  edges: fc
    .uniqueArray(fc.integer({ min: -8, max: SPAN + 12 }), { minLength: 2, maxLength: 6 })
    .map((edges) => edges.sort((a, b) => a - b)),
})

/** Points of one tag in pieces of given lengths, again and again, of each of which something is kept. */
class CutBlocks extends LayeredBlocks {
  readonly #points: PointColumns
  readonly #pieces: readonly (readonly [length: number, kept: Kept])[]
  taken = 0

  constructor(points: PointColumns, pieces: readonly (readonly [number, Kept])[]) {
    super(points.times.length === 0 ? [] : [new MemorySource(points)])
    this.#points = points
    this.#pieces = pieces
  }

  override async eachZoneMap(from: number, to: number, _: ReadPace, sink: ZoneMapSink): Promise<void> {
    const points = this.#points
    const [first, last] = [lowerBound(points.times, from), lowerBound(points.times, to)]
    for (let start = 0, i = 0; start < points.times.length; i++) {
      const [length, keeps] = this.#pieces[i % this.#pieces.length]!
      const end = Math.min(points.times.length, start + length)
      const [begin, stop] = [Math.max(start, first), Math.min(end, last)]
      if (begin < stop) {
        const isWhole = begin === start && stop === end && keeps !== 'nothing'
        const zoneMap = isWhole ? zoneMapOfKind(points, start, end, keeps) : null
        if (zoneMap !== null && isUsable(zoneMap) && sink.takeZoneMap(zoneMap)) this.taken++
        else sink.takePoints(sliceColumns(points, begin, stop))
      }
      start = end
    }
  }
}

function zoneMapOfKind(points: PointColumns, start: number, end: number, kept: Kept): ZoneMap {
  const whole = summaryOf(points, start, end)
  if (kept === 'block') return whole
  if (kept === 'chunk') return zoneMapOf(points, start, end)
  if (kept === 'chunk of a block')
    return { ...zoneMapOf(points, start, end), longestGap: whole.longestGap + 1 }
  const middle = (start + end) >> 1
  if (middle === start) return whole
  return joinSummaries([summaryOf(points, start, middle), summaryOf(points, middle, end)])
}

function columnsOf(rows: readonly SlowRow[]): PointColumns {
  const columns = makeColumns(rows.length)
  rows.forEach(([time, value, bad], i) => {
    columns.times[i] = time
    columns.values[i] = value
    columns.statuses[i] = Number(bad)
  })
  return columns
}

test('aggregates from summaries are those of all points, wherever blocks, gaps and windows are cut', async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(setting, async ({ rows, stepped, now, gap, pieces, names, edges }) => {
      const blocks = new CutBlocks(columnsOf(rows), pieces)
      const shape = { stepped, holdUntil: instantFromUs(now), ...(gap > 0 && { maxGapUs: gap }) }
      const found = await readAggregates(blocks, Float64Array.from(edges), names, shape, PACE)
      taken += blocks.taken
      const slow = slowTag(rows, stepped, now, gap)
      for (let i = 0; i + 1 < edges.length; i++) {
        const [from, to] = [edges[i]!, edges[i + 1]!]
        const expected = slowAggregates(slow, from, to, now)
        for (const name of names) {
          const value = found[name]![i]!
          const wanted = expected[name as keyof typeof expected] ?? Number.NaN
          const isSame = Number.isNaN(wanted) ? Number.isNaN(value) : Math.abs(value - wanted) <= 1e-9
          assert.ok(isSame, `${name} in [${from}, ${to}) is ${value}, not ${wanted}`)
        }
      }
    }),
    { numRuns: 4_000 },
  )
  assert.ok(taken > 1_000, `only ${taken} summaries were taken`)
})
