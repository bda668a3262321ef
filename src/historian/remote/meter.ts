import type { DriverMeter } from '../driver.ts'

/** How many queries of one kind a historian's server was sent, and how many of them failed. */
export interface QueryCount {
  readonly kind: string
  readonly sent: number
  readonly failed: number
}

/** Counts that can be read: what /metrics shows of a historian, and what tests look at. */
export class QueryMeter implements DriverMeter {
  readonly #counts = new Map<string, { sent: number; failed: number }>()

  sent(kind: string, queries = 1): void {
    this.#of(kind).sent += queries
  }

  failed(kind: string): void {
    this.#of(kind).failed++
  }

  /** All kinds so far, in the order of their first query. */
  counts(): readonly QueryCount[] {
    return Array.from(this.#counts, ([kind, count]) => ({ kind, ...count }))
  }

  /** Queries sent, of one kind or of all. */
  total(kind?: string): number {
    return this.counts().reduce(
      (sum, count) => sum + (kind === undefined || kind === count.kind ? count.sent : 0),
      0,
    )
  }

  /** Starts again from nothing. */
  reset(): void {
    this.#counts.clear()
  }

  #of(kind: string) {
    return this.#counts.getOrInsertComputed(kind, () => ({ sent: 0, failed: 0 }))
  }
}

/** Counts nothing. */
export const NO_METER: DriverMeter = { sent() {}, failed() {} }
