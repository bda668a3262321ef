import { caseVariants } from './case-variants.ts'
import { FOLD } from './text-filter.ts'

/** Something that stands in the bytes of every text that matches, in UTF-8. */
export interface Needle {
  /** The first place from `from` on; -1 without one. */
  next(bytes: Buffer, from: number): number
}

/** Shorter runs of ASCII are in too many texts. */
const SHORTEST_RUN = 2
const COMMON = /[a-z0-9]/

/**
 * What to look for of a pattern in the bytes of many texts at once; `null` when looking at each text is as good. It is
 * not for opaque texts.
 * @param folded   the case-folded pattern
 * @param longest  its longest run of ASCII
 */
export function needleOf(folded: string, longest: string): Needle | null {
  if (longest.length > SHORTEST_RUN) return new RunNeedle(longest)
  const other = [...folded].find((character) => character.codePointAt(0)! > 0x7f && character.isWellFormed())
  if (other !== undefined) return new CharacterNeedle(other)
  if (longest.length === SHORTEST_RUN) return new RunNeedle(longest)
  return longest === '' || COMMON.test(longest) ? null : new CharacterNeedle(longest)
}

/** A run of ASCII in any case, by Horspool's algorithm: it mostly looks at one byte of as many as the run has. */
class RunNeedle implements Needle {
  readonly #run: Uint8Array
  /** By how much to go on when a byte stands at the place of the run's last one. */
  readonly #shifts = new Uint8Array(256)

  constructor(run: string) {
    this.#run = Buffer.from(run.slice(0, 255), 'latin1')
    const last = this.#run.length - 1
    this.#shifts.fill(this.#run.length)
    for (let byte = 0; byte < 256; byte++) {
      const place = this.#run.subarray(0, last).lastIndexOf(FOLD[byte]!)
      if (place >= 0) this.#shifts[byte] = last - place
    }
  }

  next(bytes: Buffer, from: number): number {
    const run = this.#run
    const shifts = this.#shifts
    const last = run.length - 1
    const lastByte = run[last]!
    search: for (let end = from + last; end < bytes.length; end += shifts[bytes[end]!]!) {
      if (FOLD[bytes[end]!] !== lastByte) continue
      for (let i = 0; i < last; i++) {
        if (FOLD[bytes[end - last + i]!] !== run[i]) continue search
      }
      return end - last
    }
    return -1
  }
}

/** A character in any case. */
class CharacterNeedle implements Needle {
  readonly #variants: readonly Buffer[]
  readonly #places: number[]
  #bytes: Buffer | null = null

  constructor(folded: string) {
    this.#variants = caseVariants(folded).map((variant) => Buffer.from(variant))
    this.#places = this.#variants.map(() => 0)
  }

  next(bytes: Buffer, from: number): number {
    const isNew = bytes !== this.#bytes
    this.#bytes = bytes
    let first = -1
    for (const [i, variant] of this.#variants.entries()) {
      let place = this.#places[i]!
      if (isNew || (place >= 0 && place < from)) place = bytes.indexOf(variant, from)
      this.#places[i] = place
      if (place >= 0 && (first < 0 || place < first)) first = place
    }
    return first
  }
}
