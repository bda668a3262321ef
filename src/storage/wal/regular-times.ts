import { NUMBERS_OF_STEP } from './steps.ts'
import type { PointsOfTags } from './wal-record.ts'

/** Whether the first times and steps of tags take less room than all times. */
export function mayBeRegular({ tags, points }: PointsOfTags): boolean {
  return 2 * tags.length < points.times.length
}

/**
 * Times as the first one and the step of each tag, which is what a signal sampled at a fixed rate comes as: half of
 * the bytes that are written and synced, where a tag has many points. In steps where they are many.
 * @returns the first times and behind them the steps, in microseconds; `null` where the points of a tag are not equally
 * far apart
 */
export function* findRegular({
  tags,
  offsets,
  points: { times },
}: PointsOfTags): Generator<void, Float64Array | null> {
  const count = tags.length
  const regular = new Float64Array(2 * count)
  let looked = 0
  for (let i = 0; i < count; i++) {
    const start = offsets[i]!
    const end = offsets[i + 1]!
    if (start === end) continue
    const first = times[start]!
    const step = end - start > 1 ? times[start + 1]! - first : 0
    for (let from = start; from < end; from += NUMBERS_OF_STEP) {
      const to = Math.min(end, from + NUMBERS_OF_STEP)
      if (!areRegular(times, start, from, to, step)) return null
      looked += to - from
      if (looked < NUMBERS_OF_STEP) continue
      looked = 0
      yield
    }
    regular[i] = first
    regular[count + i] = step
  }
  return regular
}

/** Whether times with index [from, to) are exactly what fillRegular makes of them. @param start  of their tag */
function areRegular(times: Float64Array, start: number, from: number, to: number, step: number): boolean {
  const first = times[start]!
  for (let i = from; i < to; i++) if (times[i] !== first + (i - start) * step) return false
  return true
}

/**
 * The times of tags with points from one offset to the next, in steps where they are many.
 * @param regular  as findRegular gave them
 */
export function* fillRegular(regular: Float64Array, offsets: Uint32Array): Generator<void, Float64Array> {
  const count = offsets.length - 1
  const times = new Float64Array(offsets[count]!)
  let filled = 0
  for (let i = 0; i < count; i++) {
    const start = offsets[i]!
    const end = offsets[i + 1]!
    const first = regular[i]!
    const step = regular[count + i]!
    for (let from = start; from < end; from += NUMBERS_OF_STEP) {
      const to = Math.min(end, from + NUMBERS_OF_STEP)
      for (let k = from; k < to; k++) times[k] = first + (k - start) * step
      filled += to - from
      if (filled < NUMBERS_OF_STEP) continue
      filled = 0
      yield
    }
  }
  return times
}
