import type { CallContext, PlotPoints, PlotQuery } from '../../historian/contract.ts'
import {
  concatColumns,
  makeColumns,
  type PointColumns,
  pickColumns,
  STATUS_BAD,
} from '../../series/columns.ts'
import type { Addresses } from './aggregates.ts'
import { notUnderstood } from './errors.ts'
import type { Instance } from './instance.ts'
import { ask, type LabelRequest } from './labels.ts'
import { type Run, windowRuns } from './runs.ts'
import { endText, gapDetail, LAST_INSTANT, readColumns, readPoint, timeText } from './wire.ts'

/** Longer than any two points are apart: what `maxGap` of a tag's metadata there gives way to. */
const NO_GAP = '182622d'

/**
 * Points of charts, by PLOT for each run of even columns. What it gives beside the points of columns is taken away: the
 * signal's value at both ends of the range, of which the one at the start is distinguished from a raw point by asking
 * for that; and with `maxGapUs` the breaks towards the good points beside the range, which are distinguished from those
 * of BAD points by asking for the chart without gaps, too.
 */
export async function readPlots(
  instance: Instance,
  queries: readonly PlotQuery[],
  addresses: Addresses,
  context: CallContext,
): Promise<readonly PlotPoints[]> {
  const charts = queries.map((query) => windowRuns(query.edges).map((run) => chartOf(query, run, addresses)))
  const all = charts.flat()
  const gapped = all.filter(({ whole }) => whole !== null)
  // Where nothing holds its value only up to `now`, no line breaks there.
  const options = { kind: 'read', now: LAST_INSTANT } as const
  const labels = all.flatMap(({ chart, before }) => [chart, before])
  // A call of their own: with these it would request twice the points of the charts.
  const wholes = gapped.map(({ whole }) => whole!)
  const [answers, wholeAnswers] = await Promise.all([
    ask(instance, labels, options, context),
    ask(instance, wholes, options, context),
  ])
  const wholeOf = new Map(gapped.map((one, i) => [one, wholeAnswers[i]!]))
  let at = 0
  return queries.map((query, i) => {
    const parts = charts[i]!.map((one) => {
      const [chart = null, before = null] = answers.slice(at, at + 2)
      at += 2
      return partOf(instance.historian, one, { chart, before, whole: wholeOf.get(one) })
    })
    const points = joined(
      parts.map((part) => part.points),
      query,
    )
    return { points, sampled: parts.some(({ sampled }) => sampled) }
  })
}

type Answer = Readonly<Record<string, unknown>> | null

/** What is asked for of a run of columns. */
interface Chart {
  readonly from: number
  readonly to: number
  readonly chart: LabelRequest
  /** The raw point at or before its start. */
  readonly before: LabelRequest
  /** The chart without gaps; `null` where it has none. */
  readonly whole: LabelRequest | null
}

function chartOf(query: PlotQuery, { start, end }: Run, addresses: Addresses): Chart {
  const { edges, maxGapUs } = query
  const [from, to] = [edges[start]!, edges[end]!]
  const details = { from: timeText(from), to: endText(to), width: end - start }
  const stored = addresses.stored(query.tag)
  // Without gaps the points of a chart are the same, stepped or not.
  const tag = maxGapUs === undefined ? stored : addresses.signal(query)
  return {
    from,
    to,
    chart: { type: 'PLOT', tag, details: { ...details, ...gapDetail(query) } },
    before: { type: 'POINT_BEFORE_OR_AT', tag: stored, details: { at: details.from } },
    whole: maxGapUs === undefined ? null : { type: 'PLOT', tag, details: { ...details, maxGap: NO_GAP } },
  }
}

function partOf(
  historian: string,
  { from, to }: Chart,
  { chart, before, whole }: Readonly<{ chart: Answer; before: Answer; whole: Answer | undefined }>,
): PlotPoints {
  // A tag that does not exist has no points.
  if (chart === null || before === null || whole === null) return { points: makeColumns(0), sampled: false }
  const points = readColumns(chart.dataPoints)
  const ungapped = whole === undefined ? points : readColumns(whole.dataPoints)
  const raw = readPoint(before.dataPoint)
  const { sampled } = chart
  if (points === null || ungapped === null || raw === null || typeof sampled !== 'boolean')
    throw notUnderstood(historian, 'its chart is none')
  const hasRawAtStart = raw.time === from && !raw.bad
  return { points: withoutEnds(points, from, to, hasRawAtStart, breaksOf(ungapped)), sampled }
}

/**
 * Points before the end of the range, without the signal's value at its start, and without the breaks before the first
 * good point and after the last one that are no BAD points.
 */
function withoutEnds(
  points: PointColumns,
  from: number,
  to: number,
  hasRawAtStart: boolean,
  bad: ReadonlySet<number>,
): PointColumns {
  const { times, values } = points
  const isGood = (i: number) =>
    times[i]! < to && (hasRawAtStart || times[i]! > from) && !Number.isNaN(values[i]!)
  const first = times.findIndex((_, i) => isGood(i))
  const last = times.findLastIndex((_, i) => isGood(i))
  const isKept = (i: number) =>
    Number.isNaN(values[i]!) ? (first < i && i < last) || bad.has(times[i]!) : isGood(i)
  return pickColumns(points, Array.from(times.keys()).filter(isKept))
}

function breaksOf({ times, values }: PointColumns): ReadonlySet<number> {
  return new Set(times.filter((_, i) => Number.isNaN(values[i]!)))
}

/** Charts of adjoining runs as one, with the breaks of gaps between points of different runs. */
function joined(parts: readonly PointColumns[], { stepped, maxGapUs }: PlotQuery): PointColumns {
  if (maxGapUs === undefined || parts.length < 2) return concatColumns(parts)
  const all: PointColumns[] = []
  let last = Number.NaN
  for (const part of parts) {
    const good = part.times.filter((_, i) => !Number.isNaN(part.values[i]!))
    if (good.length > 0 && good[0]! - last > maxGapUs) all.push(breakAt(stepped ? last + maxGapUs : last + 1))
    last = good.at(-1) ?? last
    all.push(part)
  }
  const points = concatColumns(all)
  const { times } = points
  // The break of a gap may come before BAD points of an earlier run, or be at the time of one.
  const order = Array.from(times.keys()).sort((a, b) => times[a]! - times[b]!)
  return pickColumns(
    points,
    order.filter((index, i) => i === 0 || times[index] !== times[order[i - 1]!]),
  )
}

function breakAt(time: number): PointColumns {
  const point = makeColumns(1)
  point.times[0] = time
  point.values[0] = Number.NaN
  point.statuses[0] = STATUS_BAD
  return point
}
