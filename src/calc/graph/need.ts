import type { AggregateName } from '../../series/aggregate-names.ts'
import type { Comparisons, FindPoint } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { FAR, type Near, nearName, nearTo, type Reach, timesOf, together } from './near.ts'

/**
 * What is read of an operator, for the cost estimate: an interval, a kind and a count. The estimate is never below what
 * evaluation fetches, but for long runs of raw points without a value (`findNeeds`); what lies at raw points that are
 * found first has its place marked (`near`), and is searched by counts.
 */
export type Need =
  | ValuesNeed
  | CurrentNeed
  | PointNeed
  | RawNeed
  | ChunksNeed
  | IntegralsNeed
  | AggregatesNeed
  | PlotNeed
  | GapsNeed

/** Values at `count` instants within [from, to]. */
export interface ValuesNeed extends Interval {
  readonly kind: 'values'
  readonly count: number
  /** Equal keys with equal intervals and counts are the same instants, and read once. */
  readonly key: number
}

/** The current point: the last one before an instant, or at or before it. */
export interface CurrentNeed extends Placed {
  readonly kind: 'current'
  readonly find: 'before' | 'before-or-at'
  readonly at: Instant
}

/** The raw point next to an instant, or its time. */
export interface PointNeed extends Placed {
  readonly kind: 'point'
  readonly find: FindPoint
  readonly at: Instant
  /** Next to so many instants up to `at`; 1 when left out. */
  readonly count?: number
  /** Where the first of several instants lies, when they are not next to `at`. */
  readonly from?: Instant
  /** Of several instants, or of one that is not `at`: equal keys are the same instants. */
  readonly key?: number
  /** Set where only its time is wanted, which is known without the values of calculations. */
  readonly timeOnly?: true
}

/** The first (`asc`) or last (`desc`) `count` raw points of [from, to), with the bounding points beside them. */
export interface RawNeed extends Interval {
  readonly kind: 'raw'
  readonly order: 'asc' | 'desc'
  readonly count: number
  /** Set for a page that a request reads, which needs no bounding points where it is not read in chunks. */
  readonly isPage?: true
  readonly rawOnly?: boolean | undefined
}

/** All raw points of [from, to), with the bounding points beside them. */
export interface ChunksNeed extends Interval {
  readonly kind: 'chunks'
  /** So many raw points may be read beyond either end. */
  readonly beyond: number
  /** Set where its raw points alone are wanted, as `rawOnly` of a range. */
  readonly rawOnly?: boolean | undefined
  /** Only comparisons with these are wanted; points that they do not need may be left out. */
  readonly compared?: readonly number[]
  /**
   * How many ranges this stands for, that overlap or lie nearby at instants which are known only when they were found:
   * each has bounding values of its own.
   */
  readonly ranges?: number
}

/** Integrals over `count` spans within [from, to]. */
interface IntegralsNeed extends Interval {
  readonly kind: 'integrals'
  readonly count: number
  readonly key: number
}

/** Aggregates over `count` windows within [from, to). */
export interface AggregatesNeed extends Interval {
  readonly kind: 'aggregates'
  readonly count: number
  readonly names: readonly AggregateName[]
  readonly key: number
  /** How many such reads this stands for, as with chunks. */
  readonly ranges?: number
}

/** Gaps between the good raw points of [from, to), at most `count` of them. */
export interface GapsNeed extends Interval {
  readonly kind: 'gaps'
  readonly count: number
  readonly key: number
  readonly longerThanUs: number
}

/** First, least, greatest and last points of `count` columns within [from, to). */
interface PlotNeed extends Interval {
  readonly kind: 'plot'
  readonly count: number
  readonly key: number
}

/** Where the place of a need is known only when it was found. */
interface Placed {
  readonly near?: Near | undefined
}

interface Interval extends Placed {
  readonly from: Instant
  readonly to: Instant
}

/** What a stored leaf will read. */
export interface PlannedRead {
  readonly historian: string
  readonly tag: string
  /** Of the stored tag. */
  readonly number: number
  /** Equal keys are one read of the tag, counted once per call. */
  readonly key: string
  /** What the historian computes itself, if it does. */
  readonly pushDown: 'aggregates' | 'interpolation' | 'integrals' | 'plots' | 'gaps' | null
  /** Points that cross the historian contract, at most. */
  readonly atMost: number
  /** Where the number depends on what is stored: at most the points in [from, to), and `extra`. */
  readonly stored: StoredCount | null
  /** Read only because MEDIAN was requested. */
  readonly forMedian: boolean
}

