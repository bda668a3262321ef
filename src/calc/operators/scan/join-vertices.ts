import { upperBound } from '../../../series/columns.ts'
import { type EdgePoint, valueBetween } from '../../../series/interpolate.ts'
import type { Instant } from '../../../time/instant.ts'
import type { Limit } from '../../graph/chunk.ts'

/** Vertices of a signal; a value of NaN ends it until the next one. */
export interface Vertices {
  /** Ascending, distinct. */
  readonly times: Float64Array
  readonly values: Float64Array
}

/**
 * Values of a signal from its vertices; as valuesFromPoints of src/series, but a vertex without a value ends the
 * signal.
 * @param prev the vertex before all others, @param next the one after them; `null` when there is none
 */
export function joinVertices(
  vertices: Vertices,
  prev: EdgePoint | null,
  next: EdgePoint | null,
  times: Float64Array,
  { stepped, holdUntil }: { readonly stepped: boolean; readonly holdUntil: Instant },
  limit: Limit,
): Float64Array {
  const { times: ownTimes, values: ownValues } = vertices
  const count = ownTimes.length
  const values = new Float64Array(times.length)
  const late = limit === 'before' ? 1 : 0
  let passed = times.length === 0 ? 0 : upperBound(ownTimes, times[0]! - late)
  // No objects: filters inside each other do this for each time on each level.
  for (let i = 0; i < times.length; i++) {
    const at = times[i]!
    const last = at - late
    while (passed < count && ownTimes[passed]! <= last) passed++
    const isBeyond = passed === count && next !== null && next.time <= last
    const isFirst = passed === 0
    const isLast = passed === count
    // A time of NaN is no vertex.
    const beforeTime = isBeyond ? next.time : isFirst ? (prev?.time ?? Number.NaN) : ownTimes[passed - 1]!
    const beforeValue = isBeyond ? next.value : isFirst ? (prev?.value ?? Number.NaN) : ownValues[passed - 1]!
    const afterTime = isBeyond ? Number.NaN : isLast ? (next?.time ?? Number.NaN) : ownTimes[passed]!
    if (!(beforeTime <= last)) values[i] = Number.NaN
    else if (beforeTime === at) values[i] = beforeValue
    else if (Number.isNaN(afterTime)) values[i] = at <= holdUntil ? beforeValue : Number.NaN
    else if (stepped) values[i] = beforeValue
    else {
      const afterValue = isLast ? next!.value : ownValues[passed]!
      values[i] = valueBetween(at, beforeTime, beforeValue, afterTime, afterValue)
    }
  }
  return values
}
