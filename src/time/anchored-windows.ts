import { type Instant, instantFromUs } from './instant.ts'
import type { LocalBoundaries } from './window-anchor.ts'
import type { FindWindow } from './windows.ts'
import { MAX_OFFSET_US, type TimeZone } from './zone.ts'

/**
 * Windows between local times on the clocks of a zone. A local time that the clocks leave out moves on by what they
 * leave out, one that they show twice bounds once, at its first occurrence; boundaries at the same instant are one.
 */
export function anchoredWindows(boundaries: LocalBoundaries, zone: TimeZone): FindWindow {
  const search = new BoundarySearch(boundaries, zone)
  return (at) => ({ start: search.lastUpTo(at), end: search.firstAfter(at) })
}

/** Local times [low, high) that the clocks show at the instants `local - offsetUs`. */
interface Shown {
  readonly low: number
  readonly high: number
  readonly offsetUs: number
}

/**
 * Between two changes of the clocks boundaries are as far apart as their local times, so that one is found without
 * going through those before it, however many there are.
 */
class BoundarySearch {
  readonly #boundaries: LocalBoundaries
  readonly #zone: TimeZone

  constructor(boundaries: LocalBoundaries, zone: TimeZone) {
    this.#boundaries = boundaries
    this.#zone = zone
  }

  /** The last boundary at or before an instant. */
  lastUpTo(at: Instant): Instant {
    for (let span = this.#zone.spanAt(at); ; span--) {
      let last = Number.NEGATIVE_INFINITY
      for (const { low, high, offsetUs } of this.#shownIn(span)) {
        const local = at + offsetUs < high ? this.#lastUpToLocal(at + offsetUs) : this.#lastBefore(high)
        if (local >= low) last = Math.max(last, local - offsetUs)
      }
      if (Number.isFinite(last)) return instantFromUs(last)
    }
  }

  /** The first boundary after an instant. */
  firstAfter(at: Instant): Instant {
    for (let span = this.#zone.spanAt(at); ; span++) {
      let first = Number.POSITIVE_INFINITY
      for (const { low, high, offsetUs } of this.#shownIn(span)) {
        const local = low > at + offsetUs ? this.#firstFrom(low) : this.#firstAfterLocal(at + offsetUs)
        if (local < high) first = Math.min(first, local - offsetUs)
      }
      if (Number.isFinite(first)) return instantFromUs(first)
    }
  }

  // Nothing is added to a local time: beyond 2255, where windows of centuries end, a microsecond would be lost.

  #firstFrom(local: number): number {
    return this.#boundaries.at(this.#boundaries.firstFrom(local))
  }

  #firstAfterLocal(local: number): number {
    const index = this.#boundaries.firstFrom(local)
    const first = this.#boundaries.at(index)
    return first > local ? first : this.#boundaries.at(index + 1)
  }

  #lastBefore(local: number): number {
    return this.#boundaries.at(this.#boundaries.firstFrom(local) - 1)
  }

  #lastUpToLocal(local: number): number {
    const index = this.#boundaries.firstFrom(local)
    const first = this.#boundaries.at(index)
    return first > local ? this.#boundaries.at(index - 1) : first
  }

  /**
   * What the clocks show for the first time in a span between two changes, and what the change at its beginning leaves
   * out, which then moves on.
   */
  #shownIn(span: number): readonly Shown[] {
    const { starts, offsets } = this.#zone
    const offsetUs = offsets[span]!
    const high = (starts[span + 1] ?? Number.POSITIVE_INFINITY) + offsetUs
    const before = this.#shownBefore(span)
    const own = { low: Math.max(starts[span]! + offsetUs, before), high, offsetUs }
    if (span === 0) return [own]
    const offsetBefore = offsets[span - 1]!
    const leftOut = {
      low: Math.max(starts[span]! + offsetBefore, before),
      high: own.low,
      offsetUs: offsetBefore,
    }
    return leftOut.low < leftOut.high ? [leftOut, own] : [own]
  }

  /** The latest local time that was shown before a span: some changes lie within hours of each other. */
  #shownBefore(span: number): number {
    const { starts, offsets } = this.#zone
    let shown = Number.NEGATIVE_INFINITY
    for (let i = span - 1; i >= 0 && starts[i + 1]! > starts[span]! - 2 * MAX_OFFSET_US; i--) {
      shown = Math.max(shown, starts[i + 1]! + offsets[i]!)
    }
    return shown
  }
}
