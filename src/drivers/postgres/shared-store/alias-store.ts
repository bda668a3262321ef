import type { Alias, AliasCheck, AliasReader, AliasStore } from '../../../aliases/store.ts'
import { TidemarkError } from '../../../errors/tidemark-error.ts'
import type { Row, Session } from '../session.ts'
import { canHold } from '../text.ts'
import { AliasIndex } from './alias-index.ts'
import type { StoreConnection } from './connection.ts'

/** So many changes back, deleted aliases are still known as such; who saw nothing newer reads all aliases anew. */
const DELETIONS_KEPT = 10_000

const UNAVAILABLE = 'ALIASES_UNAVAILABLE'

/**
 * Aliases in PostgreSQL. Every process keeps them in memory and asks before each read for what has changed, in one
 * query, so that a read sees what any process had put before it began. Changes are numbered, and made one after the
 * other.
 */
export class PostgresAliasStore implements AliasStore {
  readonly #connection: StoreConnection
  readonly #index = new AliasIndex()
  #loading: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor(connection: StoreConnection) {
    this.#connection = connection
  }

  async read<Result>(work: (aliases: AliasReader) => Result): Promise<Result> {
    await this.#newest()
    return work(this.#index)
  }

  async put(alias: Alias, check: AliasCheck): Promise<'created' | 'replaced'> {
    const { name, tag, description, units } = alias
    for (const text of [name, tag, description, units]) {
      if (text === null || canHold(text)) continue
      const message = 'An alias holds a NUL character or half a surrogate pair: it has no place in the store'
      throw new TidemarkError('INVALID_REQUEST', { message })
    }
    return this.#change(check, async (session, change) => {
      const outcome = this.#index.get(name) === null ? 'created' : 'replaced'
      await session.query(
        `INSERT INTO ${this.#connection.tables.aliases} (name, tag, description, units, change)
          VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint)
          ON CONFLICT (name) DO UPDATE SET tag = excluded.tag, description = excluded.description,
            units = excluded.units, change = excluded.change`,
        [name, tag, description, units, change],
      )
      return outcome
    })
  }

  async delete(name: string, check: AliasCheck): Promise<boolean> {
    return this.#change(check, async (session, change) => {
      if (this.#index.get(name) === null) return false
      const { aliases, store } = this.#connection.tables
      await session.query(
        `UPDATE ${aliases} SET tag = NULL, description = NULL, units = NULL, change = $2::bigint
          WHERE name = $1::text`,
        [name, change],
      )
      const forgotten = change - DELETIONS_KEPT
      if (forgotten > 0) {
        await session.query(`DELETE FROM ${aliases} WHERE tag IS NULL AND change <= $1::bigint`, [forgotten])
        await session.query(`UPDATE ${store} SET aliases_forgotten = $1::bigint`, [forgotten])
      }
      return true
    })
  }

  async #change<Result>(
    check: AliasCheck,
    make: (session: Session, change: number) => Promise<Result>,
  ): Promise<Result> {
    let refusal: { readonly error: unknown } | null = null
    try {
      return await this.#connection.change(UNAVAILABLE, async (session) => {
        refusal = null
        await this.#load(session)
        try {
          check(this.#index)
        } catch (error) {
          refusal = { error }
          throw error
        }
        const change = this.#index.state.change + 1
        const result = await make(session, change)
        await session.query(`UPDATE ${this.#connection.tables.store} SET aliases_change = $1::bigint`, [
          change,
        ])
        return result
      })
    } catch (error) {
      throw refusal === null ? error : (refusal as { readonly error: unknown }).error
    }
  }

  /**
   * Resolves when the index is as new as the store was at some moment after this call; calls share a query where they
   * can.
   */
  #newest(): Promise<void> {
    if (this.#loading === null) return this.#startLoading()
    // What is under way may have read before whatever the caller has heard of.
    this.#next ??= this.#loading
      .catch(() => {})
      .then(() => {
        this.#next = null
        return this.#startLoading()
      })
    return this.#next
  }

  #startLoading(): Promise<void> {
    const loading = this.#connection
      .read(UNAVAILABLE, (session) => this.#load(session))
      .finally(() => {
        if (this.#loading === loading) this.#loading = null
      })
    this.#loading = loading
    return loading
  }

  /** Brings the index to the state that the session sees. */
  async #load(session: Session): Promise<void> {
    const { store, aliases } = this.#connection.tables
    const { identity, change: seen } = this.#index.state
    // One statement, and so one state. Without anything new it gives one row, of the state alone.
    const rows = await session.query(
      `SELECT s.identity, s.aliases_change, s.aliases_forgotten, a.name, a.tag, a.description, a.units
        FROM ${store} AS s LEFT JOIN ${aliases} AS a
          ON a.change > $1::bigint AND s.identity = $2::text AND s.aliases_forgotten <= $1::bigint`,
      [seen, identity],
    )
    const state = stateOf(rows)
    const forgotten = Number(rows[0]![2])
    // Fewer changes than were seen before: somebody restored an older state.
    const isBefore = state.change < seen
    if (state.identity !== identity || forgotten > seen || isBefore) {
      await this.#loadAll(session, isBefore)
      return
    }
    const changes = rows
      .map((row) => row.slice(3))
      .filter(([name]) => name !== null)
      .map((row) => ({ name: row[0]!, alias: aliasOf(row) }))
    this.#index.apply(state, changes)
  }

  async #loadAll(session: Session, isBefore: boolean): Promise<void> {
    const { store, aliases } = this.#connection.tables
    const rows = await session.query(
      `SELECT s.identity, s.aliases_change, NULL, a.name, a.tag, a.description, a.units
        FROM ${store} AS s LEFT JOIN ${aliases} AS a ON a.tag IS NOT NULL ORDER BY a.name COLLATE "C"`,
    )
    const found = rows.map((row) => aliasOf(row.slice(3))).filter((alias) => alias !== null)
    const state = stateOf(rows)
    const here = this.#index.state
    // Another session may have been faster, and have seen more.
    if (!isBefore && state.identity === here.identity && state.change < here.change) return
    this.#index.replace(state, found)
  }
}

function stateOf(rows: readonly Row[]): { readonly identity: string; readonly change: number } {
  const row = rows[0]
  if (row === undefined) {
    throw new TidemarkError(UNAVAILABLE, { reason: 'the table tidemark_store of the store has no row' })
  }
  return { identity: row[0]!, change: Number(row[1]) }
}

/** `null` for one that was deleted. */
function aliasOf([name, tag, description, units]: Row): Alias | null {
  return name === null || tag === null || tag === undefined
    ? null
    : { name: name!, tag, description: description!, units: units! }
}
