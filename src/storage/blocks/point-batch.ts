import { copyColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'

/** Points of a batch. */
const BATCH_POINTS = 65_536
/** Entries of a batch: tags mostly have more than one point each when many are packed. */
const BATCH_ENTRIES = 32_768
const BATCH_BYTES = BATCH_POINTS * (8 + 8 + 1) + BATCH_ENTRIES * (4 + 4)

/**
 * Points of some tags in memory that two threads share: one fills it, the other one reads it. Each entry has points of
 * one tag in the order in which they came, so that of several with the same time the last one counts.
 */
export class PointBatch {
  readonly buffer: SharedArrayBuffer
  readonly columns: PointColumns
  readonly #tags: Uint32Array
  /** Up to where the points of each entry go. */
  readonly #ends: Uint32Array
  #entries = 0
  #points = 0

  /** @param buffer, entries  of a batch that another thread filled; a new one when left out */
  constructor(buffer = new SharedArrayBuffer(BATCH_BYTES), entries = 0) {
    this.buffer = buffer
    this.columns = {
      times: new Float64Array(buffer, 0, BATCH_POINTS),
      values: new Float64Array(buffer, 8 * BATCH_POINTS, BATCH_POINTS),
      statuses: new Uint8Array(buffer, 16 * BATCH_POINTS, BATCH_POINTS),
    }
    this.#tags = new Uint32Array(buffer, 17 * BATCH_POINTS, BATCH_ENTRIES)
    this.#ends = new Uint32Array(buffer, 17 * BATCH_POINTS + 4 * BATCH_ENTRIES, BATCH_ENTRIES)
    this.#entries = entries
    this.#points = entries === 0 ? 0 : this.#ends[entries - 1]!
  }

  get entries(): number {
    return this.#entries
  }

  get points(): number {
    return this.#points
  }

  /** How many more points an entry may have; 0 when there is no room for any. */
  get room(): number {
    return this.#entries === BATCH_ENTRIES ? 0 : BATCH_POINTS - this.#points
  }

  clear(): void {
    this.#entries = 0
    this.#points = 0
  }

  /** Takes points with index from start to end, copied, as they are. There is room for them. */
  add(points: PointColumns, start: number, end: number): void {
    copyColumns(this.columns, this.take(end - start), points, start, end)
  }

  /** Room for so many points, which the caller fills: gives the place of the first one in `columns`. */
  take(count: number): number {
    const at = this.#points
    this.#points = at + count
    return at
  }

  /** Has the points since the last entry be those of a tag. */
  endEntry(tag: number): void {
    this.#tags[this.#entries] = tag
    this.#ends[this.#entries++] = this.#points
  }

  tagOf(entry: number): number {
    return this.#tags[entry]!
  }

  /** The points of an entry; they share the batch's memory. */
  pointsOf(entry: number): PointColumns {
    return sliceColumns(this.columns, entry === 0 ? 0 : this.#ends[entry - 1]!, this.#ends[entry]!)
  }
}
