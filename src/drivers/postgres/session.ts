import type { PoolClient } from 'pg'
import Cursor from 'pg-cursor'
import type { DriverMeter } from '../../historian/driver.ts'
import type { Attempt } from '../../historian/remote/change.ts'
import { unavailable } from '../../historian/remote/unavailable.ts'
import { isRefused } from './errors.ts'

/** A row: each column as PostgreSQL writes it, `null` for NULL. */
export type Row = readonly (string | null)[]

/**
 * Values are read by those who asked for them: the library's own readers make dates of local time and round numbers.
 */
const AS_TEXT = { getTypeParser: () => (text: string) => text } as never

/** What a piece of work does with the connection that it was lent. */
export class Session {
  readonly #client: PoolClient
  readonly #kind: string
  readonly #meter: DriverMeter
  readonly #historian: string
  readonly #signal: AbortSignal
  constructor(
    client: PoolClient,
    options: {
      readonly kind: string
      readonly meter: DriverMeter
      readonly historian: string
      readonly signal: AbortSignal
    },
  ) {
    this.#client = client
    this.#kind = options.kind
    this.#meter = options.meter
    this.#historian = options.historian
    this.#signal = options.signal
  }

  /** Runs a statement and gives all of its rows. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.#send(text, values)).rows
  }

  /**
   * Runs a statement and gives the types of its columns: number of the type, and its modifier as pg_attribute.atttypmod
   * has it.
   */
  async columnTypes(text: string): Promise<readonly { readonly type: number; readonly modifier: number }[]> {
    const { fields } = await this.#send(text)
    return fields.map(({ dataTypeID: type, dataTypeModifier: modifier }) => ({ type, modifier }))
  }

  /** Runs a statement and gives its rows some at a time: what is not asked for stays on the server. */
  async *stream(
    text: string,
    values: readonly unknown[],
    rowsPerBatch: number,
  ): AsyncGenerator<readonly Row[]> {
    this.#signal.throwIfAborted()
    this.#meter.sent(this.#kind)
    const cursor = this.#client.query(
      new Cursor<Row>(text, values as unknown[], { rowMode: 'array', types: AS_TEXT }),
    )
    let isOpen = true
    try {
      for (;;) {
        isOpen = false
        const rows = await cursor.read(rowsPerBatch)
        isOpen = rows.length === rowsPerBatch
        if (rows.length > 0) yield rows
        if (!isOpen) return
        this.#signal.throwIfAborted()
      }
    } finally {
      // Not waited for: on a connection that has broken no answer comes, and the next statement waits for it anyway.
      // After an error, or the last row, nothing is left to close.
      if (isOpen) cursor.close().catch(() => {})
    }
  }

  /**
   * Runs the work between BEGIN and COMMIT; undone when the work fails. Only the COMMIT makes the change: it is what
   * the attempt is notified of.
   * @param begin BEGIN, and what else goes with it
   */
  async transaction<Result>(begin: string, attempt: Attempt, work: () => Promise<Result>): Promise<Result> {
    let result: Result
    try {
      await this.#send(begin)
      result = await work()
    } catch (error) {
      // A connection whose work was aborted is closed, which undoes it too.
      if (!this.#signal.aborted) await this.#client.query('ROLLBACK').catch(() => {})
      throw error
    }
    attempt.sent()
    let command: string
    try {
      ;({ command } = await this.#send('COMMIT'))
    } catch (error) {
      if (isRefused(error)) attempt.refused()
      throw error
    }
    if (command === 'COMMIT') return result
    attempt.refused()
    throw unavailable(this.#historian, 'the server undid the transaction')
  }

  /** Runs work that reads one state of the tables, that of its first statement. */
  async snapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      await this.#send('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      return await work()
    } finally {
      // Nothing is lost by it; a connection whose work was aborted is closed.
      if (!this.#signal.aborted) await this.#client.query('ROLLBACK').catch(() => {})
    }
  }

  async #send(text: string, values: readonly unknown[] = []) {
    this.#signal.throwIfAborted()
    this.#meter.sent(this.#kind)
    return this.#client.query<(string | null)[]>({
      text,
      values: values as unknown[],
      rowMode: 'array',
      types: AS_TEXT,
    })
  }
}
