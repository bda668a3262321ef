import type { PointsOfTags } from './wal-record.ts'

/**
 * Times as the first one and the step of each tag, which is what a signal sampled at a fixed rate comes as: half of
 * the bytes that are written and synced, where a tag has many points.
 * @returns the first times and behind them the steps, in microseconds; `null` where the points of a tag are not equally
 * far apart, or where all times take no more room
 */
export function findRegular({ tags, offsets, points: { times } }: PointsOfTags): Float64Array | null {
  const count = tags.length
  if (2 * count >= times.length) return null
  const regular = new Float64Array(2 * count)
  for (let i = 0; i < count; i++) {
    const start = offsets[i]!
    const points = offsets[i + 1]! - start
    if (points === 0) continue
    const first = times[start]!
    const step = points > 1 ? times[start + 1]! - first : 0
    // Exactly what fillRegular makes of them.
    for (let k = 1; k < points; k++) if (times[start + k] !== first + k * step) return null
    regular[i] = first
    regular[count + i] = step
  }
  return regular
}

/** The times of tags with points from one offset to the next. @param regular  as findRegular gave them */
export function fillRegular(regular: Float64Array, offsets: Uint32Array): Float64Array {
  const count = offsets.length - 1
  const times = new Float64Array(offsets[count]!)
  for (let i = 0; i < count; i++) {
    const start = offsets[i]!
    const first = regular[i]!
    const step = regular[count + i]!
    for (let k = 0, points = offsets[i + 1]! - start; k < points; k++) times[start + k] = first + k * step
  }
  return times
}
