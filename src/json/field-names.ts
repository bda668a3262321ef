const NO_NUMBER = Number.POSITIVE_INFINITY

/**
 * Names of the fields of a long object that was read in cuts, in their order. A field of the object itself: what a
 * WeakMap holds is marked by the collector of garbage in one go.
 */
const NAMES = Symbol('names')

/**
 * As Object.keys of a JSON object that was not changed since it was read. Listing 200,000 fields anew would hold up the
 * event loop for some sixty milliseconds.
 */
export function fieldNames(object: object): readonly string[] {
  return (object as { readonly [NAMES]?: readonly string[] })[NAMES] ?? Object.keys(object)
}

/** Collects the names of an object while it is read. */
export class FieldNames {
  readonly #object: object
  readonly #names: string[] = []
  #isOrdered = true
  /** The last name so far where all are whole numbers in their order; -1 for none, NO_NUMBER where others have come. */
  #lastNumber = -1

  constructor(object: object) {
    this.#object = object
  }

  /** To be called before the object gets the field. */
  add(name: string): void {
    if (!this.#isOrdered || Object.hasOwn(this.#object, name)) return
    const number = wholeNumber(name)
    // Whole numbers stand before all other names, the lower ones first, wherever they were in the text.
    if (number !== NO_NUMBER && number <= this.#lastNumber) this.#isOrdered = false
    else {
      this.#lastNumber = number
      this.#names.push(name)
    }
  }

  /** To be called when the object is whole. */
  done(): void {
    if (this.#isOrdered) Object.defineProperty(this.#object, NAMES, { value: this.#names })
  }
}

/** The number of a name that is an array index, as the language knows one; NO_NUMBER for any other. */
function wholeNumber(name: string): number {
  if (name.length === 0 || name.length > 10 || (name.length > 1 && name.startsWith('0'))) return NO_NUMBER
  let number = 0
  for (let at = 0; at < name.length; at++) {
    const digit = name.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return NO_NUMBER
    number = 10 * number + digit
  }
  return number < 2 ** 32 - 1 ? number : NO_NUMBER
}
