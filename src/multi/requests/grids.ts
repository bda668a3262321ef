/**
 * The times of one call's answers, each grid once: labels with the same one share an array, which is then looked at
 * once to find equal reads. Made only after the limits allowed as many times.
 */
export class Grids {
  readonly #made = new Map<string, Float64Array>()

  /** @param name equal only for equal times. The array is not to be changed */
  times(name: string, make: () => Float64Array): Float64Array {
    return this.#made.getOrInsertComputed(name, make)
  }
}
