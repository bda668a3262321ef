/** Points of one cell: a tag that gets one point at a time leaves half of them unused on average. */
export const CELL_POINTS = 8
/** Doubles of a cell: what belongs to it, the times and the values. */
const CELL_DOUBLES = 1 + 2 * CELL_POINTS
const CELLS_BITS = 11
const SLAB_CELLS = 1 << CELLS_BITS

/** No cell. */
export const NO_CELL = -1

/** Cells that were taken from the system together: 278 kB. */
export interface Slab {
  readonly doubles: Float64Array<ArrayBuffer>
  /** The same memory. */
  readonly words: Int32Array
}

/** A slab as `Cells` have it. */
export interface OwnSlab extends Slab {
  /** Cells that were never taken begin here. */
  fresh: number
  /** The cell that was given back last; each has the one that was given back before it as its next one. */
  free: number
  used: number
}

/**
 * Slabs stay for so many generations without being needed. How many two generations need together depends on how long
 * the flush of one takes, which differs; what is made anew in its place has V8 mark the whole heap after a few flushes.
 */
const KEPT_GENERATIONS = 4

/**
 * Slabs that generations of points use one after the other: memory that comes free by the garbage collector comes free
 * late.
 */
export class CellSlabs {
  readonly #kept: OwnSlab[] = []
  /** Fewest kept slabs at any time since the last `giveBack`. */
  #spare = 0
  /** The same of the generations before. */
  #spares: readonly number[] = []
  #taken = 0

  /** Bytes that are held, used or not. */
  get bytes(): number {
    return (this.#taken + this.#kept.length) * SLAB_CELLS * CELL_DOUBLES * 8
  }

  take(): OwnSlab {
    this.#taken++
    const slab = this.#kept.pop()
    if (slab === undefined) return makeSlab()
    if (this.#kept.length < this.#spare) this.#spare = this.#kept.length
    return slab
  }

  /**
   * Takes slabs back, of which nobody uses a cell any more. Those that were kept all the time for some calls go to the
   * system.
   * @param isLast  whether nothing is in memory any more, so that all go: a generation may have points and no cell yet
   */
  giveBack(slabs: readonly OwnSlab[], isLast: boolean): void {
    this.#taken -= slabs.length
    const spares = [...this.#spares, this.#spare].slice(-KEPT_GENERATIONS)
    const unused = spares.length < KEPT_GENERATIONS ? 0 : Math.min(...spares)
    this.#kept.splice(0, unused)
    this.#spares = spares.map((spare) => spare - unused)
    for (const slab of slabs) {
      slab.fresh = 0
      slab.free = NO_CELL
      slab.used = 0
      this.#kept.push(slab)
    }
    if (isLast) {
      // Freed at once: the garbage collector might come only much later, as its own heap hardly grows by this.
      for (const { doubles } of this.#kept) doubles.buffer.transfer(0)
      this.#kept.length = 0
    }
    this.#spare = this.#kept.length
  }
}

/**
 * Memory for the points in memory of many tags, in cells of a few points. Tags have lists of cells, each cell naming
 * the next one. What one tag gives back the next one takes: thousands of tags that each grow little by little would
 * leave holes everywhere otherwise, which no garbage collection fills.
 *
 * The cells of a generation are in slabs of its own, so that all of them are given back without a look at each.
 */
export class Cells {
  readonly #pool: CellSlabs
  #slabs: OwnSlab[] = []
  /** No slab before this one has room. */
  #room = 0
  #used = 0

  constructor(pool = new CellSlabs()) {
    this.#pool = pool
  }

  /** Cells that are taken. */
  get used(): number {
    return this.#used
  }

  /** A cell without a next one, all of whose points are OK; their times and values may be anything. */
  take(): number {
    while (this.#slabs[this.#room]?.used === SLAB_CELLS) this.#room++
    let slab = this.#slabs[this.#room]
    if (slab === undefined) {
      slab = this.#pool.take()
      this.#slabs.push(slab)
    }
    let cell = slab.free
    if (cell === NO_CELL) cell = (this.#room << CELLS_BITS) + slab.fresh++
    else slab.free = slab.words[nextWord(cell)]!
    slab.used++
    this.#used++
    slab.words[nextWord(cell)] = NO_CELL
    slab.words[badWord(cell)] = 0
    return cell
  }

  /** Gives a cell and all that come after it in its list back. */
  giveBack(first: number): void {
    for (let cell = first; cell !== NO_CELL; ) {
      const index = cell >> CELLS_BITS
      const slab = this.#slabs[index]!
      const next = slab.words[nextWord(cell)]!
      slab.words[nextWord(cell)] = slab.free
      slab.free = cell
      slab.used--
      this.#used--
      if (index < this.#room) this.#room = index
      cell = next
    }
  }

  /** Gives all cells back, whichever are taken. @param isLast  whether there are no other points */
  release(isLast: boolean): void {
    this.#pool.giveBack(this.#slabs, isLast)
    this.#slabs = []
    this.#room = 0
    this.#used = 0
  }

  /** Where a cell lies. */
  slabOf(cell: number): Slab {
    return this.#slabs[cell >> CELLS_BITS]!
  }
}

/** Place of the first time of a cell in its slab's doubles; the others follow, then as many values. */
export function firstDouble(cell: number): number {
  return (cell & (SLAB_CELLS - 1)) * CELL_DOUBLES + 1
}

/** Place in its slab's words of the cell that comes after it in its list, or NO_CELL. */
export function nextWord(cell: number): number {
  return (cell & (SLAB_CELLS - 1)) * CELL_DOUBLES * 2
}

/** Place in its slab's words of the points of a cell that are BAD, a bit each. */
export function badWord(cell: number): number {
  return nextWord(cell) + 1
}

function makeSlab(): OwnSlab {
  const doubles = new Float64Array(SLAB_CELLS * CELL_DOUBLES)
  return { doubles, words: new Int32Array(doubles.buffer), fresh: 0, free: NO_CELL, used: 0 }
}
