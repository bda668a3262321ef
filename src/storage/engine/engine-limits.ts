import { MERGE_LIMITS, type MergeLimits } from '../merge/merge.ts'

/** When the points in memory are written to a part. */
export interface FlushLimits {
  /** Points in memory: bounds what they take. */
  readonly points: number
  /** Records of the log, each of one request. */
  readonly records: number
  /**
   * Bytes in memory of changes of tags and of removals, which one record may have very many of. Left out, only records
   * count.
   */
  readonly changeBytes?: number
  /** Time since the first record, in milliseconds: what nobody adds to does not stay in memory. */
  readonly ageMs: number
  /**
   * What is flushed when many points came and nothing more comes for a while: aggregates over them have no summaries
   * before that. Left out, only age counts.
   */
  readonly idle?: { readonly points: number; readonly afterMs: number }
  /**
   * So many points, of a memory that is flushed, are packed on a thread of their own: fewer take less time than it
   * would. Left out, all are packed on the thread that answers.
   */
  readonly packedAside?: number
}

/** How an engine is tuned; tests use small numbers. */
export interface EngineLimits {
  readonly flush: FlushLimits
  readonly merge: MergeLimits
  /** What is left to merge is merged when nothing was flushed for so many milliseconds. */
  readonly idleMergeAfterMs: number
  /** Once in so many milliseconds also what little lies over much is merged then, so that it is written seldom. */
  readonly thoroughMergeEveryMs: number
  /**
   * Where something is flushed all the time, parts of which much was taken away are merged after so many milliseconds
   * without a rest.
   */
  readonly reclaimAfterMs: number
  /** Parts whose merges fail again and again for a reason of their own are left alone for so long, then for longer. */
  readonly mergeAsideMs: number
  /** Bytes that the cache of blocks holds at most. */
  readonly cacheBytes: number
  /**
   * Files that no version has any more stay so long at most: then another process that was about to open them begins
   * anew.
   */
  readonly unlinkAfterMs: number
  /** They stay so long at least where all processes that are known to read have moved on. */
  readonly unlinkSoonestMs: number
  /** How often the watermarks of retention move. */
  readonly retentionEveryMs: number
  /** Bytes of the record of one request in the log at most, about: lengths in it have 32 bits. */
  readonly recordBytes: number
  /** Bytes that are set aside for changes that make room on a full disk; 0 for none. */
  readonly reserveBytes: number
}

export const ENGINE_LIMITS: EngineLimits = {
  flush: {
    points: 1_000_000,
    records: 100_000,
    changeBytes: 64 * 2 ** 20,
    ageMs: 300_000,
    idle: { points: 20_000, afterMs: 2_000 },
    packedAside: 50_000,
  },
  merge: MERGE_LIMITS,
  idleMergeAfterMs: 20_000,
  thoroughMergeEveryMs: 1_800_000,
  reclaimAfterMs: 300_000,
  mergeAsideMs: 600_000,
  cacheBytes: 64 * 2 ** 20,
  unlinkAfterMs: unlinkAfter(30),
  // A backup beside the service, which nobody knows of, begins anew where a file is gone before it is copied; so it
  // does seldom.
  unlinkSoonestMs: 10_000,
  retentionEveryMs: 60_000,
  recordBytes: 2 ** 30,
  reserveBytes: 32 * 2 ** 20,
}

/**
 * Milliseconds after which files that no version has any more go although a reader may still need them: a call that
 * began before has ended by then. An hour at most: where calls may take longer, a reader that meets one which is gone
 * begins anew.
 * @param deadlineSeconds  that a call takes at most
 */
export function unlinkAfter(deadlineSeconds: number): number {
  return Math.min(deadlineSeconds + 30, 3_600) * 1_000
}
