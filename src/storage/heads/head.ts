import {
  lowerBound,
  makeColumns,
  type PointColumns,
  STATUS_BAD,
  STATUS_OK,
  upperBound,
} from '../../series/columns.ts'
import { mergePoints, sortPoints } from '../sort-points.ts'
import { LatePoints } from './late-points.ts'
import type { Slabs } from './slabs.ts'

const LEAST_CAPACITY = 16

/**
 * Points of one tag in memory, that grow as points arrive. Points that are newer than all before are added at the end; others wait
 * and are merged when somebody looks. What was given out is never changed: it can be read on while points arrive.
 */
export class Head {
  /** Points that arrived, of which several may have the same time. */
  arrived = 0
  /** Index of the first point that is still here. */
  #first = 0
  #length = 0
  #last = Number.NEGATIVE_INFINITY
  readonly #slabs: Slabs
  /** Where the times begin and, `#capacity` behind them, the values. */
  #doubles: Float64Array
  #offset: number
  #capacity: number
  /** `null` as long as all points are OK. */
  #statuses: Uint8Array | null = null
  /** `null` as long as all points came in order. */
  #late: LatePoints | null = null
  #columns: PointColumns | null = null

  /**
   * @param slabs     memory of the epoch that the points belong to
   * @param expected  points that will probably come: growing leaves room unused
   */
  constructor(slabs: Slabs, expected = 0) {
    this.#slabs = slabs
    this.#capacity = Math.max(LEAST_CAPACITY, expected)
    const { doubles, offset } = slabs.allocate(2 * this.#capacity)
    this.#doubles = doubles
    this.#offset = offset
  }

  /** Adds points with index from start to end, in any order; a later one replaces an earlier one of the same time. */
  add(points: PointColumns, start: number, end: number): void {
    const { times, values, statuses } = points
    this.arrived += end - start
    this.#columns = null
    if (this.#length + end - start > this.#capacity) this.#reserve(this.#length + end - start)
    let last = this.#last
    let length = this.#length
    const doubles = this.#doubles
    const toTimes = this.#offset
    const toValues = toTimes + this.#capacity
    for (let i = start; i < end; i++) {
      const time = times[i]!
      if (!(time > last)) {
        this.#last = last
        this.#length = length
        i = this.#addLate(points, i, end) - 1
        continue
      }
      doubles[toTimes + length] = time
      doubles[toValues + length] = values[i]!
      const status = statuses[i]!
      if (status !== STATUS_OK) this.#makeStatuses()[length] = status
      last = time
      length++
    }
    this.#last = last
    this.#length = length
  }

  /** Points that are not newer than the last one, from index `start` on; gives where they end. */
  #addLate(points: PointColumns, start: number, end: number): number {
    let stop = start + 1
    while (stop < end && !(points.times[stop]! > this.#last)) stop++
    this.#late ??= new LatePoints()
    this.#late.add(points, start, stop)
    return stop
  }

  /** The points in time order, one per time. Not to be changed; stays as it is when more arrive. */
  columns(): PointColumns {
    if (this.#columns === null) {
      if (this.#late !== null) this.#mergeLate(this.#late)
      this.#columns = this.#inOrder()
    }
    return this.#columns
  }

  /** Takes points up to a time (included) away, when no others will come. */
  dropUntil(time: number): void {
    this.#first += upperBound(this.columns().times, time)
    this.#columns = null
  }

  /** The points that came in order. */
  #inOrder(): PointColumns {
    const first = this.#first
    const length = this.#length
    const times = this.#offset
    const values = times + this.#capacity
    return {
      times: this.#doubles.subarray(times + first, times + length),
      values: this.#doubles.subarray(values + first, values + length),
      statuses: this.#statuses === null ? allOk(length - first) : this.#statuses.subarray(first, length),
    }
  }

  /** Takes points of [from, to) away. */
  remove(from: number, to: number): void {
    const { times, values, statuses } = this.columns()
    const start = lowerBound(times, from)
    const end = lowerBound(times, to)
    if (start === end) return
    const kept = makeColumns(times.length - (end - start))
    kept.times.set(times.subarray(0, start))
    kept.times.set(times.subarray(end), start)
    kept.values.set(values.subarray(0, start))
    kept.values.set(values.subarray(end), start)
    kept.statuses.set(statuses.subarray(0, start))
    kept.statuses.set(statuses.subarray(end), start)
    this.#take(kept)
  }

  /** Points that are late replace those that were in their place when they came. */
  #mergeLate(late: LatePoints): void {
    this.#take(mergePoints(this.#inOrder(), sortPoints(late.columns())))
  }

  /** Goes on with these points, copied. */
  #take({ times, values, statuses }: PointColumns): void {
    const length = times.length
    this.#capacity = Math.max(LEAST_CAPACITY, Math.ceil(length * 1.25))
    // Memory of its own: after the next late point it is replaced, and nothing in a slab is used again.
    this.#doubles = new Float64Array(2 * this.#capacity)
    this.#offset = 0
    this.#doubles.set(times)
    this.#doubles.set(values, this.#capacity)
    this.#statuses = null
    this.#first = 0
    this.#length = length
    if (statuses.includes(STATUS_BAD)) this.#makeStatuses().set(statuses)
    this.#last = length === 0 ? Number.NEGATIVE_INFINITY : times[length - 1]!
    this.#late = null
    this.#columns = null
  }

  #reserve(needed: number): void {
    const capacity = Math.max(needed, this.#capacity * 2)
    const doubles = this.#doubles
    const times = this.#offset
    const values = times + this.#capacity
    this.#allocate(capacity)
    this.#doubles.set(doubles.subarray(times, times + this.#length), this.#offset)
    this.#doubles.set(doubles.subarray(values, values + this.#length), this.#offset + capacity)
    if (this.#statuses === null) return
    const statuses = new Uint8Array(capacity)
    statuses.set(this.#statuses.subarray(0, this.#length))
    this.#statuses = statuses
  }

  #allocate(capacity: number): void {
    const { doubles, offset } = this.#slabs.allocate(2 * capacity)
    this.#doubles = doubles
    this.#offset = offset
    this.#capacity = capacity
  }

  #makeStatuses(): Uint8Array {
    this.#statuses ??= new Uint8Array(this.#capacity)
    return this.#statuses
  }
}

let ok = new Uint8Array(1024)

/** So many statuses that are all OK; shared, not to be changed. */
function allOk(length: number): Uint8Array {
  if (length > ok.length) ok = new Uint8Array(length * 2)
  return ok.subarray(0, length)
}
