import type { SinglePoint } from '../calc/series.ts'
import type { PointQuery } from '../historian/contract.ts'
import type { FindPoint } from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import type { Waiter } from './batch.ts'

/** What came of asking for a point. */
export interface PointAnswer {
  /** `null` when there is none, and when it could not be read. */
  readonly point: SinglePoint | null
  /** Why it could not be read; `null` when it was. */
  readonly failure: { readonly error: unknown } | null
}

/**
 * A point that a call asks for, once for all labels that need it. Whoever waits for many of them takes the answers when they are
 * told; a promise is made for those who want one.
 */
export class AskedPoint implements Waiter<SinglePoint | null>, PointAnswer, PointQuery {
  readonly tag: string
  readonly find: FindPoint
  readonly at: Instant
  point: SinglePoint | null = null
  failure: { readonly error: unknown } | null = null
  /** Resolves when `point` or `failure` is there. */
  told: Promise<void> = NOT_ASKED
  /** On the first point asked of a tag: the other ones, by what they are. */
  others: Map<string, AskedPoint> | null = null
  #isTold = false
  #promised: PromiseWithResolvers<SinglePoint | null> | null = null

  constructor(tag: string, find: FindPoint, at: Instant) {
    this.tag = tag
    this.find = find
    this.at = at
  }

  promise(): Promise<SinglePoint | null> {
    if (this.#promised === null) {
      this.#promised = Promise.withResolvers()
      if (this.#isTold) this.#tell(this.#promised)
    }
    return this.#promised.promise
  }

  resolve(point: SinglePoint | null): void {
    this.point = point
    this.#settle()
  }

  reject(error: unknown): void {
    this.failure = { error }
    this.#settle()
  }

  #settle(): void {
    this.#isTold = true
    if (this.#promised !== null) this.#tell(this.#promised)
  }

  #tell({ resolve, reject }: PromiseWithResolvers<SinglePoint | null>): void {
    if (this.failure === null) resolve(this.point)
    else reject(this.failure.error)
  }
}

const NOT_ASKED: Promise<void> = Promise.resolve()
