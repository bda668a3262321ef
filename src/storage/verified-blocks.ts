/** A power of two. */
const PLACES = 1 << 17
/** Spreads tags with the same points over the places: 2^32 divided by the golden ratio, odd. */
const SPREAD = 0x9e3779b1

/**
 * Blocks that were verified lately, by tag and checksum, one megabyte of them at the most. Each has two places where it can stand, and
 * pushes out what stood there longer; a map would take ten times the memory and be full of small objects. With the tag, since two tags
 * that have the same points have the same checksums, and only one of them may be sound.
 */
export class VerifiedBlocks {
  readonly #checksums = new Uint32Array(PLACES)
  readonly #tags = new Uint32Array(PLACES)

  /**
   * @param tag number of the tag, a whole number of 32 bits without sign
   * @param checksum of the block, likewise; 0 is never remembered
   */
  has(tag: number, checksum: number): boolean {
    const place = placeOf(tag, checksum)
    return checksum !== 0 && (this.#isAt(place, tag, checksum) || this.#isAt(place ^ 1, tag, checksum))
  }

  add(tag: number, checksum: number): void {
    if (this.has(tag, checksum)) return
    const place = placeOf(tag, checksum)
    this.#checksums[place ^ 1] = this.#checksums[place]!
    this.#tags[place ^ 1] = this.#tags[place]!
    this.#checksums[place] = checksum
    this.#tags[place] = tag
  }

  clear(): void {
    this.#checksums.fill(0)
  }

  #isAt(place: number, tag: number, checksum: number): boolean {
    return this.#checksums[place] === checksum && this.#tags[place] === tag
  }
}

function placeOf(tag: number, checksum: number): number {
  return (checksum ^ Math.imul(tag, SPREAD)) & (PLACES - 1)
}
