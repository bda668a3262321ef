import { lowerBound } from '../../../series/columns.ts'
import { daysOf, monthsOf } from '../../../time/duration.ts'
import {
  clampInstant,
  END_INSTANT,
  type Instant,
  instantFromUs,
  isAccepted,
  MIN_INSTANT,
  US_PER_DAY,
} from '../../../time/instant.ts'
import type { Offset } from '../../../time/offset.ts'
import { isSameTarget, type OffsetSpan, offsetSpanAt, type SpanTarget } from '../../../time/offset-spans.ts'
import { type TimeZone, UTC } from '../../../time/zone.ts'
import { keyOf } from '../../graph/need.ts'

/** Spans that are walked before others go on: some two microseconds each. */
const STEP_SPANS = 512
/** Spans that an estimate looks at, and how many different ones it keeps apart. */
const ESTIMATED_SPANS = 40
const FEW_SPANS = 8
/**
 * A month can be longer than another by three days, and clocks are moved: how far apart the ends of equal steps can
 * lie.
 */
const SLACK_US = 4 * US_PER_DAY
/** Offsets that move times have breaks at clock changes, and where months are of different length: some two a month. */
const MOVED_SPAN_US = 10 * US_PER_DAY

export interface Reach {
  readonly from: Instant
  readonly to: Instant
}

/**
 * A piecewise map of times: an offset in a zone. Within a span all instants are moved equally far, or lead to the same
 * instant. A break is an instant from which on it leads elsewhere than right before.
 */
export class TimeMap {
  /** Microseconds that it moves every instant by; `null` when that is not the same everywhere. */
  readonly us: number | null
  /** The same for equal maps. */
  readonly key: number
  readonly #offset: Offset
  readonly #zone: TimeZone

  /** @param text the offset as it was written */
  constructor(offset: Offset, text: string, zone: TimeZone) {
    this.us = fixedUs(offset, zone)
    this.key = this.us === null ? keyOf('offset', text, zone.id) : keyOf('moved', this.us)
    this.#offset = offset
    this.#zone = zone
  }

  /** Moves every instant by the same time. */
  static exact(us: number, zone: TimeZone): TimeMap {
    return new TimeMap({ kind: 'exact', us }, '', zone)
  }

