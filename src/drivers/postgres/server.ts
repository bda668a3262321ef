import { checkServerIdentity } from 'node:tls'
import pg, { type Pool, type PoolClient } from 'pg'
import { isUnavailable, TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext } from '../../historian/contract.ts'
import type { DriverLog, DriverMeter } from '../../historian/driver.ts'
import { makeChange } from '../../historian/remote/change.ts'
import { CredentialReader } from '../../historian/remote/credentials.ts'
import { retrySafely } from '../../historian/remote/retry.ts'
import { withTimeLimit } from '../../historian/remote/time-limit.ts'
import { readTls, type TlsOptions } from '../../historian/remote/tls.ts'
import { isTransient, unavailable } from '../../historian/remote/unavailable.ts'
import { Semaphore } from '../../scheduling/semaphore.ts'
import { cancelBackend, type ServerAddress } from './cancel.ts'
import type { PostgresConfig } from './config.ts'
import { isRefused, sqlStateOf, translate } from './errors.ts'
import { Session } from './session.ts'

/** Calls that wait for a connection at the same time; beyond, they are refused at once. */
const MAX_WAITING = 1_000
/** Statements of one read at the same time: fewer than fill the queue, so that other calls come in between. */
const PARALLEL = 8
/** A connection that was not needed for so long is closed. */
const IDLE_MS = 60_000
/** How long a cancelled statement is waited for, and asked again to end, before its connection is torn down. */
const CANCEL_MS = 5_000
const CANCEL_AGAIN_MS = 250
/** The server gives up a statement a little after us, for when we are no longer there to ask for it. */
const SERVER_GRACE_SECONDS = 5

export interface ServerOptions {
  readonly historian: string
  readonly config: PostgresConfig
  /** Whether the server is asked to refuse changes on these connections. */
  readonly readOnly: boolean
  readonly meter: DriverMeter
  readonly log: DriverLog
}

/** Who does reads: the server, each over whichever connection is free, or a snapshot. */
export interface Reader {
  read<Result>(
    kind: string,
    context: CallContext,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result>
}

/** The server: a bounded pool of connections that are made when needed, and work that is done over them. */
export class Server implements Reader {
  readonly #options: ServerOptions
  readonly #pool: Pool
  #tls: TlsOptions | null = null

