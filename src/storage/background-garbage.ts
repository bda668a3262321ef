import { collectGarbage } from '../scheduling/garbage-collector.ts'

/**
 * Bytes outside of its heap that a background thread may leave when it is done. Packing leaves 2 to 3 MB and a merge 3
 * to 4, as their memory is used again.
 */
const MOST_LEFT = 16 << 20

/**
 * Collects the garbage of a background thread that is done, where it has left much: its heap is small, and V8 would
 * leave a hundred megabytes beside it until it needs more. Not always, since helper threads of V8, which have the
 * priority of answers, take the processors beside a collection for some milliseconds.
 */
export function collectWhereMuchIsLeft(
  leftBytes: () => number = () => process.memoryUsage().arrayBuffers,
  collect: () => void = () => collectGarbage('major'),
): void {
  if (leftBytes() > MOST_LEFT) collect()
}
