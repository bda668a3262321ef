import { type Candidate, cheapest } from './candidate.ts'
import type { PlanMerge } from './merge.ts'

/** The largest layer of a merge has at most this share of its bytes: what is merged grows by half at least. */
const LARGEST_SHARE = 0.5
/**
 * More layers are merged, however unequal they are, where the outcome is no larger than this share of the largest part.
 * With up to five layers some 60 flushes are written four times each, 500 seven times: how many parts there are does
 * not grow with them. Backfills are written a little more often than with layers of about the same size alone.
 */
const MOST_LAYERS = 5
const LARGEST_CAPPED = 0.5
/** Bytes of headers that make a merge of what does not overlap worth it then, as a share of all of its bytes. */
const JOINED_SHARE = 0.1
/** The largest layer of such a merge has at most this share: each byte is written a few times. */
const JOINED_LARGEST = 0.75
/** Overlapping bytes that make a merge worth it when there is nothing else to do, as a share of all of its bytes. */
const IDLE_SHARE = 0.12
/**
 * The same, of a merge that is made seldom. A few points that are missing among many at the same steps cost more than
 * they take themselves: without 2 percent of them times are irregular, and the others take 1.12 times their bytes,
 * without 8 percent 1.25 times.
 */
const THOROUGH_SHARE = 0.02

/**
 * Size-tiered: takes adjacent ones of about the same size, or of any where there are many, and of all that could be
 * merged those that cost the fewest bytes for each layer that goes. What overlaps in time is merged in the order of
 * sequence numbers with nothing left out; what does not overlap is merged as long as it would not be cut apart again.
 */
export const planMerge: PlanMerge = (parts, limits, excluded) =>
  cheapest(parts, limits, excluded, (candidate) => {
    const { bytes } = candidate
    const layers = candidate.layers()
    const isEven = layers.size >= limits.fanIn && Math.max(...layers.values()) <= LARGEST_SHARE * bytes
    const areMany = layers.size > MOST_LAYERS && bytes <= LARGEST_CAPPED * limits.largestBytes
    return isEven || areMany ? bytes / (layers.size - 1) : Number.POSITIVE_INFINITY
  })

/**
 * For when nothing was flushed for some time: takes what lies over each other in time, however few layers there are and
 * of whatever sizes, as long as that is a good part of it. Points that came in random order take up to twice the room
 * in several layers that they take in one. What does not overlap is merged where the headers and summaries of its runs
 * take much of it: tags with some hundred points in each layer.
 */
export const planIdleMerge: PlanMerge = planOverlaps(IDLE_SHARE)

/** For once in a long time when nothing was flushed: the same where much less lies over the rest. */
export const planThoroughMerge: PlanMerge = planOverlaps(THOROUGH_SHARE)

/** @param share  bytes that overlap, of all bytes of a merge, at least */
function planOverlaps(share: number): PlanMerge {
  return (parts, limits, excluded) =>
    cheapest(parts, limits, excluded, (candidate) => {
      const overlapping = candidate.overlappingBytes()
      const joined = joinedBytes(candidate)
      const isWorth = overlapping >= share * candidate.bytes || joined >= JOINED_SHARE * candidate.bytes
      // As much as can be at once: what is merged step by step is written several times.
      return isWorth ? 1 / (overlapping + joined) : Number.POSITIVE_INFINITY
    })
}

/**
 * Bytes that go where runs of the same tags follow each other in one part; 0 where the merge might be cut apart again,
 * so that idle merging comes to an end, and where one layer has so much that it would be written for little.
 */
function joinedBytes(candidate: Candidate): number {
  if (!candidate.isOneOutput || Math.max(...candidate.layers().values()) > JOINED_LARGEST * candidate.bytes) {
    return 0
  }
  return candidate.runBytes()
}
