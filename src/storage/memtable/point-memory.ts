import { CellSlabs, Cells } from './cells.ts'

/** Doubles of the memory that is worth keeping, at least: less is taken from the system as fast. */
const LEAST_KEPT = 32_768
/** Doubles of all that is kept at most: 32 MB, a generation's points and what they grew through. */
const MOST_KEPT = 4 * 2 ** 20
/** Capacities, in points: with few of them what one tag grew out of is what another one grows into. */
const CAPACITIES = [2_048, 4_096, 8_192, 16_384, 65_536, 262_144, 1_114_112]

interface Kept {
  readonly doubles: Float64Array<ArrayBuffer>
  /** Whether it was here already at the last `trim`. */
  isOld: boolean
}

/**
 * Memory for the points of tags that have many, used again: that of one generation's points for those of the next
 * one. Left to the garbage collector it would have it run after every few requests of a backfill.
 */
export class LongMemory {
  readonly #kept: Kept[] = []
  #keptDoubles = 0

  /** Doubles that are kept for later. */
  get kept(): number {
    return this.#keptDoubles
  }

  /**
   * Memory for twice as many doubles as points, or more, whatever they are. Memory of the system's that is not written
   * to costs nothing.
   */
  take(points: number): Float64Array<ArrayBuffer> {
    const capacity = CAPACITIES.find((size) => size >= points) ?? 2 * points
    const at = this.#kept.findLastIndex(({ doubles }) => doubles.length === 2 * capacity)
    if (at < 0) return new Float64Array(2 * capacity)
    const [kept] = this.#kept.splice(at, 1)
    this.#keptDoubles -= kept!.doubles.length
    return kept!.doubles
  }

  /** Takes memory back that nobody looks at any more; what was kept longest makes room for it, and is gone. */
  giveBack(doubles: Float64Array<ArrayBuffer>): void {
    if (doubles.length < LEAST_KEPT || doubles.length > MOST_KEPT) return
    this.#kept.push({ doubles, isOld: false })
    this.#keptDoubles += doubles.length
    while (this.#keptDoubles > MOST_KEPT) this.#drop()
  }

  /** Lets go of what nobody took since the last call. */
  trim(): void {
    while (this.#kept[0]?.isOld === true) this.#drop()
    for (const kept of this.#kept) kept.isOld = true
  }

  /** Lets go of all. */
  clear(): void {
    while (this.#kept.length > 0) this.#drop()
  }

  #drop(): void {
    const { doubles } = this.#kept.shift()!
    this.#keptDoubles -= doubles.length
    // Freed at once: the garbage collector might come only much later, as its own heap hardly grows by this.
    doubles.buffer.transfer(0)
  }
}

/** The memory of a generation of points: its cells, and what generations share. */
export class PointMemory {
  readonly cells: Cells
  readonly long: LongMemory

  constructor(slabs = new CellSlabs(), long = new LongMemory()) {
    this.cells = new Cells(slabs)
    this.long = long
  }
}
