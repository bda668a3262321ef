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
export function decidingPoints(points: PointColumns, compared: Comparisons): PointColumns {
  if (points.times.length < 3) return points
  const kept: number[] = []
  eachDeciding(points, compared, (i) => kept.push(i))
  return kept.length === points.times.length ? points : pickColumns(points, kept)
}

/** How many points `decidingPoints` gives. */
export function countDeciding(points: PointColumns, compared: Comparisons): number {
  if (points.times.length < 3) return points.times.length
  let count = 0
  eachDeciding(points, compared, () => count++)
  return count
}

function eachDeciding(
  points: PointColumns,
  { thresholds, maxGapUs }: Comparisons,
  take: (index: number) => void,
): void {
  const { times } = points
  const length = times.length
  const places = placesOf(points, thresholds)
  let keptTime = Number.NaN
  for (let i = 0; i < length; i++) {
    const place = places[i]!
    const isInside = i > 0 && i + 1 < length && place !== NOWHERE
    const isBetween = isInside && places[i - 1] === place && places[i + 1] === place
    if (isBetween && (maxGapUs === undefined || Math.abs(times[i + 1]! - keptTime) <= maxGapUs)) continue
    take(i)
    keptTime = times[i]!
  }
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
