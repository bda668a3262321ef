import { US_PER_DAY } from '../../time/instant.ts'
import type { TimeZone } from '../../time/zone.ts'

/**
 * The instants at which the date on the clocks of a zone changes: its midnights; where clocks go forward over midnight
 * the first instant of the day; and where they go back over it, also the instant at which they show the day before
 * again.
 */
export class LocalDays {
  readonly #zone: TimeZone

  constructor(zone: TimeZone) {
    this.#zone = zone
  }

  /** Date on the clocks, as days since 1970-01-01. */
  dayAt(at: number): number {
    return Math.floor((at + this.#zone.offsetUsAt(at)) / US_PER_DAY)
  }

  /** The last change of the date at or before an instant. */
  lastChange(at: number): number {
    const { starts } = this.#zone
    let latest = at
    for (;;) {
      const start = starts[this.#zone.spanAt(latest)]!
      const midnight = this.#midnight(latest)
      if (midnight > start) return midnight
      if (this.#changesAt(start)) return start
      latest = start - 1
    }
  }

  /** The first change of the date after an instant. */
  nextChange(at: number): number {
    const { starts } = this.#zone
    let earliest = at
    for (;;) {
      const end = starts[this.#zone.spanAt(earliest) + 1] ?? Number.POSITIVE_INFINITY
      const midnight = this.#midnight(earliest) + US_PER_DAY
      if (midnight < end) return midnight
      if (this.#changesAt(end)) return end
      earliest = end
    }
  }

  /** How many changes of the date [from, to) has at most. */
  countChanges(from: number, to: number): number {
    if (from >= to) return 0
    // Clocks that go back by up to a day show up to two midnights again, and the step back is a change itself.
    const clockChanges = this.#zone.spanAt(to) - this.#zone.spanAt(from)
    return Math.ceil((to - from) / US_PER_DAY) + 1 + 3 * clockChanges
  }

  /** The midnight at or before an instant, were its offset never another. */
  #midnight(at: number): number {
    return this.dayAt(at) * US_PER_DAY - this.#zone.offsetUsAt(at)
  }

  #changesAt(at: number): boolean {
    return this.dayAt(at - 1) !== this.dayAt(at)
  }
}
