/**
 * Points in columns: one array for each of timestamp, value and status, all of the same length. Columns, not an object
 * per point, because a call moves up to a few hundred thousand points and allocating them one by one costs more than
 * all arithmetic on them.
 */
export interface PointColumns {
  /** Whole microseconds since 1970 (an Instant each); ascending unless said otherwise, distinct. */
  readonly times: Float64Array
  /** NaN where there is no value; only calculations make such points, and JSON shows null. */
  readonly values: Float64Array
  /** STATUS_OK or STATUS_BAD for each point. */
  readonly statuses: Uint8Array
}

export const STATUS_OK = 0
export const STATUS_BAD = 1
export type Status = typeof STATUS_OK | typeof STATUS_BAD

export const NO_POINTS: PointColumns = {
  times: new Float64Array(0),
  values: new Float64Array(0),
  statuses: new Uint8Array(0),
}

/** Columns of a given length: times 0, values 0, all OK. */
export function makeColumns(length: number): PointColumns {
  return {
    times: new Float64Array(length),
    values: new Float64Array(length),
    statuses: new Uint8Array(length),
  }
}

/** A view of the points with index from start (included) to end (excluded); shares memory with the original. */
export function sliceColumns(points: PointColumns, start: number, end: number): PointColumns {
  return {
    times: points.times.subarray(start, end),
    values: points.values.subarray(start, end),
    statuses: points.statuses.subarray(start, end),
  }
}

/**
 * The points one after the other; copied, unless only one part holds any.
 * @param columns gives memory with room for so many points at least, that a copy lies in
 */
export function concatColumns(
  all: readonly PointColumns[],
  columns: (count: number) => PointColumns = makeColumns,
): PointColumns {
  const parts = all.filter((part) => part.times.length > 0)
  if (parts.length === 0) return NO_POINTS
  if (parts.length === 1) return parts[0]!
  const length = parts.reduce((length, part) => length + part.times.length, 0)
  const whole = columns(length)
  let offset = 0
  for (const part of parts) {
    whole.times.set(part.times, offset)
    whole.values.set(part.values, offset)
    whole.statuses.set(part.statuses, offset)
    offset += part.times.length
  }
  return whole.times.length === length ? whole : sliceColumns(whole, 0, length)
}

/** Copies points with index from start to end into columns that have room for them, from place `at` on. */
export function copyColumns(
  target: PointColumns,
  at: number,
  { times, values, statuses }: PointColumns,
  start: number,
  end: number,
): void {
  target.times.set(times.subarray(start, end), at)
  target.values.set(values.subarray(start, end), at)
  target.statuses.set(statuses.subarray(start, end), at)
}

/** The points with these indexes, in their order. */
export function pickColumns(
  { times, values, statuses }: PointColumns,
  indexes: readonly number[],
): PointColumns {
  const picked = makeColumns(indexes.length)
  for (let i = 0; i < indexes.length; i++) {
    const index = indexes[i]!
    picked.times[i] = times[index]!
    picked.values[i] = values[index]!
    picked.statuses[i] = statuses[index]!
  }
  return picked
}

/** The points in the opposite order, copied. */
export function reverseColumns(points: PointColumns): PointColumns {
  return {
    times: points.times.slice().reverse(),
    values: points.values.slice().reverse(),
    statuses: points.statuses.slice().reverse(),
  }
}

/** Index of the first time that is not below `at`; `times` ascending. */
export function lowerBound(times: Float64Array, at: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! < at) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first time above `at`; `times` ascending. */
export function upperBound(times: Float64Array, at: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! <= at) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The same not before an index at which no later time stands than `at`: galloping search, which is fast where the
 * result is near, and no slower than the other one where it is far.
 */
export function upperBoundFrom(times: Float64Array, at: number, from: number): number {
  let low = from
  let step = 1
  while (low + step <= times.length && times[low + step - 1]! <= at) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step - 1, times.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! <= at) low = middle + 1
    else high = middle
  }
  return low
}

/** The same as `lowerBound`, not before an index before which all times are below `at`: galloping search. */
export function lowerBoundFrom(times: Float64Array, at: number, from: number): number {
  let low = from
  let step = 1
  while (low + step <= times.length && times[low + step - 1]! < at) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step - 1, times.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! < at) low = middle + 1
    else high = middle
  }
  return low
}

/** The times of both, which are ascending, each once; the first itself where they are equal or the second is empty. */
export function mergeTimes(a: Float64Array, b: Float64Array): Float64Array {
  if (b.length === 0 || (a.length === b.length && isSame(a, b))) return a
  const merged = new Float64Array(a.length + b.length)
  let i = 0
  let j = 0
  let length = 0
  while (i < a.length && j < b.length) {
    const left = a[i]!
    const right = b[j]!
    merged[length++] = left <= right ? left : right
    if (left <= right) i++
    if (right <= left) j++
  }
  while (i < a.length) merged[length++] = a[i++]!
  while (j < b.length) merged[length++] = b[j++]!
  return merged.subarray(0, length)
}

/** All times that occur, in any order, as ascending ones, each once. */
export function allTimes(columns: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(columns.reduce((length, times) => length + times.length, 0))
  let offset = 0
  for (const times of columns) {
    all.set(times, offset)
    offset += times.length
  }
  all.sort()
  let length = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[length++] = all[i]!
  return all.subarray(0, length)
}

function isSame(a: Float64Array, b: Float64Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
