import { type PointColumns, sliceColumns } from '../../series/columns.ts'
import { PlotSampler } from '../../series/plot.ts'
import type { PlotPoints } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import type { Chunk } from '../graph/chunk.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'
import { withPoint } from '../leaves/stored-plot.ts'
import type { Segments } from './join-segments.ts'
import { GOOD_POINT, NO_POINT, readSegments } from './segments.ts'

/**
 * Points of a chart of any operator: of each column between two edges those that src/series/plot.ts chooses, the
 * signal's value at both ends of the range, and a BAD point without a value wherever the line must break: at the first
 * BAD point of a column, and at the first instant at which the signal has no value after one that is given.
 * @param edges ascending, distinct
 */
export async function plotOf(
  operator: Operator,
  edges: Float64Array,
  evaluation: Evaluation,
): Promise<PlotPoints> {
  const ends = Float64Array.of(edges[0]!, edges.at(-1)!)
  if (operator.plot === undefined) {
    const values = await operator.valuesAt(ends)
    return withEnds(
      await plotFromChunks(operator, edges, !Number.isNaN(values[0]!), evaluation),
      ends,
      values,
    )
  }
  const [values, plot] = await Promise.all([operator.valuesAt(ends), operator.plot(edges)])
  return withEnds(plot, ends, values)
}

/** The same from raw points and segments, whatever a historian could work out. */
async function plotFromChunks(
  operator: Operator,
  edges: Float64Array,
  hasValue: boolean,
  evaluation: Evaluation,
): Promise<PlotPoints> {
  const plot = new PlotSampler(edges, { hasValue })
  const heldUntil = new Set<number>()
  const raw: PointColumns[] = []
  const onChunk = (chunk: Chunk): void => {
    raw.push(chunk.raw)
    for (const end of operator.extrapolationLimits) if (hasValueAt(chunk, end)) heldUntil.add(end)
  }
  const take = (segments: Segments) => addInOrder(plot, raw.splice(0), gapsOf(segments, heldUntil))
  await readSegments(operator, evaluation, edges[0]!, edges.at(-1)!, take, { onChunk })
  addInOrder(plot, raw, [])
  return plot.finish()
}

/** Whether a chunk has the signal at an instant, and a value there. */
function hasValueAt(chunk: Chunk, time: Instant): boolean {
  return (
    time >= chunk.from && time <= chunk.to && !Number.isNaN(chunk.valuesAt(Float64Array.of(time), 'at')[0]!)
  )
}

/**
 * When the signal first has no value in each segment without one.
 * @param heldUntil where holds end, as far as the signal has its value there: a gap by `maxGap` may begin at `now`
 */
function gapsOf({ times, at, before, kinds }: Segments, heldUntil: ReadonlySet<number>): readonly number[] {
  const gaps: number[] = []
  let isGap = false
  for (let i = 0; i + 1 < times.length; i++) {
    const time = times[i]!
    const hasOwn = !Number.isNaN(at[i]!)
    if (hasOwn && !Number.isNaN(before[i + 1]!)) {
      isGap = false
      continue
    }
    if (isGap && kinds[i] === NO_POINT) continue
    // A hold has its value up to its end, and a good raw point has one although nothing follows it.
    const gap = hasOwn || kinds[i] === GOOD_POINT || heldUntil.has(time) ? time + 1 : time
    isGap = gap < times[i + 1]!
    if (isGap) gaps.push(gap)
  }
  return gaps
}

/** Feeds points, and gaps between them. */
function addInOrder(plot: PlotSampler, parts: readonly PointColumns[], gaps: readonly number[]): void {
  let next = 0
  for (const points of parts) {
    const { times } = points
    let start = 0
    for (; next < gaps.length && gaps[next]! <= (times.at(-1) ?? Number.NEGATIVE_INFINITY); next++) {
      let end = start
      while (times[end]! < gaps[next]!) end++
      plot.add(sliceColumns(points, start, end))
      plot.addGap(gaps[next]!)
      start = end
    }
    plot.add(sliceColumns(points, start, times.length))
  }
  for (; next < gaps.length; next++) plot.addGap(gaps[next]!)
}

/** With the signal's value at both ends, where it has one and there is no point. */
function withEnds(plot: PlotPoints, ends: Float64Array, values: Float64Array): PlotPoints {
  let { points } = plot
  for (const [i, time] of ends.entries()) {
    if (!Number.isNaN(values[i]!)) points = withPoint(points, time, values[i]!)
  }
  return { ...plot, points }
}
