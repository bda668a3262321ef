/** Names of the fields of long objects that were read in cuts, in their order. */
const known = new WeakMap<object, readonly string[]>()

/**
 * As Object.keys of a JSON object that was not changed since it was read. Listing 200,000 fields anew would hold up the
 * event loop for some sixty milliseconds.
 */
export function fieldNames(object: object): readonly string[] {
  return known.get(object) ?? Object.keys(object)
}

/** Collects the names of an object while it is read. */
export class FieldNames {
  readonly #object: object
  readonly #names: string[] = []
  #isOrdered = true

  constructor(object: object) {
    this.#object = object
  }

  /** To be called before the object gets the field. */
  add(name: string): void {
    if (!this.#isOrdered || Object.hasOwn(this.#object, name)) return
    const first = name.charCodeAt(0)
    // Whole numbers stand before all other names, wherever they were in the text.
    if (first >= 48 && first <= 57) this.#isOrdered = false
    else this.#names.push(name)
  }

  /** To be called when the object is whole. */
  done(): void {
    if (this.#isOrdered) known.set(this.#object, this.#names)
  }
}
