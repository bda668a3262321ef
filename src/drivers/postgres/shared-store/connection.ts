import { TidemarkError } from '../../../errors/tidemark-error.ts'
import { reasonIn } from '../../../historian/remote/unavailable.ts'
import type { StoreLog } from '../../../storage/shared-store.ts'
import { sqlStateOf } from '../errors.ts'
import { Once } from '../layout.ts'
import { Server } from '../server.ts'
import type { Session } from '../session.ts'
import type { PostgresStoreConfig } from './config.ts'
import { ensureStoreTables, type StoreTables, storeTables } from './tables.ts'

/** The name under which the server's own sentences know the store; callers hear other ones. */
const NAME = 'store'

/** What a failure of the store is called for those who asked: it is about keys or about aliases. */
export type UnavailableCode = 'KEYS_UNAVAILABLE' | 'ALIASES_UNAVAILABLE'

/** The server that the store is in, its tables made by the first call. */
export class StoreConnection {
  readonly tables: StoreTables
  readonly #server: Server
  readonly #looked: Once<void>
  readonly #closing = new AbortController()

  constructor(config: PostgresStoreConfig, log: StoreLog) {
    this.tables = storeTables(config.schema)
    this.#server = new Server({
      historian: NAME,
      config: { ...config, writable: true },
      readOnly: false,
      meter: { sent: () => {}, failed: () => {} },
      log: {
        info: () => {},
        error: () => {},
        warn: (fields) => log.warn(fields, 'A connection to the store of keys and aliases was lost'),
      },
    })
    this.#looked = new Once((context) => ensureStoreTables(this.#server, this.tables, NAME, context))
  }

  /** Reads, again where a connection broke. Rejects with the code given when the server cannot be asked. */
  async read<Result>(code: UnavailableCode, work: (session: Session) => Promise<Result>): Promise<Result> {
    const context = { signal: this.#closing.signal }
    try {
      await this.#looked.get(context)
      return await this.#server.read('store', context, work)
    } catch (error) {
      throw toldAs(code, error)
    }
  }

  /**
   * Makes a change in a serializable transaction, one after the other among all processes: what the work reads is the
   * newest state, and stays so until its change is made. What the work throws undoes it, and is thrown as it is.
   */
  async change<Result>(code: UnavailableCode, work: (session: Session) => Promise<Result>): Promise<Result> {
    const context = { signal: this.#closing.signal }
    // LOCK TABLE takes no snapshot, so that the transaction's begins once the one before has ended: nobody has to try
    // again.
    const begin = `BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE ${this.tables.store} IN EXCLUSIVE MODE`
    try {
      await this.#looked.get(context)
      return await this.#server.change('store', begin, context, work)
    } catch (error) {
      throw toldAs(code, error)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new TidemarkError('SHUTTING_DOWN'))
    await this.#server.close()
  }
}

function toldAs(code: UnavailableCode, error: unknown): unknown {
  if (!(error instanceof TidemarkError)) return error
  switch (error.code) {
    case 'HISTORIAN_UNAVAILABLE':
      return new TidemarkError(code, { reason: reasonOf(error) }, { cause: error })
    case 'WRITE_OUTCOME_UNKNOWN':
      return new TidemarkError(
        code,
        { reason: 'the connection was cut before the store told whether it made the change' },
        { cause: error },
      )
    case 'STORAGE_CORRUPT':
      return new TidemarkError(code, { reason: 'the store says that its data are damaged' }, { cause: error })
    default:
      return error
  }
}

function reasonOf(error: TidemarkError): string {
  if (sqlStateOf(error) === '42P01') return 'a table of the store does not exist'
  return reasonIn(error, NAME)
}
