import { editDistance } from './edit-distance.ts'
import { FIXED_LIMITS } from './limits.ts'
import { showInput } from './show-input.ts'

/** At most so many warnings are kept for one call; what comes later adds nothing but length. */
const MAX_WARNINGS = FIXED_LIMITS.warnings.limit

/** A longer name is not compared with the known ones: no one mistypes that much. */
const MAX_COMPARED_LENGTH = 40

/**
 * What an answer of one call does not heed or does not hold: fields that are unknown or mean nothing where they stand
 * are ignored, but said, one sentence for each field and kind of place, however often it occurs; and what reads leave
 * out because of damage. At most 100 in all.
 */
export class Warnings {
  /** What reads leave out; comes before fields that are ignored. */
  readonly #damage = new Set<string>()
  /** By place and field, so that a field of many points costs one look-up each. */
  #sentences: Map<string, string> | null = null

  /**
   * Notes each field of an object that is not known there.
   * @param object any parsed JSON object
   * @param known  names as the interface writes them
   * @param place  kind of place, as it reads after "in": `the details of RAW_POINTS`; not one place of many
   * @param silent known names that are never suggested
   */
  checkFields(object: object, known: readonly string[], place: string, silent: readonly string[] = []): void {
    for (const field in object) {
      // A loop and not Object.keys: a body can bring millions of fields, and a hundred are enough.
      if (this.#sentences !== null && this.#sentences.size >= MAX_WARNINGS) return
      if (known.includes(field) || silent.includes(field) || !Object.hasOwn(object, field)) continue
      this.#sentences ??= new Map()
      const key = `${place}\0${field}`
      if (this.#sentences.has(key)) continue
      const free = known.filter((name) => !Object.hasOwn(object, name))
      this.#sentences.set(key, warning(field, nearestName(field, free), place))
    }
  }

  /**
   * Notes that a known field means nothing where it stands. @param place as in `checkFields` @param reason after
   * "since"
   */
  addUseless(field: string, place: string, reason: string): void {
    this.#sentences ??= new Map()
    if (this.#sentences.size >= MAX_WARNINGS) return
    this.#sentences.set(`${place}\0${field}`, `The field ${field} in ${place} was ignored, since ${reason}`)
  }

  /** Notes that a read leaves something out because stored data are damaged. */
  addDamage(sentence: string): void {
    if (this.#damage.size < MAX_WARNINGS) this.#damage.add(sentence)
  }

  /**
   * The sentences: first what reads leave out, then fields, each in the order of their first occurrence; empty when
   * there is nothing to say.
   */
  list(): readonly string[] {
    const fields = this.#sentences === null ? NONE : [...this.#sentences.values()]
    return this.#damage.size === 0 ? fields : [...this.#damage, ...fields].slice(0, MAX_WARNINGS)
  }
}

const NONE: readonly string[] = []

function warning(field: string, meant: string | null, place: string): string {
  const shown = field === '' ? '""' : showInput(field)
  const ignored = `Unknown field ${shown} in ${place} was ignored`
  return meant === null ? ignored : `${ignored}; ${meant} was meant?`
}

/**
 * The known name that a mistyped one most likely stands for, without regard to case; null when none is near: up to one
 * edit for every three characters, swapping two neighbours being one.
 */
export function nearestName(typed: string, known: readonly string[]): string | null {
  if (typed.length === 0 || typed.length > MAX_COMPARED_LENGTH) return null
  const wanted = typed.toLowerCase()
  let nearest: string | null = null
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) >= least) continue
    const distance = editDistance(wanted, name.toLowerCase())
    // A name of which nothing is left is not a misspelling of it: `x` for `t`.
    if (distance < least && distance < name.length) {
      least = distance
      nearest = name
    }
  }
  return nearest
}
