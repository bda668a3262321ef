import type { PartInfo } from '../parts/part.ts'
import type { TombstoneColumns } from '../parts/tombstone-columns.ts'
import type { Expired } from './expired.ts'

/** How merging is tuned; tests use small numbers. */
export interface MergeLimits {
  /**
   * A partition (a calendar month, UTC; a quarter, a year, ten or a hundred years where months hold less) is cut out of
   * those adjacent to it only where it holds more bytes than this.
   */
  readonly partitionBytes: number
  /** Parts of about the same size that are merged together. */
  readonly fanIn: number
  /** Files that are never merged into larger ones. */
  readonly largestBytes: number
}

export const MERGE_LIMITS: MergeLimits = {
  partitionBytes: 64 * 2 ** 20,
  fanIn: 4,
  largestBytes: 2 ** 30,
}

/**
 * Parts that are to become others. They are adjacent: no other part that overlaps the span of their times has numbers
 * between their lowest and their highest one, so that what is newest stays newest.
 */
export interface MergePlan {
  readonly inputs: readonly PartInfo[]
}

/**
 * Chooses what to merge next; `null` for nothing. A pure function of what there is, cheap enough to be asked after each
 * flush.
 */
export type PlanMerge = (
  parts: readonly PartInfo[],
  limits: MergeLimits,
  /** Names of parts that must be left alone: damaged ones. */
  excluded: ReadonlySet<string>,
) => MergePlan | null

/** What a merge works on; all of it can be sent to another thread. */
export interface MergeOrder {
  /** Folder of the parts. */
  readonly folder: string
  readonly inputs: readonly PartInfo[]
  /** Other parts of the same version: a tombstone stays while one of them is older and has points that it covers. */
  readonly others: readonly PartInfo[]
  /** Tombstones of those others, which may cover points of the inputs. */
  readonly tombstones: readonly TombstoneColumns[]
  /** What retention has removed; `null` for nothing. */
  readonly expired: Expired | null
  /** The outputs are called `<namePrefix><number>.part`, numbers from `firstNumber` on, at most MOST_OUTPUTS. */
  readonly namePrefix: string
  readonly firstNumber: number
  readonly limits: MergeLimits
}

/** No merge makes more files. */
export const MOST_OUTPUTS = 1_000

export interface MergeResult {
  /**
   * Complete and synced; all have the numbers of the inputs from the lowest to the highest, and do not overlap in time.
   */
  readonly added: readonly PartInfo[]
}

/** Merges on a thread of its own. One at a time. */
export interface Merger {
  /**
   * Rejects with Damage or InputUnreadable and `part`, the name of the input that cannot be read; with the system's
   * error; or with the signal's reason. Nothing is left of the outputs then.
   */
  merge(order: MergeOrder, signal: AbortSignal): Promise<MergeResult>
  close(): Promise<void>
}
