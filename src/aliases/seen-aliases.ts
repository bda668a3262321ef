import type { Alias, AliasReader } from './store.ts'

/** Aliases over several reads of a store: each stays what it was when it was first seen, whatever has changed. */
export class SeenAliases implements Pick<AliasReader, 'get'> {
  readonly #seen = new Map<string, Alias | null>()
  #reader: AliasReader | null = null

  /** Those that were not seen yet come from this state from now on, while its call lasts. */
  readFrom(reader: AliasReader): void {
    this.#reader = reader
  }

  /** Adds an alias of the present state; gives it as it was first seen. */
  add(alias: Alias): Alias {
    const known = this.#seen.get(alias.name)
    if (known) return known
    this.#seen.set(alias.name, alias)
    return alias
  }

  get(name: string): Alias | null {
    let alias = this.#seen.get(name)
    if (alias === undefined) {
      alias = this.#reader!.get(name)
      this.#seen.set(name, alias)
    }
    return alias
  }
}
