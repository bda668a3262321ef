import type { Alias, AliasCheck, AliasQuery, AliasReader, AliasStore } from '../aliases/store.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { type Bytes, type Root, reasonOf, type Store } from './environment.ts'

/**
 * Aliases in lmdb: the name as UTF-8 → tag, description and units as JSON. Nothing is remembered: a look-up reads the newest
 * state, so that what another process changed counts from the next turn of the event loop on. Changes are transactions, of
 * which lmdb lets one run at a time among all processes.
 */
export class LmdbAliasStore implements AliasStore {
  readonly #root: Root
  readonly #aliases: Store
  readonly #reader: AliasReader

  constructor(root: Root, aliases: Store) {
    this.#root = root
    this.#aliases = aliases
    this.#reader = {
      get: (name) => this.#get(name),
      list: (query) => this.#list(query),
    }
  }

  async read<Result>(work: (aliases: AliasReader) => Result): Promise<Result> {
    return work(this.#reader)
  }

  async put(alias: Alias, check: AliasCheck): Promise<'created' | 'replaced'> {
    const key = keyOf(alias.name)
    return this.#change(check, () => {
      const outcome = this.#aliases.doesExist(key) ? 'replaced' : 'created'
      this.#aliases.put(key, recordOf(alias))
      return outcome
    })
  }

  async delete(name: string, check: AliasCheck): Promise<boolean> {
    const key = keyOf(name)
    return this.#change(check, () => {
      if (!this.#aliases.doesExist(key)) return false
      this.#aliases.remove(key)
      return true
    })
  }

  /** How many there are, and how many of them cannot be read. */
  async check(): Promise<{ readonly aliases: number; readonly damaged: number }> {
    let aliases = 0
    let damaged = 0
    for (const { key, value } of this.#aliases.getRange({})) {
      aliases++
      if (readAlias(key, value) === null) damaged++
    }
    return { aliases, damaged }
  }

  /** A change in a transaction of its own, unless the check throws. */
  async #change<Result>(check: AliasCheck, change: () => Result): Promise<Result> {
    let refusal: unknown
    try {
      return await this.#root.childTransaction(() => {
        try {
          check(this.#reader)
        } catch (error) {
          refusal = error
          throw error
        }
        return change()
      })
    } catch (error) {
      throw error === refusal ? error : unavailable(error)
    }
  }

  #get(name: string): Alias | null {
    const key = keyOf(name)
    try {
      const value = this.#aliases.getBinary(key)
      return value === undefined ? null : readAlias(key, value)
    } catch (error) {
      throw unavailable(error)
    }
  }

  #list({ prefix, after, limit }: AliasQuery): readonly Alias[] {
    const first = keyOf(prefix)
    const last = after === null ? null : keyOf(after)
    const found: Alias[] = []
    const start = last !== null && Buffer.compare(last, first) > 0 ? last : first
    try {
      for (const { key, value } of this.#aliases.getRange(start.length === 0 ? {} : { start })) {
        if (found.length === limit || !startsWith(key, first)) break
        if (last !== null && Buffer.compare(key, last) <= 0) continue
        const alias = readAlias(key, value)
        if (alias !== null) found.push(alias)
      }
    } catch (error) {
      throw unavailable(error)
    }
    return found
  }
}

function keyOf(name: string): Buffer {
  return Buffer.from(name)
}

function recordOf({ tag, description, units }: Alias): Buffer {
  return Buffer.from(JSON.stringify({ tag, description, units }))
}

/** `null` for an entry that is damaged: it leads nowhere. */
function readAlias(key: Bytes, value: Bytes): Alias | null {
  try {
    const record = JSON.parse(textOf(value)) as Partial<Alias> | null
    const { tag, description, units } = record ?? {}
    if (typeof tag !== 'string' || !isTextOrNull(description) || !isTextOrNull(units)) return null
    return { name: textOf(key), tag, description, units }
  } catch {
    return null
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

function textOf(bytes: Bytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
}

function startsWith(key: Bytes, prefix: Bytes): boolean {
  return key.length >= prefix.length && Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
}

/** What lmdb says, as the client may hear it. */
function unavailable(error: unknown): TidemarkError {
  return new TidemarkError('ALIASES_UNAVAILABLE', { reason: reasonOf(error) }, { cause: error })
}
