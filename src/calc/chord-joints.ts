import { lowerBound, upperBound } from '../series/columns.ts'
import type { Chords } from './chords.ts'

/** One after the other: each up to the first knot of the next. */
export function joinChords(parts: readonly Chords[]): Chords {
  if (parts.length === 1) return parts[0]!
  const kept = parts.map(({ times }, i) => {
    const next = parts[i + 1]
    return next === undefined ? times.length : lowerBound(times, next.times[0]!)
  })
  const length = kept.reduce((sum, count) => sum + count, 0)
  const whole = {
    times: new Float64Array(length),
    at: new Float64Array(length),
    before: new Float64Array(length),
    kinds: new Uint8Array(length),
  }
  let offset = 0
  parts.forEach(({ times, at, before, kinds }, i) => {
    const end = kept[i]!
    whole.times.set(times.subarray(0, end), offset)
    whole.at.set(at.subarray(0, end), offset)
    whole.before.set(before.subarray(0, end), offset)
    whole.kinds.set(kinds.subarray(0, end), offset)
    // What comes from the left at a joint is known best by those that come from there.
    const last = parts[i - 1]
    const joint = kept[i - 1]!
    if (last !== undefined && last.times[joint] === times[0]) whole.before[offset] = last.before[joint]!
    offset += end
  })
  return whole
}

/** Without the chords that end before an instant. */
export function dropChords({ times, at, before, kinds }: Chords, instant: number): Chords {
  const first = Math.max(0, upperBound(times, instant) - 1)
  return {
    times: times.subarray(first),
    at: at.subarray(first),
    before: before.subarray(first),
    kinds: kinds.subarray(first),
  }
}
