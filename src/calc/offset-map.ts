import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import { applyOffset, type Offset } from '../time/offset.ts'
import { isSameTarget, type OffsetSpan, offsetSpanAt } from '../time/offset-spans.ts'
import type { TimeZone } from '../time/zone.ts'

/** A range is cut into at most so many spans when it is planned; with more of them it costs more than any limit allows. */
const PLANNED_SPANS = 50_000

/** An offset in a zone, as the map from instants to instants that it is. */
export class OffsetMap {
  readonly #offset: Offset
  readonly #zone: TimeZone

  constructor(offset: Offset, zone: TimeZone) {
    this.#offset = offset
    this.#zone = zone
  }

  /** Where it leads from an instant; `null` out of the accepted range. */
  targetOf(at: Instant): Instant | null {
    return applyOffset(at, this.#offset, this.#zone)
  }

  spanAt(at: Instant): OffsetSpan {
    return offsetSpanAt(at, this.#offset, this.#zone)
  }

  /** Whether it leads elsewhere from an instant on than right before it. */
  isBreak(at: Instant): boolean {
    if (at <= MIN_INSTANT || at >= END_INSTANT) return false
    const { from, target } = this.spanAt(at)
    return from === at && !isSameTarget(this.spanAt(instantFromUs(at - 1)).target, target)
  }

  /** The spans of [from, to), cut at its ends; those that are alike are one. */
  *spans(from: Instant, to: Instant): Generator<OffsetSpan> {
    let span = null as OffsetSpan | null
    for (let at: number = from; at < to; ) {
      const next = this.spanAt(instantFromUs(at))
      const end = instantFromUs(Math.min(next.to, to))
      if (span !== null && isSameTarget(span.target, next.target)) span = { ...span, to: end }
      else {
        if (span !== null) yield span
        span = { ...next, from: instantFromUs(at), to: end }
      }
      at = end
    }
    if (span !== null) yield span
  }

  /** As `spans`, from the last to the first. */
  *spansBackwards(from: Instant, to: Instant): Generator<OffsetSpan> {
    let span = null as OffsetSpan | null
    for (let end: number = to; end > from; ) {
      const next = this.spanAt(instantFromUs(end - 1))
      const start = instantFromUs(Math.max(next.from, from))
      if (span !== null && isSameTarget(span.target, next.target)) span = { ...span, from: start }
      else {
        if (span !== null) yield span
        span = { ...next, from: start, to: instantFromUs(end) }
      }
      end = start
    }
    if (span !== null) yield span
  }

  /** The spans of a range for planning; `null` when there are too many to be read. */
  plannedSpans(from: Instant, to: Instant): readonly OffsetSpan[] | null {
    const spans = [...this.spans(from, to).take(PLANNED_SPANS)]
    return spans.length < PLANNED_SPANS ? spans : null
  }

  /** The last break at or before an instant and after another one; `null` when there is none. */
  breakAtOrBefore(at: Instant, after: number): Instant | null {
    let span = this.spanAt(at)
    while (span.from > after && span.from > MIN_INSTANT) {
      const earlier = this.spanAt(instantFromUs(span.from - 1))
      if (!isSameTarget(earlier.target, span.target)) return span.from
      span = earlier
    }
    return null
  }

  /** The first break at or after an instant and before another one; `null` when there is none. */
  breakAtOrAfter(at: Instant, before: number): Instant | null {
    if (at < before && this.isBreak(at)) return at
    let span = this.spanAt(at)
    while (span.to < before && span.to < END_INSTANT) {
      const later = this.spanAt(span.to)
      if (!isSameTarget(later.target, span.target)) return later.from
      span = later
    }
    return null
  }

  /** Instants from which it leads to one, as far as it moves them all by about the same; none where it stays fixed. */
  originsOf(target: Instant): readonly Instant[] {
    const origins = new Set<Instant>()
    let at: number = target
    // The first step takes the distance from another day, the next ones from days nearer to the right one.
    for (let i = 0; i < 4 && at >= MIN_INSTANT && at < END_INSTANT; i++) {
      const span = this.spanAt(instantFromUs(at))
      if (span.target.kind !== 'moved') break
      at = target - span.target.us
      if (at >= span.from && at < span.to) origins.add(instantFromUs(at))
    }
    return [...origins]
  }

  /** Instants between which it leads from a range, roughly where it is a long one. */
  hullOf(from: Instant, to: Instant): { readonly from: Instant; readonly to: Instant } {
    const first = this.targetOf(from) ?? clampedTarget(from)
    const last = this.targetOf(to) ?? clampedTarget(to)
    return { from: instantFromUs(Math.min(first, last)), to: instantFromUs(Math.max(first, last)) }
  }
}

/** Stands for a target outside the accepted range: the end of it that is nearer. */
function clampedTarget(at: Instant): Instant {
  return at < 0 ? MIN_INSTANT : instantFromUs(END_INSTANT - 1)
}
