import { lowerBound, upperBound } from '../../series/columns.ts'

/**
 * A signal as integrals take it: linear from (times[k], at[k]) to (times[k + 1], before[k + 1]), where `before` is the
 * limit from the left. Where either end is NaN the signal has no value in between.
 */
export interface Segments {
  /** Ascending, distinct; at least 2. */
  readonly times: Float64Array
  readonly at: Float64Array
  readonly before: Float64Array
  readonly kinds: Uint8Array
}

/** One after the other, ascending: each up to the first vertex of the next. */
export function joinSegments(parts: readonly Segments[]): Segments {
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
    // The limit from the left where two parts meet is that of the earlier one.
    const last = parts[i - 1]
    const shared = kept[i - 1]!
    if (last !== undefined && last.times[shared] === times[0]) whole.before[offset] = last.before[shared]!
    offset += end
  })
  return whole
}

/** Without the segments that end before an instant, or start after another one; shares memory. */
export function segmentsWithin(
  { times, at, before, kinds }: Segments,
  from: number,
  to = Number.POSITIVE_INFINITY,
): Segments {
  const [first, end] = [Math.max(0, upperBound(times, from) - 1), lowerBound(times, to) + 1]
  return {
    times: times.subarray(first, end),
    at: at.subarray(first, end),
    before: before.subarray(first, end),
    kinds: kinds.subarray(first, end),
  }
}

/** One vertex, in memory of its own: a reader that waits with it keeps nothing of what it was taken from. */
export function vertexOf({ times, at, before, kinds }: Segments, index: number): Segments {
  return {
    times: Float64Array.of(times[index]!),
    at: Float64Array.of(at[index]!),
    before: Float64Array.of(before[index]!),
    kinds: Uint8Array.of(kinds[index]!),
  }
}
