import { addDuration, type Duration } from '../time/duration.ts'
import { type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import { slackUs } from '../time/windows.ts'
import type { TimeZone } from '../time/zone.ts'

/**
 * The windows (t - length, t] of all t. Days and longer are steps on the calendar of a zone, so that a later t can have a
 * window that starts earlier: 30 March minus a month is 28 February, as is 29 March.
 */
export class MovingWindow {
  /** The same only for equal windows. */
  readonly name: string
  /** By how much the window of a later t can start earlier; 0 for exact lengths. */
  readonly slackUs: number
  readonly #duration: Duration
  readonly #zone: TimeZone

  /** @param text of the duration, as it was written */
  constructor(duration: Duration, text: string, zone: TimeZone) {
    this.#duration = duration
    this.#zone = zone
    this.name = `${text} ${zone.id}`
    this.slackUs = slackUs(duration)
  }

  /** t minus the length, which is just outside the window; cut at the first accepted instant: no tag has points before it. */
  startFor(t: number): Instant {
    return instantFromUs(Math.max(addDuration(instantFromUs(t), this.#duration, this.#zone, -1), MIN_INSTANT))
  }

  /** What `startFor` approaches from the left at t, where it can jump. */
  startBefore(t: number): Instant {
    const start = this.startFor(t - 1)
    return start === MIN_INSTANT ? start : instantFromUs(start + 1)
  }

  startsFor(times: Float64Array): Float64Array {
    const duration = this.#duration
    if (duration.kind === 'exact') return times.map((t) => Math.max(t - duration.us, MIN_INSTANT))
    return times.map((t) => this.startFor(t))
  }

  /** No window of any t at or after this one starts before. */
  earliestStart(t: number): Instant {
    return instantFromUs(Math.max(this.startFor(t) - this.slackUs, MIN_INSTANT))
  }
}
