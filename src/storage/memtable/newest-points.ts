import type { PointColumns } from '../../series/columns.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'

/** Ids of a page, and slots of a chunk. */
const PAGE_BITS = 12
const PAGE = 1 << PAGE_BITS
const PAGE_MASK = PAGE - 1

/** Stands for a tag that was not asked about. */
const NO_SLOT = 0
/** After the last free slot. */
const NONE = 0

interface Chunk {
  /** Time and value of each slot; of one that is free, the number of the next free one in place of the value. */
  readonly doubles: Float64Array
  readonly statuses: Uint8Array
}

/**
 * The newest point of each tag that was asked about, wherever it is stored, by the tag's id: 17 bytes for each of them,
 * and 4 for each id beside them.
 */
export class NewestPoints {
  /** Of each id its slot or NO_SLOT, in pages that are there when one of their ids was asked about. */
  readonly #pages: (Uint32Array | undefined)[] = []
  /** Slots are numbered from 1. */
  readonly #chunks: Chunk[] = []
  /** Slots that were ever taken. */
  #taken = 0
  #free = NONE

  /** Whether it is known of a tag; `time` and `copy` may be asked then. */
  has(tag: number): boolean {
    return this.#slot(tag) !== NO_SLOT
  }

  /** -Infinity for a tag without points. */
  time(tag: number): number {
    const slot = this.#slot(tag) - 1
    return this.#chunks[slot >>> PAGE_BITS]!.doubles[2 * (slot & PAGE_MASK)]!
  }

  /** Copies the newest point of a tag that has one. */
  copy(tag: number, target: PointColumns, index: number): void {
    const slot = this.#slot(tag) - 1
    const { doubles, statuses } = this.#chunks[slot >>> PAGE_BITS]!
    const at = slot & PAGE_MASK
    target.times[index] = doubles[2 * at]!
    target.values[index] = doubles[2 * at + 1]!
    target.statuses[index] = statuses[at]!
  }

  remember(tag: number, time: number, value: number, status: number): void {
    const page = this.#page(tag)
    if (page[tag & PAGE_MASK] === NO_SLOT) page[tag & PAGE_MASK] = this.#take()
    this.#set(page[tag & PAGE_MASK]!, time, value, status)
  }

  /** To be called when it may have been taken away. */
  forget(tag: number): void {
    const slot = this.#slot(tag)
    if (slot === NO_SLOT) return
    this.#pages[tag >>> PAGE_BITS]![tag & PAGE_MASK] = NO_SLOT
    this.#set(slot, Number.NaN, this.#free, 0)
    this.#free = slot
  }

  /** Points have arrived. */
  add({ tags, offsets, points }: PointsOfTags): void {
    const { times, values, statuses } = points
    for (let i = 0; i < tags.length; i++) {
      const slot = this.#slot(tags[i]!)
      if (slot === NO_SLOT) continue
      const { doubles } = this.#chunks[(slot - 1) >>> PAGE_BITS]!
      const at = 2 * ((slot - 1) & PAGE_MASK)
      let newest = -1
      let time = doubles[at]!
      for (let from = offsets[i]!; from < offsets[i + 1]!; from++) {
        if (times[from]! < time) continue
        time = times[from]!
        newest = from
      }
      if (newest >= 0) this.#set(slot, time, values[newest]!, statuses[newest]!)
    }
  }

  #slot(tag: number): number {
    const page = this.#pages[tag >>> PAGE_BITS]
    return page === undefined ? NO_SLOT : page[tag & PAGE_MASK]!
  }

  #set(slot: number, time: number, value: number, status: number): void {
    const { doubles, statuses } = this.#chunks[(slot - 1) >>> PAGE_BITS]!
    const at = (slot - 1) & PAGE_MASK
    doubles[2 * at] = time
    doubles[2 * at + 1] = value
    statuses[at] = status
  }

  #page(tag: number): Uint32Array {
    const number = tag >>> PAGE_BITS
    // No holes: an array that has one is slower from then on.
    while (this.#pages.length <= number) this.#pages.push(undefined)
    let page = this.#pages[number]
    if (page === undefined) {
      page = new Uint32Array(PAGE)
      this.#pages[number] = page
    }
    return page
  }

  #take(): number {
    const free = this.#free
    if (free !== NONE) {
      const { doubles } = this.#chunks[(free - 1) >>> PAGE_BITS]!
      this.#free = doubles[2 * ((free - 1) & PAGE_MASK) + 1]!
      return free
    }
    if (this.#taken === this.#chunks.length * PAGE) {
      this.#chunks.push({ doubles: new Float64Array(2 * PAGE), statuses: new Uint8Array(PAGE) })
    }
    return ++this.#taken
  }
}
