import { SignalAggregates, takesPointsBefore, takesSignal, WindowAggregator } from '../../series/aggregate.ts'
import { AGGREGATE_NAMES, type AggregateColumns, type AggregateName } from '../../series/aggregate-names.ts'
import { concatColumns, makeColumns, NO_POINTS, type PointColumns } from '../../series/columns.ts'
import { SignalIntegrator } from '../../series/integrate.ts'
import { isGood } from '../../series/interpolate.ts'
import type { Integrals, SignalShape } from '../../series/reads.ts'
import { WindowSignal } from '../../series/window-signal.ts'
import type { ReadPace } from '../pause.ts'
import type { PointBlocks } from './point-blocks.ts'
import { readBoundingValues, readPoint } from './point-reads.ts'

/** Aggregates that are computed here; the median needs all values of a window in memory, so the engine bounds it. */
export const STORED_AGGREGATES: readonly AggregateName[] = AGGREGATE_NAMES.filter((name) => name !== 'median')

/** Windows whose aggregates are worked out before others go on. */
const STEP_WINDOWS = 4_096

/**
 * Aggregates over windows that join, from summaries where a zone map lies in one window: memory is that of a block and
 * of the answer.
 * @param edges  n + 1 ascending instants
 */
export async function readAggregates(
  blocks: PointBlocks,
  edges: Float64Array,
  names: readonly AggregateName[],
  shape: SignalShape,
  snapshot: ReadPace,
): Promise<AggregateColumns> {
  const first = edges[0]!
  const last = edges[edges.length - 1]!
  const windows = new WindowAggregator(edges, names, shape.holdUntil)
  if (takesPointsBefore(names)) windows.add(await pointsBefore(blocks, first, snapshot))
  const signal = takesSignal(names) ? new WindowSignal(edges, names, shape) : null
  const beyond = signal === null ? null : await goodBeyond(blocks, first - 1, last, snapshot)
  if (beyond !== null && !Number.isNaN(beyond.beforeTimes[0]!)) {
    signal!.addPoint(beyond.beforeTimes[0]!, beyond.beforeValues[0]!)
  }
  let closed = 0
  await blocks.eachZoneMap(first, last, snapshot, {
    steps() {
      const more = windows.closed - closed
      closed += more
      return 1 + more
    },
    takeZoneMap(zoneMap) {
      if (!windows.takes(zoneMap)) return false
      if (signal !== null && !signal.addZoneMap(zoneMap)) return false
      windows.addSummary(zoneMap)
      return true
    },
    takePoints(points) {
      windows.add(points)
      signal?.add(points)
    },
  })
  if (snapshot.isDue()) await snapshot.pause()
  const count = edges.length - 1
  const ofPoints = windows.finish()
  if (signal === null) return ofPoints
  if (snapshot.isDue(count)) await snapshot.pause()
  if (!Number.isNaN(beyond!.afterTimes[1]!)) signal.addPoint(beyond!.afterTimes[1]!, beyond!.afterValues[1]!)
  const ofSignal = new SignalAggregates(signal.finish(), windows.rises(), names, shape.stepped)
  if (snapshot.isDue(count)) await snapshot.pause()
  while (ofSignal.next(STEP_WINDOWS)) if (snapshot.isDue(STEP_WINDOWS)) await snapshot.pause()
  return { ...ofPoints, ...ofSignal.columns }
}

/** The last raw point before an instant and, where that one is BAD, the last good one before it. */
async function pointsBefore(blocks: PointBlocks, at: number, snapshot: ReadPace): Promise<PointColumns> {
  const last = makeColumns(1)
  if (!readPoint(blocks, 'before', at, last, 0)) return NO_POINTS
  if (isGood(last, 0)) return last
  const { beforeTimes, beforeValues } = await readBoundingValues(blocks, Float64Array.of(at - 1), snapshot)
  if (Number.isNaN(beforeTimes[0]!)) return last
  const good = { times: beforeTimes, values: beforeValues, statuses: new Uint8Array(1) }
  return concatColumns([good, last])
}

/** Integrals of the signal over spans: ascending, not overlapping. Segments between the spans are not read. */
export async function readIntegrals(
  blocks: PointBlocks,
  starts: Float64Array,
  ends: Float64Array,
  shape: SignalShape,
  snapshot: ReadPace,
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
    await blocks.eachZoneMap(Math.max(fed, start), end, snapshot, {
      takeZoneMap: (zoneMap) => signal.addZoneMap(zoneMap),
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
async function goodBeyond(blocks: PointBlocks, start: number, end: number, snapshot: ReadPace) {
  if (start === end) {
    const { beforeTimes, beforeValues, afterTimes, afterValues } = await readBoundingValues(
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
  return readBoundingValues(blocks, Float64Array.of(start, end), snapshot)
}
