/** A power of two. */
const PLACES = 1 << 17

/**
 * Checksums of blocks that were verified lately, half a megabyte of them at the most. Each has two places where it can stand, and pushes
 * out what stood there longer; a map would take ten times the memory and be full of small objects.
 */
export class VerifiedBlocks {
  readonly #checksums = new Uint32Array(PLACES)

  /** @param checksum  a whole number of 32 bits, without sign; 0 is never remembered */
  has(checksum: number): boolean {
    const place = checksum & (PLACES - 1)
    const checksums = this.#checksums
    return checksum !== 0 && (checksums[place] === checksum || checksums[place ^ 1] === checksum)
  }

  add(checksum: number): void {
    if (this.has(checksum)) return
    const place = checksum & (PLACES - 1)
    this.#checksums[place ^ 1] = this.#checksums[place]!
    this.#checksums[place] = checksum
  }

  clear(): void {
    this.#checksums.fill(0)
  }
}
