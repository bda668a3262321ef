import { systemCode } from '../../errors/system-code.ts'
import { formatInstant } from '../../time/format.ts'
import { instantFromUs } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { ThreadEnded } from '../background-thread.ts'
import { Damage } from '../damage.ts'
import { InputUnreadable } from '../merge/merge-input.ts'
import type { PartInfo } from '../parts/part.ts'
import type { TroubleLog } from './trouble.ts'

/** Merges of a part that fail one after the other before it is set aside. */
const MOST_FAILURES = 3

const LONGEST_MS = 86_400_000

/** Parts that are set aside. */
interface Aside {
  readonly names: ReadonlySet<string>
  /** By the monotonic clock, in milliseconds. */
  readonly until: number
  readonly sentence: string
}

/**
 * Parts that cannot be merged for a reason of their own: their merges end the thread again and again, as there is no
 * memory for them, or by an error of the program, or the disk does not give what one of them holds, or its file is
 * missing. They are set aside for times that grow (exponential backoff), so that other parts are merged meanwhile.
 */
export class PartsAside {
  readonly #historian: string
  readonly #firstMs: number
  readonly #log: TroubleLog | null
  /** By name of a part: how many merges of it have failed. */
  readonly #failures = new Map<string, number>()
  #aside: readonly Aside[] = []
  /** When it was asked which ones are set aside. */
  #lookedAt = Number.NEGATIVE_INFINITY
  #isTold = false

  /** @param firstMs  how long parts are set aside for the first time */
  constructor(historian: string, firstMs: number, log: TroubleLog | null) {
    this.#historian = historian
    this.#firstMs = firstMs
    this.#log = log
  }

  /** What somebody should look at; `null` for nothing. */
  get sentence(): string | null {
    return this.#aside[0]?.sentence ?? null
  }

  /**
   * Notes that a merge has failed.
   * @returns  whether its parts are set aside now
   */
  failed(merged: readonly PartInfo[], error: unknown): boolean {
    if (!isOwnFailure(error)) return false
    // Where it is known which one cannot be read, the others can be merged without it.
    const inputs =
      error instanceof InputUnreadable ? merged.filter(({ name }) => name === error.part) : merged
    // A file that is missing is not there at the next tries either.
    const isMissing = error instanceof InputUnreadable && error.code === 'ENOENT'
    const before = Math.max(...inputs.map(({ name }) => this.#failures.get(name) ?? 0))
    const failures = Math.max(before + 1, isMissing ? MOST_FAILURES : 0)
    const names = new Set(inputs.map(({ name }) => name))
    for (const name of names) this.#failures.set(name, failures)
    if (failures < MOST_FAILURES) return false
    const pauseMs = Math.min(this.#firstMs * 2 ** (failures - MOST_FAILURES), LONGEST_MS)
    const why = isMissing ? `the file ${error.part} is missing` : `${failures} tries have failed`
    const sentence = `${spanOf(inputs)} cannot be merged: ${why}, and ${isMissing ? 'tries' : 'others'} follow seldom`
    const others = this.#aside.filter((aside) => !isWithin(aside.names, names))
    this.#aside = [...others, { names, until: performance.now() + pauseMs, sentence }]
    if (!this.#isTold) this.#log?.error({ err: error, historian: this.#historian }, sentence)
    this.#isTold = true
    return true
  }

  /**
   * In how many milliseconds the next ones are to be tried again, of those that `namesNow` gave or that have failed
   * since: 0 where their time has come by now. `null` for none that wait.
   */
  get waitMs(): number | null {
    const ends = this.#aside.map(({ until }) => until).filter((until) => until > this.#lookedAt)
    return ends.length === 0 ? null : Math.max(0, Math.min(...ends) - performance.now())
  }

  /** Names of the parts that are set aside now. @param there  all that there are; the others are forgotten */
  namesNow(there: readonly PartInfo[]): ReadonlySet<string> {
    if (this.#failures.size === 0) return this.#none()
    const names = new Set(there.map(({ name }) => name))
    for (const name of this.#failures.keys()) if (!names.has(name)) this.#failures.delete(name)
    // One of which a part is gone was merged, or has another set of parts now.
    this.#aside = this.#aside.filter((aside) => isWithin(aside.names, names))
    if (this.#aside.length === 0) return this.#none()
    this.#lookedAt = performance.now()
    const waiting = this.#aside.filter(({ until }) => until > this.#lookedAt)
    return new Set(waiting.flatMap((aside) => [...aside.names]))
  }

  #none(): ReadonlySet<string> {
    if (this.#isTold) this.#log?.info({ historian: this.#historian }, 'all parts can be merged again')
    this.#isTold = false
    return NO_NAMES
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()

function isWithin(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  for (const name of some) if (!all.has(name)) return false
  return true
}

/** Whether something failed for what it merges or does, and not because of what the disk has no room for, say. */
function isOwnFailure(error: unknown): boolean {
  if (error instanceof ThreadEnded || error instanceof InputUnreadable) return true
  return !(error instanceof Damage) && systemCode(error) === ''
}

function spanOf(inputs: readonly PartInfo[]): string {
  const first = Math.min(...inputs.map(({ firstTime }) => firstTime))
  const last = Math.max(...inputs.map(({ lastTime }) => lastTime))
  const count = `${inputs.length} ${inputs.length === 1 ? 'part' : 'parts'}`
  if (first > last) return `${count} without points`
  const text = (us: number) => formatInstant(instantFromUs(us), UTC)
  return `${count} with points from ${text(first)} to ${text(last)}`
}
