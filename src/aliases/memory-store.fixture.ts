import { compareNames } from '../series/tag-names.ts'
import type { Alias, AliasCheck, AliasQuery, AliasReader, AliasStore } from './store.ts'

/** Aliases in memory, for tests. */
export class MemoryAliasStore implements AliasStore, AliasReader {
  readonly #aliases = new Map<string, Alias>()

  /** @param aliases what they refer to, by name; not checked */
  constructor(aliases: Readonly<Record<string, string>> = {}) {
    for (const [name, tag] of Object.entries(aliases)) {
      this.#aliases.set(name, { name, tag, description: null, units: null })
    }
  }

  get(name: string): Alias | null {
    return this.#aliases.get(name) ?? null
  }

  list({ prefix, after, limit }: AliasQuery): readonly Alias[] {
    return [...this.#aliases.values()]
      .filter(({ name }) => name.startsWith(prefix) && (after === null || compareNames(name, after) > 0))
      .sort((a, b) => compareNames(a.name, b.name))
      .slice(0, limit)
  }

  async read<Result>(work: (aliases: AliasReader) => Result): Promise<Result> {
    return work(this)
  }

  async put(alias: Alias, check: AliasCheck): Promise<'created' | 'replaced'> {
    check(this)
    const outcome = this.#aliases.has(alias.name) ? 'replaced' : 'created'
    this.#aliases.set(alias.name, alias)
    return outcome
  }

  async delete(name: string, check: AliasCheck): Promise<boolean> {
    check(this)
    return this.#aliases.delete(name)
  }
}
