import { makeColumns, STATUS_OK } from '../../series/columns.ts'
import { isGap, valueBeside, valueBetween } from '../../series/interpolate.ts'
import type { SignalShape } from '../../series/reads.ts'
import type { BlockView } from './block.ts'
import { CHUNK_POINTS, type ChunkHead, decodeChunk, type Memory, openChunk } from './chunk.ts'
import { DecimalWalk } from './decimal-walk.ts'
import { PackedWalk } from './packed-walk.ts'
import { decodeTimes, TIMES } from './time-codec.ts'
import { decodeValues, VALUES } from './value-codec.ts'
import { ByteReader } from './varint.ts'

/** Points in memory: good ones alone when statuses are null. */
interface Points {
  readonly times: Float64Array
  readonly values: Float64Array
  readonly statuses: Uint8Array | null
}

/** What is unpacked of the chunk in hand. */
const unpacked = makeColumns(CHUNK_POINTS)
const unpackedGood: Points = { ...unpacked, statuses: null }
const reader = new ByteReader()
const decimalWalk = new DecimalWalk()
const packedWalk = new PackedWalk()

type Walk = Pick<DecimalWalk, 'valueAt'>

/** Picks values from those at which the reader stands, where that is cheaper than unpacking all; otherwise `null`. */
function walkOf({ valueMode, decimals, count }: ChunkHead): Walk | null {
  if (valueMode === VALUES.decimals && decimalWalk.open(reader, decimals)) return decimalWalk
  if (valueMode === VALUES.packed && packedWalk.open(reader, decimals, count)) return packedWalk
  return null
}

/**
 * Values of a signal at ascending times, worked out from blocks that come in time order. Of a compressed block only the
 * chunks are looked into that have points on both sides of a time; of those, only the values beside a time are made.
 * Values between chunks come from their summaries, and regular times are found by arithmetic.
 */
export class SignalFill {
  /** One for each time. */
  readonly values: Float64Array
  readonly #times: Float64Array
  readonly #shape: SignalShape
  /** Index of the first time without a value. */
  #next = 0

  constructor(times: Float64Array, shape: SignalShape) {
    this.#times = times
    this.#shape = shape
    this.values = new Float64Array(times.length)
  }

  get isDone(): boolean {
    return this.#next === this.#times.length
  }

  /** The first time without a value. */
  get at(): number {
    return this.#times[this.#next]!
  }

  /** Takes the next value from the good points beside its time: `last` before it, and `next` at or after it. */
  takeBoundingValues(beside: {
    readonly lastTime: number
    readonly lastValue: number
    readonly nextTime: number
    readonly nextValue: number
  }): void {
    const { at } = this
    const { nextTime, nextValue } = beside
    const isAt = nextTime === at
    this.values[this.#next++] = valueBeside(
      at,
      isAt ? nextTime : beside.lastTime,
      isAt ? nextValue : beside.lastValue,
      nextTime,
      nextValue,
      this.#shape,
    )
  }

  /**
   * Takes the next values as far as their times lie between the first and the last good point of a block, these
   * included; false when that is none. Throws Damage.
   */
  takeBlock(view: BlockView): boolean {
    const start = this.#next
    if (!view.isAllBad && this.at <= view.lastTime) {
      if (view.chunkCount === 0) this.#takePoints(view.plainView(), view.count)
      else this.#takeChunks(view)
    }
    return this.#next > start
  }