export interface StoredCount {
  readonly from: Instant
  readonly to: Instant
  readonly extra: number
  /** Set where the range is moved to raw points that are found first. */
  readonly near?: Near
  /** Counts the points that comparisons with these need. */
  readonly compared?: Comparisons
}

/** Takes what operators need of their inputs and what leaves will read. */
export interface NeedSink {
  need(operator: { readonly id: number }, need: Need): void
  read(read: PlannedRead): void
  /** Raw points that will be generated for a label. */
  generate(address: string, points: number): void
}

/** One instant as a need. Equal instants are the same read for all callers. */
export function instantNeed(at: Instant): ValuesNeed {
  return { kind: 'values', from: at, to: at, count: 1, key: keyOf(at) }
}

/** Where raw points are looked for: next to `count` instants up to `at`. */
export type FindPlace = Pick<PointNeed, 'find' | 'at' | 'count' | 'from'>

/** Values at raw times that are known only when they were found. @param reach of the raw points beside each instant */
export function nearNeed({ find, at, count = 1, from = at }: FindPlace, reach: Reach = FAR): ValuesNeed {
  const isBack = find === 'before' || find === 'before-or-at'
  const near = { ...nearTo(at, isBack, count, timesOf(reach, count)), from }
  return { kind: 'values', from, to: at, count, key: keyOf(at, find), near }
}

/** A sink for the needs of a place that is known only when it was found: all that follows from them is needed there. */
export function nearSink(sink: NeedSink, near: Near): NeedSink {
  return {
    need: (operator, need) => sink.need(operator, moved(need, near)),
    read: (read) => {
      const stored = movedCount(read, near)
      sink.read({ ...read, key: stored === null ? read.key : `${read.key} ${nearName(near)}`, stored })
    },
    generate: (address, points) => sink.generate(address, points),
  }
}

function movedCount({ stored, atMost }: PlannedRead, near: Near): StoredCount | null {
  // A page of points costs its own count wherever it lies.
  if (stored === null || Number.isFinite(atMost)) return null
  return { ...stored, near }
}

function moved(need: Need, near: Near): Need {
  if (need.near === near) return need
  const both = need.near === undefined ? near : together(near, need.near)
  return { ...need, near: both }
}

const scratch = new Float64Array(1)
const bits = new Uint32Array(scratch.buffer)
/** Numbers of 53 bits: different needs have different keys for all that can be expected of a call. */
const LOW = 2 ** 21

/** A key made of numbers and words, the same for the same ones. */
export function keyOf(...parts: readonly (number | string)[]): number {
  let high = 0x9e3779b9
  let low = 0x85ebca6b
  const mix = (word: number): void => {
    high = Math.imul(high ^ word, 0xcc9e2d51)
    high = (high << 15) | (high >>> 17)
    low = Math.imul(low ^ high ^ (word >>> 16), 0x1b873593)
    low = (low << 13) | (low >>> 19)
  }
  for (const part of parts) {
    if (typeof part === 'number') {
      scratch[0] = part
      mix(bits[0]!)
      mix(bits[1]!)
    } else for (let i = 0; i < part.length; i++) mix(part.charCodeAt(i))
    mix(0x5bd1e995)
  }
  return (high >>> 0) * LOW + ((low >>> 0) % LOW)
}

const contents = new WeakMap<Float64Array, number>()

/** Arrays up to this length are not remembered: each would cost every collection of garbage more than its key does. */
const SHORT = 4

/**
 * A key of the content of an array, worked out once for each long array; arrays are not changed once they were read.
 */
export function contentKey(times: Float64Array): number {
  const { length } = times
  if (length < SHORT) return keyOf(length, ...times, 0)
  let key = contents.get(times)
  if (key === undefined) {
    key = keyOf(length, mixed(times))
    contents.set(times, key)
  }
  return key
}

function mixed(times: Float64Array): number {
  let high = 0x243f6a88
  let low = 0x13198a2e
  for (let i = 0; i < times.length; i++) {
    scratch[0] = times[i]!
    // Both halves of the state take both words: the low one of a short number is 0.
    high = Math.imul(high ^ bits[0]! ^ low, 0xcc9e2d51)
    high = (high << 15) | (high >>> 17)
    low = Math.imul(low ^ bits[1]! ^ high, 0x1b873593)
    low = (low << 13) | (low >>> 19)
  }
  high = Math.imul(high ^ low, 0x85ebca6b)
  return (high >>> 0) * LOW + ((low >>> 0) % LOW)
}
