import { randomInt } from 'node:crypto'

/**
 * Versions of rows: of two rows for the same point the one with the larger version counts. A version is the microseconds
 * of this process's clock times 1024 plus a number that the process drew at its start, so that two processes do not
 * draw the same one. Within a process versions grow strictly, also when its clock is set back; between processes the clocks of
 * their machines decide.
 */
export class VersionClock {
  readonly #process: bigint
  readonly #now: () => number
  #last = 0n

  /** @param now milliseconds since 1970, fractions welcome */
  constructor(now: () => number = wallClock, process: number = randomInt(Number(PROCESSES))) {
    this.#now = now
    this.#process = BigInt(process)
  }

  /** The first of `count` versions, which are STEP apart. @param count at least 1 */
  take(count: number): bigint {
    const us = BigInt(Math.floor(this.#now() * 1_000)) * STEP + this.#process
    const first = us > this.#last ? us : this.#last + STEP
    this.#last = first + STEP * BigInt(count - 1)
    return first
  }
}

const PROCESSES = 1024n

/** Between the versions of one process. */
export const STEP = PROCESSES

/** Finer than Date.now(), and following the machine's clock when that is set. */
function wallClock(): number {
  const ms = Date.now()
  const fine = performance.timeOrigin + performance.now()
  return fine >= ms && fine < ms + 1 ? fine : ms
}
