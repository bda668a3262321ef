import { type Issue, issue, showInput } from '../errors/tidemark-error.ts'
import type { TagStates } from '../series/optional-metadata.ts'
import { inputIssue, type TagName } from './target.ts'

/** Names that an issue lists; a tag may have 200, and a request 1,000 issues. */
const MOST_LISTED = 20

/**
 * Names of states in place of values. A tag's states are looked up only when a request has texts as values: it is read
 * without them first, and once more where they make a difference.
 */
export class StateNames {
  readonly #statesByAddress: ReadonlyMap<string, TagStates>
  readonly #valuesByAddress = new Map<string, ReadonlyMap<string, number>>()
  /** Tags with texts as values whose states are not known. */
  readonly unknown = new Map<string, TagName>()

  constructor(statesByAddress: ReadonlyMap<string, TagStates> = new Map()) {
    this.#statesByAddress = statesByAddress
  }

  /** The value that a name stands for; `null` where it is none of the tag's. */
  valueOf(text: string, name: TagName): number | null {
    const values = this.#valuesOf(name.address)
    if (values === null) this.unknown.set(name.address, name)
    return values?.get(text) ?? null
  }

  /** What is wrong with a value. @param index of the point */
  issueOf(value: unknown, name: TagName, index: number): Issue {
    const { address, historian, tag } = name
    const states = this.#statesByAddress.get(address)
    if (states === undefined || typeof value !== 'string')
      return inputIssue('INVALID_VALUE', value, name, index)
    const shown = showInput(value)
    const values = { input: shown, historian, tag, names: listed(Object.values(states)) }
    return issue('INVALID_STATE', values, { tag: address, index, input: shown })
  }

  #valuesOf(address: string): ReadonlyMap<string, number> | null {
    const states = this.#statesByAddress.get(address)
    if (states === undefined) return null
    let values = this.#valuesByAddress.get(address)
    if (values === undefined) {
      values = new Map(Object.entries(states).map(([value, name]) => [name, Number(value)]))
      this.#valuesByAddress.set(address, values)
    }
    return values
  }
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_LISTED
  return names.slice(0, MOST_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