  #takeChunks(view: BlockView): void {
    const { chunkCount } = view
    let chunk = chunkCount - 1
    while (chunk > 0 && view.chunkFirstTime(chunk) > this.at) chunk--
    let zoneMap = view.chunkZoneMap(chunk)
    while (chunk > 0 && !(zoneMap.firstGoodTime <= this.at)) zoneMap = view.chunkZoneMap(--chunk)
    let beforeTime = Number.NaN
    let beforeValue = Number.NaN
    for (;;) {
      const { firstGoodTime, lastGoodTime } = zoneMap
      if (zoneMap.numGood > 0) {
        if (this.at < firstGoodTime) {
          if (Number.isNaN(beforeTime)) return
          this.#takeBetween(beforeTime, beforeValue, firstGoodTime, zoneMap.first)
          if (this.isDone) return
        }
        if (this.at <= lastGoodTime) {
          this.#takeChunk(view.memory, view.chunkAt(chunk))
          if (this.isDone) return
        }
        beforeTime = lastGoodTime
        beforeValue = zoneMap.last
      }
      if (++chunk === chunkCount || this.at > view.lastTime) return
      zoneMap = view.chunkZoneMap(chunk)
    }
  }

  /** Times before the second of two good points that follow each other. */
  #takeBetween(time1: number, value1: number, time2: number, value2: number): void {
    const times = this.#times
    let next = this.#next
    for (; next < times.length && times[next]! < time2; next++) {
      this.values[next] = valueBeside(times[next]!, time1, value1, time2, value2, this.#shape)
    }
    this.#next = next
  }

  /** The next time lies between the first and the last good point of the chunk. */
  #takeChunk(memory: Memory, at: number): void {
    const head = openChunk(memory, at, reader)
    const { count } = head
    if (head.hasStatuses) {
      decodeChunk(memory, at, unpacked, 0)
      this.#takePoints(unpacked, count)
      return
    }
    const isRegular = head.timeMode === TIMES.regular && count > 1
    if (!isRegular) decodeTimes(reader, head.timeMode, head.firstTime, head.step, count, unpacked.times, 0)
    const walk = walkOf(head)
    if (walk !== null) {
      if (isRegular) this.#takeRegular(head, walk)
      else this.#takeWalked(count, walk)
      return
    }
    if (isRegular) decodeTimes(reader, head.timeMode, head.firstTime, head.step, count, unpacked.times, 0)
    decodeValues(reader, head.valueMode, head.decimals, count, unpacked.values, 0)
    reader.finish()
    this.#takePoints(unpackedGood, count)
  }

  /** From a chunk with the same step between its points. */
  #takeRegular({ firstTime, step, count }: ChunkHead, walk: Walk): void {
    const times = this.#times
    const { stepped } = this.#shape
    const lastTime = firstTime + (count - 1) * step
    let next = this.#next
    for (; next < times.length; next++) {
      const at = times[next]!
      if (at > lastTime) break
      let index = Math.min(count - 1, Math.floor((at - firstTime) / step))
      // Times far apart have a difference that is rounded.
      if (index > 0 && firstTime + index * step > at) index--
      else if (firstTime + (index + 1) * step <= at) index++
      const time = firstTime + index * step
      const value = walk.valueAt(index)
      if (time !== at && isGap(at, time, time + step, this.#shape)) this.values[next] = Number.NaN
      else if (stepped || time === at) this.values[next] = value
      else {
        const nextTime = firstTime + (index + 1) * step
        this.values[next] = valueBetween(at, time, value, nextTime, walk.valueAt(index + 1))
      }
    }
    this.#next = next
  }

  /** From a chunk whose times are unpacked. */
  #takeWalked(count: number, walk: Walk): void {
    const times = this.#times
    const from = unpacked.times
    const { stepped } = this.#shape
    const lastTime = from[count - 1]!
    let next = this.#next
    let index = 0
    for (; next < times.length; next++) {
      const at = times[next]!
      if (at > lastTime) break
      index = lastNotAfter(from, index, count, at)
      const time = from[index]!
      const value = walk.valueAt(index)
      if (time !== at && isGap(at, time, from[index + 1]!, this.#shape)) this.values[next] = Number.NaN
      else
        this.values[next] =
          stepped || time === at
            ? value
            : valueBetween(at, time, value, from[index + 1]!, walk.valueAt(index + 1))
    }
    this.#next = next
  }

  /** From the first `count` points of columns, as far as there are good ones on both sides. */
  #takePoints({ times: from, values, statuses }: Points, count: number): void {
    let first = 0
    let last = count - 1
    if (statuses !== null) {
      while (first <= last && statuses[first] !== STATUS_OK) first++
      while (last > first && statuses[last] !== STATUS_OK) last--
    }
    const times = this.#times
    let next = this.#next
    if (first > last || times[next]! < from[first]!) return
    const { stepped } = this.#shape
    const lastTime = from[last]!
    let index = first
    // Good points beside the time in hand.
    let before = first
    let after = first
    for (; next < times.length; next++) {
      const at = times[next]!
      if (at > lastTime) break
      index = lastNotAfter(from, index, count, at)
      if (index >= after) {
        before = index
        if (statuses !== null) while (before > first && statuses[before] !== STATUS_OK) before--
        after = index
        if (from[before] !== at) {
          after++
          if (statuses !== null) while (after < last && statuses[after] !== STATUS_OK) after++
        }
      }
      const time = from[before]!
      if (time !== at && isGap(at, time, from[after]!, this.#shape)) this.values[next] = Number.NaN
      else
        this.values[next] =
          stepped || time === at
            ? values[before]!
            : valueBetween(at, time, values[before]!, from[after]!, values[after]!)
    }
    this.#next = next
  }
}

/** Index of the last time that is not after `at`; that of `start` is not, and the search looks near it first. */
function lastNotAfter(times: Float64Array, start: number, count: number, at: number): number {
  let low = start
  let step = 1
  while (low + step < count && times[low + step]! <= at) {
    low += step
    step *= 2
  }
  let high = Math.min(count, low + step)
  while (low + 1 < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! <= at) low = middle
    else high = middle
  }
  return low
}
