import { WindowAggregator } from '../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { SignalIntegrator, timeAverages } from '../series/integrate.ts'
import type { Integrals, SignalShape } from '../series/reads.ts'
import { readNeighbours } from './point-reads.ts'
import type { Snapshot } from './snapshot.ts'
import { forEachStretch } from './stretch-reads.ts'
import type { TagBlocks } from './tag-blocks.ts'

/** Aggregates that are computed here; the median needs all values of a window in memory, so the engine bounds it. */
export const STORED_AGGREGATES = [
  'min',
  'max',
  'avg',
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
] as const satisfies readonly AggregateName[]

/**
 * Aggregates over windows that join, from summaries where a stretch lies in one window: memory is that of a block and of the answer.
 * @param edges  n + 1 ascending instants
 */
export async function readAggregates(
  blocks: TagBlocks,
  edges: Float64Array,
  names: readonly AggregateName[],
  shape: SignalShape,
  snapshot: Snapshot,
): Promise<AggregateColumns> {
  const first = edges[0]!
  const last = edges[edges.length - 1]!
  const windows = new WindowAggregator(edges, names)
  const signal = names.includes('timeAvg')
    ? new SignalIntegrator(edges.subarray(0, -1), edges.subarray(1), shape)
    : null
  const beyond = signal === null ? null : await goodBeyond(blocks, first, last, snapshot)
  if (beyond !== null && beyond.beforeTimes[0]! < first) {
    signal!.addPoint(beyond.beforeTimes[0]!, beyond.beforeValues[0]!)
  }
  await forEachStretch(blocks, first, last, snapshot, {
    takeStretch(stretch) {
      if (!windows.takes(stretch.firstTime, stretch.lastTime)) return false
      if (signal !== null && !signal.addStretch(stretch)) return false
      windows.addSummary(stretch, stretch.lastTime)
      return true
    },
    takePoints(points) {
      windows.add(points)
      signal?.add(points)
    },
  })
  if (signal === null) return windows.finish()
  if (!Number.isNaN(beyond!.afterTimes[1]!)) signal.addPoint(beyond!.afterTimes[1]!, beyond!.afterValues[1]!)
  return { ...windows.finish(), timeAvg: timeAverages(signal.finish()) }
}

/** Integrals of the signal over spans: ascending, not overlapping. Stretches between the spans are not read. */
export async function readIntegrals(
  blocks: TagBlocks,
  starts: Float64Array,
  ends: Float64Array,
  shape: SignalShape,
  snapshot: Snapshot,
): Promise<Integrals> {
  const signal = new SignalIntegrator(starts, ends, shape)
  /** Points up to here (excluded) were fed. */
  let fed = Number.NEGATIVE_INFINITY
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!
    const end = ends[i]!
    const beyond = await goodBeyond(blocks, start, end, snapshot)
    const before = beyond.beforeTimes[0]!
    if (before >= fed) {
      signal.addPoint(before, beyond.beforeValues[0]!)
      fed = before + 1
    }
    await forEachStretch(blocks, Math.max(fed, start), end, snapshot, {
      takeStretch: (stretch) => signal.addStretch(stretch),
      takePoints: (points) => signal.add(points),
    })
    fed = Math.max(fed, end)
    const after = beyond.afterTimes[1]!
    if (after >= fed) {
      signal.addPoint(after, beyond.afterValues[1]!)
      fed = after + 1
    }
  }
  return signal.finish()
}

/** The good points around a span: those at or before its start come first, those at or after its end second. */
async function goodBeyond(blocks: TagBlocks, start: number, end: number, snapshot: Snapshot) {
  if (start === end) {
    const { beforeTimes, beforeValues, afterTimes, afterValues } = await readNeighbours(
      blocks,
      Float64Array.of(start),
      snapshot,
    )
    return {
      beforeTimes: Float64Array.of(beforeTimes[0]!, beforeTimes[0]!),
      beforeValues: Float64Array.of(beforeValues[0]!, beforeValues[0]!),
      afterTimes: Float64Array.of(afterTimes[0]!, afterTimes[0]!),
      afterValues: Float64Array.of(afterValues[0]!, afterValues[0]!),
    }
  }
  return readNeighbours(blocks, Float64Array.of(start, end), snapshot)
}
