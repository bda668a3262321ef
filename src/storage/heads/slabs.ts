/** Doubles of one slab: half a megabyte. */
const SLAB_DOUBLES = 65_536
/** Longer pieces get an array of their own. */
const LONGEST_PIECE = SLAB_DOUBLES / 16

/** A piece of memory: `length` doubles from `offset` on. */
export interface Piece {
  readonly doubles: Float64Array
  readonly offset: number
}

/**
 * Memory for the points of one epoch, taken from the system in slabs and given back as a whole: thousands of tags that each
 * grow little by little would leave holes everywhere, which no garbage collection fills.
 */
export class Slabs {
  #slab = new Float64Array(0)
  #used = 0

  /** So many doubles; zeros. */
  allocate(length: number): Piece {
    if (length > LONGEST_PIECE) return { doubles: new Float64Array(length), offset: 0 }
    if (this.#used + length > this.#slab.length) {
      this.#slab = new Float64Array(SLAB_DOUBLES)
      this.#used = 0
    }
    const offset = this.#used
    this.#used += length
    return { doubles: this.#slab, offset }
  }
}
