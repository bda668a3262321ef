import { never } from '../../errors/tidemark-error.ts'
import { takesPointsBefore, takesSignal } from '../../series/aggregate.ts'
import type { AggregateName } from '../../series/aggregate-names.ts'
import type { Comparisons, FindPoint, SignalShape } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { aggregateNeeds } from '../consumers/aggregates.ts'
import {
  type AggregatesNeed,
  type IntegralsNeed,
  keyOf,
  type Need,
  type NeedSink,
  type PlannedRead,
  type PlotNeed,
} from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'
import type { StoredTag } from '../graph/point-source.ts'
import { type Available, sourcesOf } from './aggregate-sources.ts'
import { EDGE_POINTS } from './stored-chunks.ts'

/** What one raw point of a stored tag costs: one point, whatever it is. */
export function pointRead({ historian, tag }: StoredTag, find: FindPoint, at: Instant): PlannedRead {
  return new PointRead(historian, tag, find, at)
}

/** Its key is made when it is compared with that of another read of the same tag, which hardly ever happens. */
class PointRead implements PlannedRead {
  readonly historian: string
  readonly tag: string
  readonly #find: FindPoint
  readonly #at: Instant
  readonly atMost = 1
  readonly pushDown = null
  readonly stored = null
  readonly forMedian = false

  constructor(historian: string, tag: string, find: FindPoint, at: Instant) {
    this.historian = historian
    this.tag = tag
    this.#find = find
    this.#at = at
  }

  get key(): string {
    return `point ${this.#find} ${this.#at}`
  }
}

/** What aggregates of a tag can be worked out from without reading its points. */
export function availableOf({ maxGapUs, pushDowns }: StoredTag): Available {
  const { aggregates, integrals } = pushDowns
  // Where signals have gaps, values do not tell whether the one before an edge is that of an instant alone.
  return { aggregates, integrals, bounds: maxGapUs === undefined }
}

/** Aggregates that are worked out from pages of points, without a signal beside them but that of TIMEAVG. */
export function isPlain(names: readonly AggregateName[]): boolean {
  return !takesPointsBefore(names) && !takesSignal(names.filter((name) => name !== 'timeAvg'))
}

/** Whether the historian chooses the points of a chart, with the breaks between them. */
export function plotsAtSource({ maxGapUs, pushDowns: { plots, signalGaps } }: StoredTag): boolean {
  return plots && (maxGapUs === undefined || signalGaps)
}

/** The same for equal comparisons. */
export function comparedName({ thresholds, maxGapUs }: Comparisons): string {
  return `compared with ${thresholds} ${maxGapUs ?? ''}`
}

type StreamedNeed = IntegralsNeed | AggregatesNeed | PlotNeed

