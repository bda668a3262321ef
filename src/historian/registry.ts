import type { Historian } from './contract.ts'

/**
 * The historians that one caller can see. A historian that a key may not see is simply not here, so that no code behind
 * this interface can tell it from one that does not exist.
 */
export interface HistorianView {
  find(name: string): Historian | null
  /** Sorted by name in code unit order. */
  list(): readonly Historian[]
}

/** All configured historians by name. */
export class HistorianRegistry implements HistorianView {
  readonly #byName: ReadonlyMap<string, Historian>
  readonly #sorted: readonly Historian[]

  constructor(historians: readonly Historian[]) {
    this.#sorted = historians.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#byName = new Map(this.#sorted.map((historian) => [historian.name, historian]))
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
    return new HistorianRegistry(this.#sorted.filter((historian) => names.includes(historian.name)))
  }
}
