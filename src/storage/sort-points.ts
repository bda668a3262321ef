import { concatColumns, makeColumns, type PointColumns } from '../series/columns.ts'

/** Points in time order, one per timestamp: of several with the same one the last in the order given. May be the argument. */
export function sortPoints(points: PointColumns): PointColumns {
  const { times } = points
  let ascending = true
  for (let i = 1; i < times.length; i++) {
    if (!(times[i]! > times[i - 1]!)) {
      ascending = false
      break
    }
  }
  if (ascending) return points
  const order = new Uint32Array(times.length)
  for (let i = 0; i < order.length; i++) order[i] = i
  order.sort((a, b) => times[a]! - times[b]! || a - b)
  const sorted = makeColumns(times.length)
  let length = 0
  for (const index of order) {
    const time = times[index]!
    if (length > 0 && sorted.times[length - 1] === time) length--
    sorted.times[length] = time
    sorted.values[length] = points.values[index]!
    sorted.statuses[length] = points.statuses[index]!
    length++
  }
  return {
    times: sorted.times.subarray(0, length),
    values: sorted.values.subarray(0, length),
    statuses: sorted.statuses.subarray(0, length),
  }
}

/** All points of two columns in time order; where both have a timestamp, that of `over`. Both ascending and distinct. */
export function mergePoints(base: PointColumns, over: PointColumns): PointColumns {
  const baseLength = base.times.length
  const overLength = over.times.length
  if (overLength === 0) return base
  if (baseLength === 0) return over
  if (base.times[baseLength - 1]! < over.times[0]!) return concatColumns([base, over])
  if (over.times[overLength - 1]! < base.times[0]!) return concatColumns([over, base])
  const merged = makeColumns(baseLength + overLength)
  let length = 0
  let left = 0
  let right = 0
  while (left < baseLength || right < overLength) {
    const leftTime = left < baseLength ? base.times[left]! : Number.POSITIVE_INFINITY
    const rightTime = right < overLength ? over.times[right]! : Number.POSITIVE_INFINITY
    if (leftTime < rightTime) {
      merged.times[length] = leftTime
      merged.values[length] = base.values[left]!
      merged.statuses[length] = base.statuses[left]!
      left++
    } else {
      merged.times[length] = rightTime
      merged.values[length] = over.values[right]!
      merged.statuses[length] = over.statuses[right]!
      right++
      if (leftTime === rightTime) left++
    }
    length++
  }
  return {
    times: merged.times.subarray(0, length),
    values: merged.values.subarray(0, length),
    statuses: merged.statuses.subarray(0, length),
  }
}