  constructor(options: ServerOptions) {
    this.#options = options
    const { config, historian } = options
    this.#pool = new pg.Pool({
      host: config.host,
      port: config.port,
      database: config.database,
      user: config.user,
      password: passwordOf(options),
      ssl: false,
      max: config.connections,
      Client: clientWithin(config.connectSeconds),
      idleTimeoutMillis: IDLE_MS,
      keepAlive: true,
      application_name: 'tidemark',
      allowExitOnIdle: true,
      onConnect: (client) => this.#prepare(client),
    })
    this.#pool.on('error', (error) => {
      options.log.warn(
        { historian, code: sqlStateOf(error) },
        `A connection to historian ${historian} was lost`,
      )
    })
  }

  /**
   * Does work that may be done twice without harm, in the time that one call has; a connection that breaks is made
   * anew. Rejects with a TidemarkError, or with the signal's reason.
   */
  read<Result>(
    kind: string,
    context: CallContext,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    return this.inTime(context, (limited) =>
      retrySafely(() => this.#use(kind, limited, work), { signal: limited.signal }),
    )
  }

  /** Does work, such as several reads, in the time that one read has. */
  inTime<Result>(context: CallContext, work: (limited: CallContext) => Promise<Result>): Promise<Result> {
    const { historian, config } = this.#options
    return withTimeLimit(historian, config.timeoutSeconds, context, work)
  }

  /**
   * Does several reads that see one state of the tables, one after the other over one connection; otherwise as `read`.
   * What the server refuses ends it.
   */
  snapshot<Result>(
    kind: string,
    context: CallContext,
    work: (reader: Reader) => Promise<Result>,
  ): Promise<Result> {
    return this.read(kind, context, (session) =>
      session.snapshot(() => work({ read: (_kind, _context, part) => part(session) })),
    )
  }

  /**
   * Does a change in one transaction. It is tried again while it fails before its COMMIT for want of a connection, and
   * where the server says that it undid it, as two writers stood in each other's way.
   * @param begin   BEGIN, and what else goes with it
   * @param seconds time limit of the change; that of the configuration when left out
   */
  change<Result>(
    kind: string,
    begin: string,
    { signal }: CallContext,
    work: (session: Session) => Promise<Result>,
    seconds = this.#options.config.timeoutSeconds,
  ): Promise<Result> {
    const { historian } = this.#options
    return makeChange({ historian, seconds, signal }, ({ request }) =>
      request(
        (attempt) =>
          this.#use(kind, attempt, (session) => session.transaction(begin, attempt, () => work(session))),
        { isTransient: (error) => isTransient(error) || sqlStateOf(error).startsWith('40') },
      ),
    )
  }

  /** Does work for each group of the queries of one read, a few groups at a time, all in the time that one read has. */
  async forEachGroup<Query>(
    groups: Iterable<readonly Query[]>,
    context: CallContext,
    work: (group: readonly Query[], limited: CallContext) => Promise<void>,
  ): Promise<void> {
    const places = new Semaphore(PARALLEL)
    await this.inTime(context, (limited) =>
      Promise.all(Array.from(groups, (group) => places.run(() => work(group, limited)))),
    )
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #use<Result>(
    kind: string,
    { signal }: CallContext,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    const { historian, meter, config } = this.#options
    const client = await this.#acquire(signal)
    const session = new Session(client, { kind, meter, historian, signal })
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const working = work(session)
    try {
      const result = await Promise.race([working, aborted])
      client.release()
      return result
    } catch (error) {
      if (signal.aborted) {
        this.#abandon(client, working)
        if (isUnavailable(signal.reason)) meter.failed(kind)
        throw signal.reason
      }
      const translated = translate(error, historian, config.timeoutSeconds)
      if (!(error instanceof TidemarkError)) meter.failed(kind)
      // A clear refusal of the server leaves the connection in order; after anything else nobody knows.
      client.release(error instanceof TidemarkError || isRefused(error) ? undefined : true)
      throw translated
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #acquire(signal: AbortSignal): Promise<PoolClient> {
    const { historian, config } = this.#options
    signal.throwIfAborted()
    if (this.#pool.waitingCount >= MAX_WAITING)
      throw unavailable(historian, `${MAX_WAITING} calls to it wait already`)
    if (
      config.tls !== undefined &&
      this.#pool.idleCount === 0 &&
      this.#pool.totalCount < config.connections
    ) {
      this.#tls = await readTls(config.tls, historian)
      this.#pool.options.ssl = withServerName(this.#tls)
    }
    const connecting = this.#pool.connect()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([connecting, aborted])
    } catch (error) {
      if (!signal.aborted) throw translate(error, historian, config.timeoutSeconds)
      connecting.then(
        (client) => client.release(),
        () => {},
      )
      throw signal.reason
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Once for each connection, before it is used. */
  async #prepare(client: pg.ClientBase): Promise<void> {
    const { historian, config, readOnly } = this.#options
    // Without a listener, a connection that breaks while it is lent would end the process.
    client.on('error', () => {})
    const timeoutMs = String(Math.ceil((config.timeoutSeconds + SERVER_GRACE_SECONDS) * 1000))
    // Compiling a statement takes longer than what most of ours take. Before statistics were made, or while they are
    // old, the planner takes a tag's points for few and sorts all of them to find one; without bitmaps it walks the
    // index. A table of our own always has the index that is wanted. A commit that is acknowledged is on disk, whatever
    // the server is set to; waiting for standbys besides is left as it is set.
    const { rows } = await client.query<{ encoding: string }>(
      `SELECT set_config('jit', 'off', false), set_config('enable_bitmapscan', 'off', false),
        set_config('enable_seqscan', $3, false), set_config('statement_timeout', $1, false),
        set_config('idle_in_transaction_session_timeout', $1, false),
        set_config('default_transaction_read_only', $2, false), set_config('TimeZone', 'UTC', false),
        set_config('synchronous_commit',
          replace(current_setting('synchronous_commit'), 'off', 'local'), false),
        current_setting('server_encoding') AS encoding`,
      [timeoutMs, readOnly ? 'on' : 'off', config.existing === undefined ? 'off' : 'on'],
    )
    if (rows[0]!.encoding !== 'UTF8') throw unavailable(historian, 'its database is not encoded in UTF8')
  }

  /** Ends what nobody waits for any more, on the server too; the connection is not used again. */
  async #abandon(client: PoolClient, working: Promise<unknown>): Promise<void> {
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
    let isOver = false
    const over = working.then(
      () => {},
      () => {},
    )
    over.then(() => {
      isOver = true
    })
    const due = performance.now() + CANCEL_MS
    while (!isOver && performance.now() < due) {
      await cancelBackend(this.#address(), { processId: processID, secretKey })
      // A request that arrives before the statement has begun is lost.
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, CANCEL_AGAIN_MS))])
    }
    const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
    if (!isOver) connection.stream.destroy()
    client.release(true)
  }

  #address(): ServerAddress {
    const { host, port, connectSeconds } = this.#options.config
    return { host, port, connectSeconds, tls: this.#tls }
  }
}

/**
 * The pool's own time limit would also end the waiting for a connection that others use, for which a call has all of
 * its time.
 */
function clientWithin(seconds: number): new () => pg.ClientBase {
  return class extends pg.Client {
    constructor(options: object = {}) {
      // Not a copy: the pool keeps the password where copying does not find it.
      super(Object.create(options, { connectionTimeoutMillis: { value: seconds * 1000 } }) as pg.ClientConfig)
    }
  }
}

function passwordOf({ config, historian }: ServerOptions): () => Promise<string> {
  if (config.password === undefined) {
    return () =>
      Promise.reject(unavailable(historian, 'it asks for a password, and the setting password is missing'))
  }
  const reader = new CredentialReader(config.password, historian)
  return () => {
    reader.forget()
    return reader.read()
  }
}

/** The client library asks for the host's own name; another one that was configured has to be checked by hand. */
function withServerName(tls: TlsOptions): pg.ConnectionConfig['ssl'] & object {
  const { servername, ...others } = tls
  if (servername === undefined) return others
  return {
    ...others,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(servername, certificate),
  }
}
