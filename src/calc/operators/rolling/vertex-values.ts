import { lowerBound, mergeTimes, upperBound } from '../../../series/columns.ts'
import type { Chunk } from '../../graph/chunk.ts'
import { breaksOf } from '../union.ts'
import { larger, smaller } from './folds.ts'

/**
 * The least or greatest value of a signal at each raw time of a chunk, its limit from the left there included: between
 * raw points it has no others that lie further out. Where a hold ends the signal can be at the top of a slope, too.
 * @param from, to only raw times within
 */
export function vertexValues(
  chunk: Chunk,
  extrapolationLimits: readonly number[],
  which: 'min' | 'max',
  from: number,
  to: number,
): { readonly times: Float64Array; readonly values: Float64Array } {
  const times = vertexTimes(chunk, extrapolationLimits, from, to)
  const pick = which === 'min' ? smaller : larger
  const before = chunk.valuesAt(times, 'before')
  return { times, values: ownValues(chunk, times).map((value, i) => pick(value, before[i]!)) }
}

/** Values at vertices, which mostly are raw points. */
function ownValues(chunk: Chunk, times: Float64Array): Float64Array {
  const { raw, isRightContinuous, valuesAt } = chunk
  const first = lowerBound(raw.times, times[0] ?? 0)
  const areRaw =
    raw.times[first + times.length - 1] === times.at(-1) &&
    raw.times[first] === times[0] &&
    chunk.breaks === undefined
  if (isRightContinuous !== true || !areRaw) return valuesAt(times, 'at')
  return raw.values.subarray(first, first + times.length)
}

function vertexTimes(
  chunk: Chunk,
  extrapolationLimits: readonly number[],
  from: number,
  to: number,
): Float64Array {
  const times = chunk.raw.times.subarray(lowerBound(chunk.raw.times, from), upperBound(chunk.raw.times, to))
  const ends = extrapolationLimits.filter((end) => {
    if (end < Math.max(from, chunk.from) || end >= Math.min(to + 1, chunk.to)) return false
    if (times[lowerBound(times, end)] === end) return false
    const [last, after] = chunk.valuesAt(Float64Array.of(end, end + 1), 'at')
    return !Number.isNaN(last) && Number.isNaN(after)
  })
  const { breaks } = breaksOf([chunk], from, to)
  const vertices = breaks === undefined ? times : mergeTimes(breaks, times)
  return ends.length === 0 ? vertices : mergeTimes(Float64Array.from(ends).sort(), vertices)
}
