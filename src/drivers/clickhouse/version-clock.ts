import { randomInt } from 'node:crypto'

/**
 * Versions of rows: of two rows for the same point the one with the larger version counts. A hybrid logical clock makes
 * them: a version is the microseconds of this process's clock times 1024, plus a number that the process drew at its
 * start so that two processes do not make the same one; where that is not above every version made or met before, it is
 * the next one above those. So whatever the clocks of machines say, a write outweighs what it came after.
 */
export class VersionClock {
  /** Drawn at the start, below PROCESSES. */
  readonly process: number
  readonly #now: () => number
  /** Largest version made or met. */
  #last = 0n

  /** @param now milliseconds since 1970, fractions welcome */
  constructor(now: () => number = wallClock, process: number = randomInt(PROCESSES)) {
    this.#now = now
    this.process = process
  }

  /** A version above all that were made or met. */
  take(): bigint {
    const wall = this.#versionAt(BigInt(Math.floor(this.#now() * 1_000)))
    // One is left free above each version: a deletion may take the version after that of the point.
    const free = this.#last + 1n
    let version = wall > free ? wall : this.#versionAt(this.#last / STEP + 1n)
    if (version <= free) version += STEP
    this.#last = version
    return version
  }

  /** Has all versions from now on be above one that is stored. */
  meet(version: bigint): void {
    if (version > this.#last) this.#last = version
  }

  #versionAt(us: bigint): bigint {
    return us * STEP + BigInt(this.process)
  }
}

/** Numbers that processes draw from. */
const PROCESSES = 1_024

/** Between two versions of one process. */
const STEP = BigInt(PROCESSES)

/** Finer than Date.now(), and following the machine's clock when that is set. */
function wallClock(): number {
  const ms = Date.now()
  const fine = performance.timeOrigin + performance.now()
  return fine >= ms && fine < ms + 1 ? fine : ms
}
