import { pathToFileURL } from 'node:url'
import { ENGINE_LIMITS, type EngineLimits } from '../../src/storage/engine/engine-limits.ts'

// Loaded before the program by a service that tests start (NODE_OPTIONS), as by its workers: it flushes, merges and
// moves watermarks all the time. There is no option for that, as nobody else needs one.

const LIMITS: Partial<EngineLimits> = {
  flush: { points: 3_000, records: 30, ageMs: 300, packedAside: 1_500 },
  merge: { partitionBytes: 20_000, fanIn: 3, largestBytes: 1 << 22 },
  idleMergeAfterMs: 50,
  unlinkAfterMs: 2_000,
  unlinkSoonestMs: 500,
  retentionEveryMs: 100,
}

/** Variables of a service with small limits. */
export const SMALL_LIMITS = { NODE_OPTIONS: `--import=${pathToFileURL(import.meta.filename).href}` }

if (process.env.NODE_OPTIONS?.includes(SMALL_LIMITS.NODE_OPTIONS)) Object.assign(ENGINE_LIMITS, LIMITS)
