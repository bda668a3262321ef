import type { TagStates } from '../series/optional-metadata.ts'
import { FixedText } from './json-bytes.ts'

/** Names of the values of a tag, as JSON: `null` of a value without one. BAD points have them, too. */
export class StateNames {
  readonly #states: TagStates
  /** By the values that were met. */
  readonly #texts = new Map<number, string>()
  /** Of OK and of BAD points, by the texts of names. */
  readonly #ends = [new Map<string, FixedText>(), new Map<string, FixedText>()] as const

  constructor(states: TagStates) {
    this.#states = states
  }

  /** `{"0":"Closed","1":"Open"}` */
  get dictionary(): string {
    return JSON.stringify(this.#states)
  }

  textOf(value: number): string {
    const known = this.#texts.get(value)
    if (known !== undefined) return known
    // -0 is written as 0, too.
    const key = String(value)
    if (!Object.hasOwn(this.#states, key)) return 'null'
    const name = JSON.stringify(this.#states[key])
    this.#texts.set(value, name)
    return name
  }

  /** What follows the value in a row. */
  rowEnd(value: number, isOk: boolean): FixedText {
    const name = this.textOf(value)
    return this.#ends[isOk ? 0 : 1].getOrInsertComputed(
      name,
      () => new FixedText(`,"status":"${isOk ? 'OK' : 'BAD'}","enumString":${name}}`),
    )
  }
}
