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
  readonly doubles: Float64Array
  /** The same memory. */
  readonly words: Int32Array
}

interface OwnSlab extends Slab {
  /** Cells that were never taken begin here. */
  fresh: number
  /** The cell that was given back last; each has the one that was given back before it as its next one. */
  free: number
  used: number
}

/**
 * Memory for the points in memory of many tags, in cells of a few points. Tags have lists of cells, each cell naming
 * the next one. What one tag gives back the next one takes: memory that comes free by the garbage collector comes free
 * late, and thousands of tags that each grow little by little would leave holes everywhere, which no garbage collection
 * fills.
 *
 * Cells are taken from the first slab that has one, so that after a flood the last slabs run empty.
 */
export class Cells {
  /** `null` where a slab was given back to the system. */
  readonly #slabs: (OwnSlab | null)[] = []
  /** No slab before this one has room. */
  #room = 0
  #empty = 0
  /** Fewest empty slabs at any time since the last `trim`. */
  #spare = 0
  #used = 0

  /** Cells that are taken. */
  get used(): number {
    return this.#used
  }

  /** Bytes that are held, used or not. */
  get bytes(): number {
    let slabs = 0
    for (const slab of this.#slabs) if (slab !== null) slabs++
    return slabs * SLAB_CELLS * CELL_DOUBLES * 8
  }

  /** A cell without a next one, all of whose points are OK; their times and values may be anything. */
  take(): number {
    while (this.#slabs[this.#room]?.used === SLAB_CELLS) this.#room++
    let slab = this.#slabs[this.#room]
    if (slab == null) {
      slab = makeSlab()
      this.#slabs[this.#room] = slab
    } else if (slab.used === 0) {
      this.#empty--
      if (this.#empty < this.#spare) this.#spare = this.#empty
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
      if (slab.used === 0) this.#empty++
      if (index < this.#room) this.#room = index
      cell = next
    }
  }

  /**
   * Gives those slabs back to the system that were empty all the time since the last call, and all when nothing is
   * used.
   */
  trim(): void {
    let surplus = this.#used === 0 ? this.#empty : this.#spare
    for (let index = this.#slabs.length - 1; index >= 0 && surplus > 0; index--) {
      if (this.#slabs[index]?.used !== 0) continue
      this.#slabs[index] = null
      this.#empty--
      surplus--
    }
    while (this.#slabs.length > 0 && this.#slabs.at(-1) === null) this.#slabs.pop()
    this.#spare = this.#empty
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
