import { never } from '../../errors/tidemark-error.ts'
import type { Comparisons, FindPoint, SignalShape } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { aggregateNeeds } from '../consumers/aggregates.ts'
import { keyOf, type Need, type NeedSink, type PlannedRead } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'
import type { StoredTag } from '../graph/point-source.ts'
import { type Available, sourcesOf } from './aggregate-sources.ts'
import { EDGE_POINTS } from './stored-chunks.ts'

/** What one raw point of a stored tag costs: one point, whatever it is. */
export function pointRead(tag: StoredTag, find: FindPoint, at: Instant): PlannedRead {
  return new PointRead(tag, find, at)
}

/**
 * Its key is made when it is compared with that of another read. With a text each, 70,000 labels of ADJACENT_POINTS
 * took 525 MB instead of 481 (adversary `labels/ADJACENT_POINTS`).
 */
class PointRead implements PlannedRead {
  readonly historian: string
  readonly tag: string
  readonly number: number
  readonly #find: FindPoint
  readonly #at: Instant
  readonly atMost = 1
  readonly pushDown = null
  readonly stored = null
  readonly forMedian = false

  constructor({ historian, tag, number }: StoredTag, find: FindPoint, at: Instant) {
    this.historian = historian
    this.tag = tag
    this.number = number
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

/** Whether the historian chooses the points of a chart, with the breaks between them. */
export function plotsAtSource({ maxGapUs, pushDowns: { plots, signalGaps } }: StoredTag): boolean {
  return plots && (maxGapUs === undefined || signalGaps)
}

/** The same for equal comparisons. */
export function comparedName({ thresholds, maxGapUs }: Comparisons): string {
  return `compared with ${thresholds} ${maxGapUs ?? ''}`
}

/** Bounding values beside a range, whose raw points alone need none. */
function edgesOf({ rawOnly }: { readonly rawOnly?: boolean | undefined }): number {
  return rawOnly ? 0 : EDGE_POINTS
}

type RangeNeed = Exclude<Need, { readonly kind: 'current' | 'point' }>

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
      number: tag.number,
      pushDown: null,
      forMedian: false,
      ...read,
      ...(compared === undefined || stored === null
        ? { key, stored }
        : { key: `${key} ${comparedName(compared)}`, stored: { ...stored, compared } }),
    })
  }
  const other = (need: Need): void => estimateNeed(leaf, tag, shape, need, sink)
  /** A range of points. @param edges bounding values that are read beside it */
  const stream = ({ from, to, ...need }: RangeNeed, edges: number, forMedian = false): void => {
    const { beyond = 0, ranges = 1 } = need.kind === 'chunks' ? need : {}
    const extra = ranges * (edges + 2 * beyond)
    const key = `stream ${from} ${to} ${extra}`
    add({ key, atMost: Number.POSITIVE_INFINITY, stored: { from, to, extra }, forMedian })
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
      const extra = need.isPage ? 0 : edgesOf(need)
      add({
        key: `range ${from} ${to} ${order} ${count}`,
        atMost: count + extra,
        stored: { from, to, extra },
      })
      break
    }
    case 'chunks':
      stream(need, edgesOf(need))
      break
    case 'integrals':
      if (pushDowns.integrals) {
        const { count, from, to, key } = need
        const spans = `${from} ${to} ${count} ${key}`
        add({ key: `integrals ${spans} ${signal}`, pushDown: 'integrals', atMost: count + 2 })
      } else stream(need, EDGE_POINTS)
      break
    case 'aggregates': {
      const { names, count, from, to, key } = need
      const grid = `${from} ${to} ${count} ${key}`
      const sources = sourcesOf(names, availableOf(tag))
      const { streamed, aggregates } = sources
      if (streamed.length > 0) {
        const forMedian = streamed.every((name) => name === 'median')
        aggregateNeeds(leaf, need, {
          need: (_, own) => (own.kind === 'chunks' ? stream(own, edgesOf(own), forMedian) : other(own)),
          read: (read) => sink.read(read),
          generate: (address, points) => sink.generate(address, points),
        })
        break
      }
      if (aggregates.length > 0)
        add({ key: `aggregates ${grid} ${aggregates} ${signal}`, pushDown: 'aggregates', atMost: count + 2 })
      if (sources.integrals)
        add({ key: `integrals of ${grid} ${signal}`, pushDown: 'integrals', atMost: count + 2 })
      if (sources.integralsToNow)
        add({ key: `integrals to now of ${grid} ${signal}`, pushDown: 'integrals', atMost: count + 2 })
      // The values at each edge and a microsecond before each end.
      if (sources.bounds) other({ kind: 'values', from, to, count: 2 * count + 1, key: keyOf(key, 'bounds') })
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
      else stream(need, 0)
      break
    }
    default:
      never(need)
  }
}
