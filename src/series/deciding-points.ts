import { lowerBound, type PointColumns, pickColumns } from './columns.ts'
import { isGood } from './interpolate.ts'
import type { Comparisons } from './reads.ts'

/** Place of a point without a good value. */
const NOWHERE = -1

/**
 * Points whose signal compares with each threshold as that of all points does, at all times: without those that lie
 * between the same thresholds, or on the same one, as the points on both sides of them. What is left stands as close as
 * `maxGapUs` wherever all points did. BAD points, those beside them, the first point and the last one stay.
 * @param points ascending or descending, of a stepped signal or a linear one
 */
export function decidingPoints(points: PointColumns, { thresholds, maxGapUs }: Comparisons): PointColumns {
  const { times } = points
  const length = times.length
  if (length < 3) return points
  const places = placesOf(points, thresholds)
  const kept: number[] = []
  let keptTime = Number.NaN
  for (let i = 0; i < length; i++) {
    const place = places[i]!
    const isInside = i > 0 && i + 1 < length && place !== NOWHERE
    const isBetween = isInside && places[i - 1] === place && places[i + 1] === place
    if (isBetween && (maxGapUs === undefined || Math.abs(times[i + 1]! - keptTime) <= maxGapUs)) continue
    kept.push(i)
    keptTime = times[i]!
  }
  return kept.length === length ? points : pickColumns(points, kept)
}

/** Where each value lies: an even number between two thresholds, an odd one on one of them. */
function placesOf(points: PointColumns, thresholds: readonly number[]): Int32Array {
  const sorted = Float64Array.from(thresholds).sort()
  return Int32Array.from(points.values, (value, i) => {
    if (!isGood(points, i)) return NOWHERE
    const index = lowerBound(sorted, value)
    return 2 * index + Number(sorted[index] === value)
  })
}