/** Says which reads of a stored tag a need takes; its estimate is never below what crosses the contract. */
export function estimateNeed(
  leaf: Operator,
  tag: StoredTag,
  shape: SignalShape,
  need: Need,
  sink: NeedSink,
): void {
  const { pushDowns } = tag
  const signal = `${shape.stepped ? 'stepped' : 'linear'} until ${shape.holdUntil} ${shape.maxGapUs ?? ''}`
  const { compared } = tag
  const add = (read: Pick<PlannedRead, 'key' | 'atMost'> & Partial<PlannedRead>): void => {
    const { key, stored = null } = read
    sink.read({
      historian: tag.historian,
      tag: tag.tag,
      pushDown: null,
      forMedian: false,
      ...read,
      ...(compared === undefined || stored === null
        ? { key, stored }
        : { key: `${key} ${comparedName(compared)}`, stored: { ...stored, compared } }),
    })
  }
  // Spans of another key can begin later and end earlier within the same interval, and are then read by themselves.
  const stream = (need: StreamedNeed, edges: number, forMedian = false): void => {
    const { kind, from, to, key } = need
    const { ranges = 1 } = kind === 'aggregates' ? need : {}
    add({
      key: `stream ${from} ${to} ${edges} ${ranges} ${kind === 'integrals' ? key : ''}`,
      atMost: Number.POSITIVE_INFINITY,
      stored: { from, to, extra: ranges * edges },
      forMedian,
    })
  }
  switch (need.kind) {
    case 'values': {
      const { count, from, to, key } = need
      const grid = `${from} ${to} ${count} ${key}`
      if (pushDowns.interpolation)
        add({ key: `interpolated ${grid} ${signal}`, pushDown: 'interpolation', atMost: count })
      else add({ key: `boundingValues ${grid}`, atMost: 2 * count })
      break
    }
    case 'current':
      sink.read(pointRead(tag, need.find, need.at))
      break
    case 'point': {
      const { find, at, count = 1, key } = need
      if (count === 1 && key === undefined) sink.read(pointRead(tag, find, at))
      else add({ key: `points ${find} ${at} ${count} ${key}`, atMost: count })
      break
    }
    case 'raw': {
      const { from, to, order, count } = need
      const extra = need.isPage ? 0 : EDGE_POINTS
      add({
        key: `range ${from} ${to} ${order} ${count}`,
        atMost: count + extra,
        stored: { from, to, extra },
      })
      break
    }
    case 'chunks': {
      const { from, to, beyond, ranges = 1 } = need
      add({
        key: `chunks ${from} ${to} ${beyond} ${ranges}`,
        atMost: Number.POSITIVE_INFINITY,
        stored: { from, to, extra: ranges * (EDGE_POINTS + 2 * beyond) },
      })
      break
    }
    case 'integrals':
      if (pushDowns.integrals) {
        const { count, from, to, key } = need
        const spans = `${from} ${to} ${count} ${key}`
        add({ key: `integrals ${spans} ${signal}`, pushDown: 'integrals', atMost: count + 2 })
      } else stream(need, 4)
      break
    case 'aggregates': {
      const { names, count, from, to, key } = need
      const grid = `${from} ${to} ${count} ${key}`
      const sources = sourcesOf(names, availableOf(tag))
      const { streamed, aggregates } = sources
      if (streamed.length > 0) {
        const forMedian = streamed.every((name) => name === 'median')
        if (!isPlain(names)) {
          aggregateNeeds(leaf, need, {
            need: (_, own) => estimateNeed(leaf, tag, shape, own, sink),
            read: (read) => sink.read(forMedian && read.stored !== null ? { ...read, forMedian } : read),
            generate: (address, points) => sink.generate(address, points),
          })
          break
        }
        const timeAvg = names.includes('timeAvg')
        const isPushed = timeAvg && pushDowns.aggregates.includes('timeAvg')
        stream(need, timeAvg && !isPushed ? 4 : 0, forMedian)
        if (isPushed)
          add({ key: `aggregates ${grid} timeAvg ${signal}`, pushDown: 'aggregates', atMost: count + 2 })
        break
      }
      if (aggregates.length > 0)
        add({ key: `aggregates ${grid} ${aggregates} ${signal}`, pushDown: 'aggregates', atMost: count + 2 })
      if (sources.integrals)
        add({ key: `integrals of ${grid} ${signal}`, pushDown: 'integrals', atMost: count + 2 })
      if (sources.integralsToNow)
        add({ key: `integrals to now of ${grid} ${signal}`, pushDown: 'integrals', atMost: count + 2 })
      // The values at each edge and a microsecond before each end.
      if (sources.bounds)
        estimateNeed(
          leaf,
          tag,
          shape,
          { kind: 'values', from, to, count: 2 * count + 1, key: keyOf(key, 'bounds') },
          sink,
        )
      break
    }
    case 'plot':
      // Good points beside the range show whether the signal has ended between them and those in it.
      if (shape.maxGapUs !== undefined) add({ key: `beside ${need.from} ${need.to}`, atMost: 4 })
      if (plotsAtSource(tag)) {
        const { count, from, to, key } = need
        add({ key: `plot ${from} ${to} ${count} ${key} ${signal}`, pushDown: 'plots', atMost: count + 2 })
      } else stream(need, 0)
      break
    case 'gaps': {
      const { count, from, to, longerThanUs } = need
      // Both ends of each, and of one more that shows that there are more.
      if (pushDowns.gaps)
        add({ key: `gaps ${from} ${to} ${longerThanUs} ${count}`, pushDown: 'gaps', atMost: 2 * (count + 1) })
      else estimateNeed(leaf, tag, shape, { kind: 'chunks', from, to, beyond: 0 }, sink)
      break
    }
    default:
      never(need)
  }
}
