import type { SQLOutputValue } from 'node:sqlite'
import type { Alias, AliasCheck, AliasQuery, AliasReader, AliasStore } from '../../aliases/store.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { Pacer } from '../pause.ts'
import { decodeRecord, encodeRecord } from './checked-record.ts'
import { isSqlite, reasonOf, type SystemDatabase } from './system-database.ts'

/** Lower bounds of a page. SQLite seeks by one alone: with both it passes over all rows before the second. */
const FROM = 'name >= ?'
const AFTER = 'name > ?'

/** Entries that are checked together, in less than a millisecond. */
const CHECKED = 256
const CHECKED_FIRST = 'SELECT name, record FROM aliases ORDER BY name LIMIT ?1'
/** The second condition is looked at for each row: also with a damaged order each page is behind the one before. */
const CHECKED_NEXT = 'SELECT name, record FROM aliases WHERE name > ?2 AND +name > ?2 ORDER BY name LIMIT ?1'

/**
 * Aliases in the database of a data directory: the name as UTF-8 → tag, description and units as JSON with a checksum.
 * Nothing is remembered: each call reads the newest state. Changes are transactions, of which SQLite lets one run at a
 * time among all processes.
 */
export class DatabaseAliasStore implements AliasStore {
  readonly #database: SystemDatabase
  readonly #reader: AliasReader

  constructor(database: SystemDatabase) {
    this.#database = database
    this.#reader = {
      get: (name) => this.#get(name),
      list: (query) => this.#list(query),
    }
  }

  read<Result>(work: (aliases: AliasReader) => Result): Promise<Result> {
    return this.#database.read(() => work(this.#reader)).catch(throwUnavailable)
  }

  put(alias: Alias, check: AliasCheck): Promise<'created' | 'replaced'> {
    return this.#change(check, () => {
      const name = Buffer.from(alias.name)
      const outcome = this.#find(name) === undefined ? 'created' : 'replaced'
      this.#database
        .statement('INSERT OR REPLACE INTO aliases VALUES (?, ?)')
        .run(name, recordOf(name, alias))
      return outcome
    })
  }

  delete(name: string, check: AliasCheck): Promise<boolean> {
    return this.#change(check, () => {
      const { changes } = this.#database
        .statement('DELETE FROM aliases WHERE name = ?')
        .run(Buffer.from(name))
      return Number(changes) > 0
    })
  }

  /** How many there are, and how many of them cannot be read. Yields to the event loop between two pages. */
  async check(): Promise<{ readonly aliases: number; readonly damaged: number }> {
    const pacer = new Pacer()
    let aliases = 0
    let damaged = 0
    for (let sql = CHECKED_FIRST, last: readonly SQLOutputValue[] = []; ; sql = CHECKED_NEXT) {
      const rows = await this.#database
        .read(() => this.#database.statement(sql).all(CHECKED, ...last))
        .catch(throwUnavailable)
      aliases += rows.length
      for (const { name, record } of rows) if (readAlias(name, record) === null) damaged++
      if (rows.length < CHECKED) return { aliases, damaged }
      last = [rows.at(-1)!.name!]
      await pacer.pause()
    }
  }

  /** What the check throws is thrown as it is. */
  #change<Result>(check: AliasCheck, change: () => Result): Promise<Result> {
    return this.#database
      .change(() => {
        check(this.#reader)
        return change()
      })
      .catch(throwUnavailable)
  }

  #find(name: Uint8Array) {
    return this.#database.statement('SELECT record FROM aliases WHERE name = ?').get(name)
  }

  #get(name: string): Alias | null {
    const bytes = Buffer.from(name)
    const row = this.#find(bytes)
    return row === undefined ? null : readAlias(bytes, row.record)
  }

  #list({ prefix, after, limit }: AliasQuery): readonly Alias[] {
    const first = Buffer.from(prefix)
    // No UTF-8 text has the byte 0xff, so this sorts after every name that begins so.
    const end = Buffer.concat([first, Buffer.of(0xff)])
    const found: Alias[] = []
    const last = after === null ? null : Buffer.from(after)
    const isBehindFirst = last !== null && Buffer.compare(last, first) >= 0
    let rows = isBehindFirst ? this.#rows(AFTER, last, end, limit) : this.#rows(FROM, first, end, limit)
    // A damaged entry takes no place in a page.
    for (let wanted = limit; ; ) {
      found.push(...rows.flatMap(({ name, record }) => readAlias(name, record) ?? []))
      if (rows.length < wanted || found.length === limit) return found
      wanted = limit - found.length
      rows = this.#rows(AFTER, rows.at(-1)!.name as Uint8Array, end, wanted)
    }
  }

  #rows(bound: string, low: Uint8Array, end: Uint8Array, limit: number) {
    const sql = `SELECT name, record FROM aliases WHERE ${bound} AND name < ? ORDER BY name LIMIT ?`
    return this.#database.statement(sql).all(low, end, limit)
  }
}

function recordOf(name: Uint8Array, { tag, description, units }: Alias): string {
  return encodeRecord(name, { tag, description, units })
}

/** `null` for an entry that is damaged: it leads nowhere. */
function readAlias(name: unknown, text: unknown): Alias | null {
  if (!(name instanceof Uint8Array)) return null
  const record = decodeRecord(name, String(text), 'tag') as Partial<Alias> | null
  const { tag, description, units } = record ?? {}
  if (typeof tag !== 'string' || !isTextOrNull(description) || !isTextOrNull(units)) return null
  return { name: Buffer.from(name).toString(), tag, description, units }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

/** What SQLite says, as the client may hear it. */
function throwUnavailable(error: unknown): never {
  if (!isSqlite(error)) throw error
  throw new TidemarkError('ALIASES_UNAVAILABLE', { reason: reasonOf(error) }, { cause: error })
}
