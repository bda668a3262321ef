import assert from 'node:assert/strict'

/**
 * Points that a label may fetch beyond its load, as docs/multi.md says: BAD ones and those without a value, which a
 * search passes by.
 */
export const LOAD_MARGIN = 20

/** Calls, or single reads, fetch no more than their load and the margin of each label. */
export function assertWithinLoad(fetched: number, load: number, what: string, labels = 1): void {
  const margin = labels * LOAD_MARGIN
  assert.ok(fetched <= load + margin, `${fetched} points fetched, ${load} and ${margin} estimated: ${what}`)
}
