import {
  constantAggregates,
  SignalAggregates,
  takesBounds,
  takesPointsBefore,
  takesSignal,
  WindowAggregator,
} from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import { lowerBound, NO_POINTS, type PointColumns, sliceColumns, upperBound } from '../../series/columns.ts'
import { SignalWindows } from '../../series/signal-windows.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import type { Chunk } from '../graph/chunk.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { AggregatesNeed, NeedSink } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'
import { columnsOf } from '../graph/point-source.ts'
import { findNeeds, findRawPoint, isGoodPoint } from './find-point.ts'
import { addSegments } from './integrals.ts'
import type { Segments } from './join-segments.ts'
import { readSegments } from './segments.ts'
import { wholeRange } from './stream.ts'

/** Where aggregates are worked out: `now` ends what counts until the next point, and the window of COVERAGE. */
export interface AggregationContext {
  readonly evaluation: Evaluation
  readonly now: Instant
}

/** Windows whose aggregates are worked out before others go on, and points that are added to so many. */
const STEP_WINDOWS = 4_096
const STEP_POINTS = 2_048

/** Aggregates of any operator over n windows between n + 1 edges. */
export async function aggregatesOf(
  operator: Operator,
  edges: Float64Array,
  names: readonly AggregateName[],
  context: AggregationContext,
): Promise<AggregateColumns> {
  return operator.aggregates?.(edges, names) ?? aggregatesFromChunks(operator, edges, names, context)
}

/** The same from raw points, whatever a historian could work out. */
export async function aggregatesFromChunks(
  operator: Operator,
  edges: Float64Array,
  names: readonly AggregateName[],
  { evaluation, now }: AggregationContext,
): Promise<AggregateColumns> {
  const first = instantFromUs(edges[0]!)
  if (operator.varies === 'nothing') {
    const [value] = await operator.valuesAt(Float64Array.of(first))
    return aggregatesOfConstant(value!, edges, names, { evaluation, now })
  }
  const end = edges.at(-1)!
  const points = new WindowAggregator(edges, names, now)
  if (takesPointsBefore(names)) points.add(await pointsBefore(operator, first, evaluation))
  if (!takesSignal(names)) {
    const range = wholeRange(first, end, operator, evaluation)
    const stream = operator.chunks({ ...range, rawOnly: true })
    for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
      await addPoints(points, chunk.raw, edges, evaluation)
      await evaluation.pause()
    }
    return points.finish()
  }
  const signal = new SignalWindows(edges, now)
  const hasBounds = takesBounds(names)
  const onChunk = async (chunk: Chunk) => {
    await addPoints(points, chunk.raw, edges, evaluation)
    if (hasBounds) await addBounds(signal, edges, chunk, evaluation)
  }
  const take = (segments: Segments) => addSegments(signal, segments)
  await readSegments(operator, evaluation, first, end, take, { onChunk, edges })
  const ofPoints = points.finish()
  await evaluation.pause()
  const ofSignal = new SignalAggregates(signal, points.rises(), names, operator.stepped)
  while (ofSignal.next(STEP_WINDOWS)) await evaluation.pause()
  return { ...ofPoints, ...ofSignal.columns }
}

/** Aggregates of a constant, cooperatively. */
export async function aggregatesOfConstant(
  value: number,
  edges: Float64Array,
  names: readonly AggregateName[],
  { evaluation, now }: AggregationContext,
): Promise<AggregateColumns> {
  const windows = edges.length - 1
  if (windows <= STEP_WINDOWS) return constantAggregates(value, edges, names, now)
  const columns = new Map(names.map((name) => [name, new Float64Array(windows)]))
  for (let from = 0; from < windows; from += STEP_WINDOWS) {
    const some = edges.subarray(from, from + STEP_WINDOWS + 1)
    const found = constantAggregates(value, some, names, now, edges)
    for (const [name, column] of columns) column.set(found[name]!, from)
    await evaluation.pause()
  }
  return Object.fromEntries(columns)
}

/** What `aggregatesFromChunks` needs of its operator. */
export function aggregateNeeds(operator: Operator, need: AggregatesNeed, sink: NeedSink): void {
  const { from, to, names, ranges = 1, near } = need
  const rawOnly = !takesSignal(names)
  // What is not linear is integrated from the raw point before the range to the one after it.
  const beyond = rawOnly || operator.linear ? 0 : 1
  sink.need(operator, { kind: 'chunks', from, to, beyond, ranges, rawOnly, near })
  if (takesPointsBefore(names)) findNeeds(operator, { find: 'before', at: from }, sink)
}

/** A chunk of points, in steps where they can end very many windows. */
async function addPoints(
  windows: WindowAggregator,
  points: PointColumns,
  edges: Float64Array,
  evaluation: Evaluation,
): Promise<void> {
  const { length } = points.times
  if (edges.length <= STEP_WINDOWS || length <= STEP_POINTS) return windows.add(points)
  for (let from = 0; from < length; from += STEP_POINTS) {
    windows.add(sliceColumns(points, from, Math.min(length, from + STEP_POINTS)))
    await evaluation.pause()
  }
}

/** In steps: one chunk can have all edges. */
async function addBounds(
  signal: SignalWindows,
  edges: Float64Array,
  chunk: Chunk,
  evaluation: Evaluation,
): Promise<void> {
  const first = lowerBound(edges, chunk.from)
  await evaluation.inSteps(upperBound(edges, chunk.to) - first, (from, to) => {
    const times = edges.subarray(first + from, first + to)
    signal.bounds(first + from, chunk.valuesAt(times, 'at'), chunk.valuesAt(times, 'before'))
  })
}

/** The last raw point before an instant and, where that one is BAD, the last good one before it. */
async function pointsBefore(operator: Operator, at: Instant, evaluation: Evaluation): Promise<PointColumns> {
  const last = await operator.rawPoint('before', at)
  if (last === null) return NO_POINTS
  if (isGoodPoint(last)) return columnsOf([last])
  const good = await findRawPoint(operator, 'before', at, evaluation)
  return columnsOf(good === null ? [last] : [good, last])
}
