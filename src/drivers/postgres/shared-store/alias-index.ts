import type { Alias, AliasQuery, AliasReader } from '../../../aliases/store.ts'
import { compareNames } from '../../../series/tag-names.ts'

/** Which state of the aliases something is of. */
export interface AliasState {
  /** Of the tables: another one counts its changes anew. */
  readonly identity: string
  /** The number of the last change. */
  readonly change: number
}

/** A change of one alias: what it is now, `null` when it was deleted. */
export interface AliasChange {
  readonly name: string
  readonly alias: Alias | null
}

/**
 * All aliases in memory, in the newest state that was seen: `expand` and its like look at many of them without waiting.
 */
export class AliasIndex implements AliasReader {
  #state: AliasState = { identity: '', change: -1 }
  #aliases = new Map<string, Alias>()
  /** In code point order. */
  #names: string[] = []

  get state(): AliasState {
    return this.#state
  }

  /** Takes a whole state, whatever is here, with the aliases in the order of their names. */
  replace(state: AliasState, aliases: readonly Alias[]): void {
    this.#aliases = new Map(aliases.map((alias) => [alias.name, alias]))
    this.#names = aliases.map(({ name }) => name)
    this.#state = state
  }

  /** Takes what changed since an earlier state; left when that is older than what is here. */
  apply(state: AliasState, changes: readonly AliasChange[]): void {
    if (state.identity !== this.#state.identity || state.change <= this.#state.change) return
    for (const { name, alias } of changes) {
      const place = this.#placeOf(name)
      const isThere = this.#names[place] === name
      if (alias === null) {
        this.#aliases.delete(name)
        if (isThere) this.#names.splice(place, 1)
      } else {
        this.#aliases.set(name, alias)
        if (!isThere) this.#names.splice(place, 0, name)
      }
    }
    this.#state = state
  }

  get(name: string): Alias | null {
    return this.#aliases.get(name) ?? null
  }

  list({ prefix, after, limit }: AliasQuery): readonly Alias[] {
    let place = this.#placeOf(after !== null && compareNames(after, prefix) > 0 ? after : prefix)
    if (after !== null && this.#names[place] === after) place++
    const found: Alias[] = []
    for (; place < this.#names.length && found.length < limit; place++) {
      const name = this.#names[place]!
      if (!name.startsWith(prefix)) break
      found.push(this.#aliases.get(name)!)
    }
    return found
  }

  /** The place of the first name that is not before this one. */
  #placeOf(name: string): number {
    let low = 0
    let high = this.#names.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareNames(this.#names[middle]!, name) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
