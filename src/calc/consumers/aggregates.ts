import {
  constantAggregates,
  signalAggregates,
  takesPointsBefore,
  takesSignal,
  WindowAggregator,
} from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import {
  lowerBound,
  NO_POINTS,
  type PointColumns,
  STATUS_BAD,
  STATUS_OK,
  upperBound,
} from '../../series/columns.ts'
import { SignalWindows } from '../../series/signal-windows.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import type { Chunk } from '../graph/chunk.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { AggregatesNeed, NeedSink } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'
import type { SinglePoint } from '../graph/point-source.ts'
import { findNeeds, findRawPoint, isGoodPoint } from './find-point.ts'
import { addSegments } from './integrals.ts'
import { SegmentReader } from './segments.ts'
import { wholeRange } from './stream.ts'

/** Where aggregates are worked out: `now` ends what counts until the next point, and the window of COVERAGE. */
export interface AggregationContext {
  readonly evaluation: Evaluation
  readonly now: Instant
}

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
    return constantAggregates(value!, edges, names, now)
  }
  const range = wholeRange(first, edges.at(-1)!, operator, evaluation)
  const points = new WindowAggregator(edges, names, now)
  if (takesPointsBefore(names)) points.add(await pointsBefore(operator, first, evaluation))
  if (!takesSignal(names)) {
    const stream = operator.chunks(range)
    for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
      points.add(chunk.raw)
      await evaluation.pause()
    }
    return points.finish()
  }
  const signal = new SignalWindows(edges, now)
  const hasBounds = takesBounds(names)
  const reader = new SegmentReader(operator, evaluation, range, async (chunk) => {
    points.add(chunk.raw)
    if (hasBounds) await addBounds(signal, edges, chunk, evaluation)
  })
  for (let segments = await reader.next(); segments !== null; segments = await reader.next()) {
    addSegments(signal, segments)
    await evaluation.pause()
  }
  const ofPoints = points.finish()
  return { ...ofPoints, ...signalAggregates(signal, points.rises(), names, operator.stepped) }
}

/** What `aggregatesFromChunks` needs of its operator. */
export function aggregateNeeds(operator: Operator, need: AggregatesNeed, sink: NeedSink): void {
  const { from, to, names, ranges = 1, near } = need
  // What is not linear is integrated from the raw point before the range to the one after it.
  const beyond = takesSignal(names) && !operator.linear ? 1 : 0
  sink.need(operator, { kind: 'chunks', from, to, beyond, ranges, ...(near !== undefined && { near }) })
  if (takesPointsBefore(names)) findNeeds(operator, { find: 'before', at: from }, sink)
}

const OF_BOUNDS: readonly AggregateName[] = ['startBound', 'endBound', 'deltaBounds', 'increase']

/** Whether the values of the signal where windows begin and end are needed. */
function takesBounds(names: readonly AggregateName[]): boolean {
  return names.some((name) => OF_BOUNDS.includes(name))
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

function columnsOf(points: readonly SinglePoint[]): PointColumns {
  return {
    times: Float64Array.from(points, ({ time }) => time),
    values: Float64Array.from(points, ({ value }) => value),
    statuses: Uint8Array.from(points, ({ bad }) => (bad ? STATUS_BAD : STATUS_OK)),
  }
}
