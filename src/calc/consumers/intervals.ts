import { clampInstant, type Instant } from '../../time/instant.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'
import type { Segments } from './join-segments.ts'
import { SegmentReader } from './segments.ts'
import { wholeRange } from './stream.ts'

/** Which intervals are looked for. */
export interface IntervalQuery {
  readonly from: Instant
  readonly to: Instant
  /** Those that begin before this instant were given already; `null` for none. */
  readonly resumeAt: Instant | null
  /** Pauses of 0 up to this long do not end an interval; 0 for none. */
  readonly mergeUs: number
  /** Shorter ones are left out, unless they are open. */
  readonly minUs: number
  /** At least 1. */
  readonly limit: number
}

/** Intervals of a range in time order, as columns. */
export interface Intervals {
  readonly from: Float64Array
  readonly to: Float64Array
  /** 1 where it goes on before the range. */
  readonly openStart: Uint8Array
  /** 1 where it goes on after the range, or is held until `now`. */
  readonly openEnd: Uint8Array
}

/** Intervals as far as a limit allowed. */
export interface IntervalPage {
  readonly intervals: Intervals
  /** Whether there are more of them. */
  readonly more: boolean
}

/**
 * Intervals in which the signal of an operator is not 0, exact to the microsecond. A single instant of 0, such as that
 * of a line that changes its sign, ends none; where the signal has no value it ends.
 */
export async function intervalsOf(
  operator: Operator,
  query: IntervalQuery,
  evaluation: Evaluation,
): Promise<IntervalPage> {
  const finder = new IntervalFinder(query, new Set(operator.extrapolationLimits))
  // What is right beside the range tells whether an interval goes on there.
  const from = clampInstant(finder.start - 1)
  const to = clampInstant(query.to + 1)
  const reader = new SegmentReader(operator, evaluation, wholeRange(from, to, operator, evaluation))
  for (let segments = await reader.next(); segments !== null; segments = await reader.next()) {
    finder.add(segments)
    if (finder.isFull) break
    await evaluation.pause()
  }
  return finder.finish()
}

const NONE = 0
const ZERO = 1
const NOT_ZERO = 2
type Kind = typeof NONE | typeof ZERO | typeof NOT_ZERO

interface Interval {
  readonly from: number
  readonly to: number
  readonly openStart: boolean
  readonly openEnd: boolean
}

/** Makes intervals of segments in time order: a run of segments is not 0, 0, or without a value. */
class IntervalFinder {
  /** Nothing before it is given. */
  readonly start: number
  readonly #query: IntervalQuery
  readonly #extrapolationLimits: ReadonlySet<number>
  readonly #found: Interval[] = []
  /** The run that the segments so far end with. */
  #kind: Kind = NONE
  #runStart = Number.NEGATIVE_INFINITY
  #runEnd = Number.NEGATIVE_INFINITY
  /** An interval that a short pause may still join with the next one. */
  #pending: Interval | null = null

  constructor(query: IntervalQuery, extrapolationLimits: ReadonlySet<number>) {
    this.#query = query
    this.#extrapolationLimits = extrapolationLimits
    this.start = query.resumeAt ?? query.from
  }

  /** Whether it is known that there are more than the limit. */
  get isFull(): boolean {
    return this.#found.length > this.#query.limit
  }

  add({ times, at, before }: Segments): void {
    for (let i = 0; i + 1 < times.length; i++) {
      const first = at[i]!
      const last = before[i + 1]!
      const kind =
        Number.isNaN(first) || Number.isNaN(last) ? NONE : first === 0 && last === 0 ? ZERO : NOT_ZERO
      if (kind !== this.#kind) {
        this.#endRun(kind)
        this.#kind = kind
        this.#runStart = times[i]!
      }
      this.#runEnd = times[i + 1]!
    }
  }

  finish(): IntervalPage {
    this.#endRun(NONE)
    this.#settle()
    const found = this.#found.slice(0, this.#query.limit)
    const intervals = {
      from: Float64Array.from(found, ({ from }) => from),
      to: Float64Array.from(found, ({ to }) => to),
      openStart: Uint8Array.from(found, ({ openStart }) => Number(openStart)),
      openEnd: Uint8Array.from(found, ({ openEnd }) => Number(openEnd)),
    }
    return { intervals, more: this.isFull }
  }

  /** @param next what follows the run */
  #endRun(next: Kind): void {
    const { mergeUs, to: end } = this.#query
    const length = this.#runEnd - this.#runStart
    if (this.#kind === NOT_ZERO) this.#addRun(next)
    else if (this.#kind === NONE || length > mergeUs || this.#runEnd > end) this.#settle()
  }

  #addRun(next: Kind): void {
    const { to: end } = this.#query
    const from = Math.max(this.start, this.#runStart)
    const to = Math.min(end, this.#runEnd)
    if (from >= to) return
    const openEnd = this.#runEnd > end || (next === NONE && this.#extrapolationLimits.has(this.#runEnd))
    const begun = this.#pending ?? { from, openStart: this.#runStart < this.start }
    this.#pending = { ...begun, to, openEnd }
  }

  /** The pending interval is a whole one. */
  #settle(): void {
    const pending = this.#pending
    this.#pending = null
    if (pending === null) return
    const { from, to, openStart, openEnd } = pending
    if (to - from >= this.#query.minUs || openStart || openEnd) this.#found.push(pending)
  }
}