  spanAt(at: number): OffsetSpan {
    return offsetSpanAt(instantFromUs(at), this.#offset, this.#zone)
  }

  /** Where it leaves the accepted range there is none: what moves every instant equally far has none at all. */
  isBreak(at: Instant): boolean {
    if (this.us !== null || at <= MIN_INSTANT || at >= END_INSTANT) return false
    const { from, target } = this.spanAt(at)
    return from === at && target.kind !== 'none' && isOther(this.spanAt(at - 1).target, target)
  }

  /** The first instant in a direction from which it leads anywhere; `null` where there is none. */
  firstLeading(at: number, isBack: boolean): Instant | null {
    for (let next = at; isAccepted(next); ) {
      const { from, to, target } = this.spanAt(next)
      if (target.kind !== 'none') return instantFromUs(next)
      next = isBack ? from - 1 : to
    }
    return null
  }

  /** Where it leads from ascending times up to END_INSTANT, which lies in no span; NaN out of the accepted range. */
  async targetsOf(times: Float64Array, pause: () => Promise<void>): Promise<Float64Array> {
    const targets = new Float64Array(times.length)
    let walked = 0
    for (let i = 0; i < times.length; ) {
      const { to, target } = this.spanAt(times[i]!)
      const end = i + Math.max(1, lowerBound(times.subarray(i), to))
      for (; i < end; i++) targets[i] = targetIn(target, times[i]!)
      if (++walked % STEP_SPANS === 0) await pause()
    }
    return targets
  }

  /** The spans of [from, to), cut at its ends; those that join and are alike are one. */
  async *spans(
    { from, to }: Reach,
    order: 'asc' | 'desc',
    pause: () => Promise<void>,
  ): AsyncGenerator<OffsetSpan> {
    let span: OffsetSpan | null = null
    let walked = 0
    for (const next of this.#walk(from, to, order)) {
      if (span !== null && isSameTarget(span.target, next.target)) span = join(span, next)
      else {
        if (span !== null) yield span
        span = next
      }
      if (++walked % STEP_SPANS === 0) await pause()
    }
    if (span !== null) yield span
  }

  /** The spans of [from, to) for an estimate; `null` when they are many. */
  fewSpans({ from, to }: Reach): readonly OffsetSpan[] | null {
    const spans: OffsetSpan[] = []
    let walked = 0
    for (const next of this.#walk(from, to, 'asc')) {
      if (++walked > ESTIMATED_SPANS) return null
      const last = spans.at(-1)
      if (last !== undefined && isSameTarget(last.target, next.target))
        spans[spans.length - 1] = join(last, next)
      else if (spans.push(next) > FEW_SPANS) return null
    }
    return spans
  }

  /** Breaks that [from, to) can have, about, and rather more: without walking them. */
  countBreaks({ from, to }: Reach): number {
    const spans = this.fewSpans({ from, to })
    if (spans !== null) return spans.length - 1
    const found = [from, from + (to - from) / 2, to - 1].map((at) => this.spanAt(Math.floor(at)))
    const shortest = Math.min(...found.map((span) => span.to - span.from))
    // A span is an hour, a day or a month shorter than another by a tenth at most.
    const length = found[1]!.target.kind === 'moved' ? Math.max(shortest, MOVED_SPAN_US) : 0.9 * shortest
    return Math.ceil((to - from) / length) + 4
  }

  /**
   * The last break at or before an instant and after another one, or the first one at or after it and before that one.
   */
  async breakNear(
    at: Instant,
    isBack: boolean,
    bound: number,
    pause: () => Promise<void>,
  ): Promise<Instant | null> {
    if (this.us !== null) return null
    if (!isBack && at < bound && this.isBreak(at)) return at
    const from = isBack ? clampInstant(bound) : at
    const to = isBack ? instantFromUs(at + 1) : clampInstant(bound)
    for await (const span of this.spans({ from, to }, isBack ? 'desc' : 'asc', pause)) {
      const end = isBack ? span.from : span.to
      if (end <= from || end >= to) return null
      if (this.isBreak(end)) return end
    }
    return null
  }

  /**
   * The next break of an instant in a direction, as far as an estimate looks; else the end of that. `null` for none.
   */
  breakBeside(at: Instant, isBack: boolean): Instant | null {
    let end: number = at
    for (let walked = 0; walked < ESTIMATED_SPANS; walked++) {
      const span = this.spanAt(
        isBack ? Math.max(end - Math.sign(walked), MIN_INSTANT) : Math.min(end, END_INSTANT - 1),
      )
      end = isBack ? span.from : span.to
      if (end <= MIN_INSTANT || end >= END_INSTANT) return null
      if (this.isBreak(instantFromUs(end))) break
    }
    return instantFromUs(end)
  }

  /**
   * Preimage of an instant, as far as it moves them all by about the same; none where it stays fixed. The last day of a
   * month is that of up to four days, and an hour before clocks are moved back that of two.
   */
  originsOf(target: Instant): readonly Instant[] {
    if (this.us !== null) return [instantFromUs(target - this.us)]
    let near: number = target
    // The first step takes the distance from another day, the next ones from days nearer to the right one.
    for (let i = 0; i < 3 && isAccepted(near); i++) {
      const span = this.spanAt(near)
      if (span.target.kind !== 'moved') return []
      near = target - span.target.us
    }
    const origins: Instant[] = []
    for (const span of this.#walk(clampInstant(near - SLACK_US), clampInstant(near + SLACK_US), 'asc')) {
      const at = span.target.kind === 'moved' ? target - span.target.us : Number.NaN
      if (at >= span.from && at < span.to) origins.push(instantFromUs(at))
    }
    return origins
  }

  /** Instants between which it leads from a range, roughly where that is a long one. */
  hullOf({ from, to }: Reach): Reach {
    const ends = [this.#targetNear(from), this.#targetNear(to)]
    return { from: lastAccepted(Math.min(...ends)), to: lastAccepted(Math.max(...ends)) }
  }

  /** No instant from one on leads to what lies before the limit; back in time, to what lies behind it. */
  limitFrom(at: Instant, isBack: boolean): Instant {
    const target = this.#targetNear(at)
    // Later times lead to later ones, but for days on which clocks are moved.
    const slackUs = this.us !== null || this.#zone.id === UTC.id ? 0 : SLACK_US
    return clampInstant(isBack ? target + slackUs : target - slackUs)
  }

  /** Instants between which it leads from a range, for an estimate: rather further where there are many spans. */
  reachOf(range: Reach): Reach {
    const hull = this.hullOf(range)
    if (range.from === range.to || this.us !== null) return hull
    const to = clampInstant(range.to + 1)
    const spans = this.fewSpans({ from: range.from, to })
    if (spans === null)
      return { from: clampInstant(hull.from - SLACK_US), to: clampInstant(hull.to + SLACK_US) }
    const targets: number[] = [hull.from, hull.to]
    for (const { from, to, target } of spans) targets.push(targetIn(target, from), targetIn(target, to))
    // Where it stays at an instant, the breaks beside the range lead to others.
    if (spans[0]!.target.kind === 'fixed') targets.push(...this.#targetsBeside(range.from, to - 1))
    const known = targets.filter((target) => !Number.isNaN(target))
    return { from: clampInstant(Math.min(...known)), to: clampInstant(Math.max(...known)) }
  }

  /** Where it leads from right before the span of one instant, and right after that of another. */
  #targetsBeside(first: number, last: number): readonly number[] {
    return [this.spanAt(first).from - 1, this.spanAt(last).to]
      .filter((at) => at >= MIN_INSTANT && at < END_INSTANT)
      .map((at) => targetIn(this.spanAt(at).target, at))
  }

  /** Where it leads from an instant; the nearer end of the accepted range where it leaves that. */
  #targetNear(at: Instant): number {
    const found = targetIn(this.spanAt(Math.min(at, END_INSTANT - 1)).target, at)
    if (!Number.isNaN(found)) return found
    if (this.us !== null) return at + this.us
    return at < 0 ? MIN_INSTANT : END_INSTANT - 1
  }

  *#walk(from: Instant, to: Instant, order: 'asc' | 'desc'): Generator<OffsetSpan> {
    for (let [low, high]: [number, number] = [from, to]; low < high; ) {
      const found = this.spanAt(order === 'asc' ? low : high - 1)
      const start = instantFromUs(Math.max(found.from, low))
      const end = instantFromUs(Math.min(found.to, high))
      yield { from: start, to: end, target: found.target }
      if (order === 'asc') low = end
      else high = start
    }
  }
}

/**
 * How far an offset moves every instant; `null` where that differs. Without changes of clocks days are equally long.
 */
function fixedUs(offset: Offset, zone: TimeZone): number | null {
  if (offset.kind === 'exact' || offset.kind === 'clock') return offset.us
  if (offset.kind !== 'calendar' || zone.id !== UTC.id || monthsOf(offset.duration) !== 0) return null
  return offset.sign * (daysOf(offset.duration) * US_PER_DAY + offset.duration.us)
}

/** The nearest accepted instant. */
function lastAccepted(us: number): Instant {
  return clampInstant(Math.min(us, END_INSTANT - 1))
}

/** Whether a map leads elsewhere from here on than from right before. */
function isOther(before: SpanTarget, target: SpanTarget): boolean {
  return before.kind !== 'none' && !isSameTarget(before, target)
}

function targetIn(target: SpanTarget, at: number): number {
  return target.kind === 'moved' ? at + target.us : target.kind === 'fixed' ? target.at : Number.NaN
}

function join(a: OffsetSpan, b: OffsetSpan): OffsetSpan {
  return a.from < b.from ? { ...a, to: b.to } : { ...a, from: b.from }
}
