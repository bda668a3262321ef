import { US_PER_HOUR } from '../../time/instant.ts'

/** Where the time comes from. */
export interface RetentionTime {
  /** Microseconds since 1970, by a clock that may be set. */
  wallUs(): number
  /** Milliseconds of a clock that is never set, from anywhere. */
  monotonicMs(): number
}

/** What the clock of retention says: what time it is, or why that is not known. */
export type SteadyTime =
  | { readonly kind: 'known'; readonly us: number }
  /**
   * The wall clock is further ahead (above 0) or behind than it can be. It is believed when it has kept step with the
   * steady one for as long as it jumped.
   */
  | { readonly kind: 'jumped'; readonly byUs: number; readonly believedInUs: number }

/** The wall clock may be off by this much against the steady one: it is corrected now and then. */
export const CLOCK_TOLERANCE_US = US_PER_HOUR

interface Moment {
  readonly wallUs: number
  readonly steadyUs: number
}

/**
 * What time it is for retention: the wall clock's as long as that keeps step with a clock that is never set, and never
 * earlier than it was. A clock that jumps, while the service runs or from one run to the next, is not believed before
 * as much time has passed as it jumped, or it is right again, or somebody says that it is right. So a clock that is
 * wrong for a while takes nothing away.
 */
export class SteadyClock {
  readonly #time: RetentionTime
  /** From where on both clocks are compared; `null` before the first look. */
  #from: Moment | null = null
  /** When the wall clock was seen to have jumped. */
  #jumped: Moment | null = null
  #lastUs: number | null

  /** @param lastUs  what it said last in an earlier run; `null` for never: then the first look is believed */
  constructor(time: RetentionTime, lastUs: number | null) {
    this.#time = time
    this.#lastUs = lastUs
  }

  look(): SteadyTime {
    const now = this.#now()
    if (this.#from === null) {
      const expected = this.#lastUs ?? now.wallUs
      const isClose = Math.abs(now.wallUs - expected) <= CLOCK_TOLERANCE_US
      this.#from = { wallUs: isClose ? now.wallUs : expected, steadyUs: now.steadyUs }
    }
    const byUs = offset(this.#from, now)
    if (Math.abs(byUs) <= CLOCK_TOLERANCE_US) {
      this.#jumped = null
      return this.#known(now.wallUs)
    }
    // One that jumped again begins anew.
    if (this.#jumped === null || Math.abs(offset(this.#jumped, now)) > CLOCK_TOLERANCE_US) this.#jumped = now
    const believedInUs = Math.abs(byUs) - (now.steadyUs - this.#jumped.steadyUs)
    if (believedInUs > 0) return { kind: 'jumped', byUs, believedInUs }
    return this.believe()
  }

  /** Takes the wall clock for right. */
  believe(): SteadyTime {
    const now = this.#now()
    this.#from = now
    this.#jumped = null
    return this.#known(now.wallUs)
  }

  #now(): Moment {
    return { wallUs: this.#time.wallUs(), steadyUs: this.#time.monotonicMs() * 1_000 }
  }

  #known(wallUs: number): SteadyTime {
    this.#lastUs = Math.max(wallUs, this.#lastUs ?? wallUs)
    return { kind: 'known', us: this.#lastUs }
  }
}

/** By how much the wall clock went further than the steady one between two moments. */
function offset(from: Moment, to: Moment): number {
  return to.wallUs - from.wallUs - (to.steadyUs - from.steadyUs)
}
