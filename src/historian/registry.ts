import type { Historian } from './contract.ts'
import type { VisibleAliases } from './visible-aliases.ts'

/**
 * The historians that one caller can see. A historian that a key may not see is simply not here, so that no code behind
 * this interface can tell it from one that does not exist.
 */
export interface HistorianView {
  find(name: string): Historian | null
  /** Sorted by name in code unit order. */
  list(): readonly Historian[]
  /** Whether these are all historians there are: nothing is hidden from this caller. */
  readonly seesAll: boolean
  /** What the caller sees of the aliases; `null` where none are kept. */
  readonly aliases: VisibleAliases | null
}

/** Makes what a caller sees of the aliases, given the historians that the caller sees. */
export type AliasesFor = (historians: HistorianView) => VisibleAliases

/** All configured historians by name. */
export class HistorianRegistry implements HistorianView {
  readonly #byName: ReadonlyMap<string, Historian>
  readonly #sorted: readonly Historian[]
  readonly #aliasesFor: AliasesFor | null
  readonly seesAll: boolean
  readonly aliases: VisibleAliases | null

  constructor(historians: readonly Historian[], aliasesFor: AliasesFor | null = null, seesAll = true) {
    this.#sorted = historians.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#byName = new Map(this.#sorted.map((historian) => [historian.name, historian]))
    this.#aliasesFor = aliasesFor
    this.seesAll = seesAll
    this.aliases = aliasesFor?.(this) ?? null
  }

  find(name: string): Historian | null {
    return this.#byName.get(name) ?? null
  }

  list(): readonly Historian[] {
    return this.#sorted
  }

  /** What a key with this list of historians sees; `null` is a key without a list, which sees all. */
  viewFor(names: readonly string[] | null): HistorianView {
    if (names === null) return this
    const seen = this.#sorted.filter((historian) => names.includes(historian.name))
    return new HistorianRegistry(seen, this.#aliasesFor, false)
  }
}
