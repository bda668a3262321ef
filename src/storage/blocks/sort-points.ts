import { concatColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { joinRuns } from './join-runs.ts'
import { SortMemory } from './sort-memory.ts'

/** Times over years have no place beside an index in a double, those in milliseconds do. */
const US_PER_MS = 1_000

/**
 * Points in time order, one per timestamp: of several with the same one the last in the order given. May be the
 * argument.
 * @param given  memory that the result lies in, valid until it is used again; memory of its own when left out
 */
export function sortPoints(points: PointColumns, given: SortMemory | null = null): PointColumns {
  return isAscending(points.times) ? points : sortAll([points], given ?? new SortMemory())
}

/** The same of the points of some columns, one after the other. */
export function sortAll(all: readonly PointColumns[], memory: SortMemory): PointColumns {
  return joinRuns(all, (count) => memory.columns(count)) ?? sortAnew(concatColumns(all), memory)
}

function isAscending(times: Float64Array): boolean {
  for (let i = 1; i < times.length; i++) if (!(times[i]! > times[i - 1]!)) return false
  return true
}

function sortAnew(points: PointColumns, memory: SortMemory): PointColumns {
  const { times } = points
  const order = orderOf(times, memory)
  const sorted = memory.columns(times.length)
  let length = 0
  for (let i = 0; i < order.length; i++) {
    const index = order[i]!
    const time = times[index]!
    if (length > 0 && sorted.times[length - 1] === time) length--
    sorted.times[length] = time
    sorted.values[length] = points.values[index]!
    sorted.statuses[length] = points.statuses[index]!
    length++
  }
  return sliceColumns(sorted, 0, length)
}

/** Indexes of times in ascending order; equal ones in the order given. */
function orderOf(times: Float64Array, memory: SortMemory): Uint32Array {
  const order = memory.order(times.length)
  const keys = keysOf(times, memory)
  if (keys === null) {
    for (let i = 0; i < order.length; i++) order[i] = i
    return order.sort((a, b) => times[a]! - times[b]! || a - b)
  }
  const scale = scaleOf(times.length)
  keys.sort()
  for (let i = 0; i < order.length; i++) {
    const key = keys[i]!
    order[i] = key - Math.floor(key / scale) * scale
  }
  return order
}

/**
 * Numbers that sort as the times do and have the index in them: without a function that compares, sorting takes a third
 * of the time. `null` where they are too large to be whole.
 */
function keysOf(times: Float64Array, memory: SortMemory): Float64Array | null {
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (let i = 0; i < times.length; i++) {
    const time = times[i]!
    if (time < first) first = time
    if (time > last) last = time
  }
  const scale = scaleOf(times.length)
  const isLong = (last - first + 1) * scale > Number.MAX_SAFE_INTEGER
  const unit = isLong ? US_PER_MS : 1
  if (((last - first) / unit + 1) * scale > Number.MAX_SAFE_INTEGER) return null
  const keys = memory.keys(times.length)
  for (let i = 0; i < keys.length; i++) {
    const units = (times[i]! - first) / unit
    if (Math.floor(units) !== units) return null
    keys[i] = units * scale + i
  }
  return keys
}

/** A power of two above all indexes of an array. */
function scaleOf(length: number): number {
  return 2 ** (32 - Math.clz32(length))
}
