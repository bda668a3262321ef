import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { BlockSummaries, MEMORY_BLOCK_POINTS, type SummedColumns } from './block-summaries.ts'
import type { LongMemory } from './point-memory.ts'

/** Points of one tag in time order in memory of their own. What was given out stays as it is while points are added. */
export class LongPoints {
  length = 0
  readonly #memory: LongMemory
  /** The times and, `#capacity` behind them, the values. */
  #doubles: Float64Array<ArrayBuffer>
  #capacity: number
  /** `null` as long as all points are OK. */
  #statuses: Uint8Array | null = null
  /** Whether somebody may still look at the doubles when they are not needed here any more. */
  #isGivenOut = false
  /** How many copy them now. */
  #pins = 0
  #summaries: BlockSummaries | null = null

  /** @param capacity  points that there is room for at first, at least one */
  constructor(memory: LongMemory, capacity: number) {
    this.#memory = memory
    this.#doubles = memory.take(capacity)
    this.#capacity = this.#doubles.length / 2
  }

  /** Makes room for so many in all. */
  reserve(needed: number): void {
    if (needed <= this.#capacity) return
    const { times, values } = this.lend()
    const doubles = this.#memory.take(Math.max(needed, this.#capacity + 1))
    const capacity = doubles.length / 2
    doubles.set(times)
    doubles.set(values, capacity)
    this.release()
    this.#doubles = doubles
    this.#capacity = capacity
    this.#isGivenOut = false
    if (this.#statuses === null) return
    const statuses = new Uint8Array(capacity)
    statuses.set(this.#statuses.subarray(0, this.length))
    this.#statuses = statuses
  }

  /** Gives the memory to whoever needs it next, unless somebody may look at it; nothing is asked of this any more. */
  release(): void {
    if (!this.#isGivenOut && this.#pins === 0) this.#memory.giveBack(this.#doubles)
  }

  /**
   * Adds points as long as each is newer than the one before; there is room for them.
   * @param last  time of the point before
   * @returns     index of the first one that was not added
   */
  addNewer({ times, values, statuses }: PointColumns, start: number, end: number, last: number): number {
    const doubles = this.#doubles
    let length = this.length
    let index = start
    for (; index < end; index++) {
      const time = times[index]!
      if (!(time > last)) break
      doubles[length] = time
      doubles[this.#capacity + length] = values[index]!
      const status = statuses[index]!
      if (status !== STATUS_OK) this.#makeStatuses()[length] = status
      last = time
      length++
    }
    this.length = length
    return index
  }

  /** Makes these points those that it holds, which has none yet; there is room for them. */
  set({ times, values, statuses }: PointColumns): void {
    this.#doubles.set(times)
    this.#doubles.set(values, this.#capacity)
    if (statuses.includes(STATUS_BAD)) this.#makeStatuses().set(statuses)
    this.length = times.length
  }

  /**
   * Where the caller writes its first points, whose number is `length` then.
   * @param count   most of them; there is room for so many
   * @param hasBad  whether one of them may be BAD
   */
  room(count: number, hasBad: boolean): PointColumns {
    return {
      times: this.#doubles.subarray(0, count),
      values: this.#doubles.subarray(this.#capacity, this.#capacity + count),
      statuses: hasBad ? this.#makeStatuses() : new Uint8Array(count),
    }
  }

  /** The points; shared, not to be changed. They stay as they are for ever. */
  giveOut(): SummedColumns {
    this.#isGivenOut = true
    if (this.length < MEMORY_BLOCK_POINTS) return this.lend()
    this.#summaries ??= new BlockSummaries()
    return { ...this.lend(), summaries: this.#summaries }
  }

  /** The same, until points are added or this is released. */
  lend(): PointColumns {
    const { length } = this
    return {
      times: this.#doubles.subarray(0, length),
      values: this.#doubles.subarray(this.#capacity, this.#capacity + length),
      statuses: this.#statuses === null ? allOk(length) : this.#statuses.subarray(0, length),
    }
  }

  /** The same until `unpin`, whatever becomes of this; nothing is added meanwhile. */
  pin(): PointColumns {
    this.#pins++
    return this.lend()
  }

  unpin(): void {
    this.#pins--
  }

  #makeStatuses(): Uint8Array {
    this.#statuses ??= new Uint8Array(this.#capacity)
    return this.#statuses
  }
}

let ok = new Uint8Array(1024)

/** So many statuses that are all OK; shared, not to be changed. */
export function allOk(length: number): Uint8Array {
  if (length > ok.length) ok = new Uint8Array(length * 2)
  return ok.subarray(0, length)
}
