import type { RetentionRule } from '../../src/storage/retention/rules.ts'
import { keep } from '../property/retention-model.ts'

/** Tags of a life; rules of retention match some. */
export const NAMES = ['a', 'b', 'c', 'd1', 'd2', 'dd1']
/** Rules that a start may have. */
export const RULES: readonly (readonly RetentionRule[])[] = [
  [],
  [keep('d*', 60)],
  [keep('dd*', 200), keep('d*', 60)],
  [keep('d*', 60), keep('b*', 30)],
  [keep('b*', 30), keep('d*', 100)],
]
/** In microseconds. */
export const MONTH = 2.6e12

/** Flushes and merges come when a step has them. */
export const LIMITS = {
  flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
  merge: { partitionBytes: 3_000, fanIn: 2, largestBytes: 1 << 22 },
  cacheBytes: 1 << 20,
  unlinkAfterMs: 0,
  reserveBytes: 1 << 14,
  retentionEveryMs: 1e9,
  idleMergeAfterMs: 1e9,
}

/** What may go wrong in a life. */
export interface Dangers {
  /** Calls of the file layer that fail. */
  readonly faults: boolean
  readonly retention: boolean
  /** The manifest is lost, and made anew by a repair. */
  readonly repairs: boolean
}
