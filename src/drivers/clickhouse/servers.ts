import { randomUUID } from 'node:crypto'
import { isUnavailable, TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext } from '../../historian/contract.ts'
import type { DriverMeter } from '../../historian/driver.ts'
import type { Attempt, RemoteChange } from '../../historian/remote/change.ts'
import { CredentialReader } from '../../historian/remote/credentials.ts'
import { HttpClient } from '../../historian/remote/http-client.ts'
import { type RetryOptions, retrySafely } from '../../historian/remote/retry.ts'
import { isTransient, unavailable } from '../../historian/remote/unavailable.ts'
import type { ClickhouseConfig } from './config.ts'
import { isRefusedLogin, isTransientRefusal, refusalIn, refusalOf, refused, tookNothing } from './errors.ts'
import { type ColumnKind, decodeBlocks, NativeError, type ReadColumns } from './native.ts'
import { quoteText } from './quote.ts'
import { type QuerySettings, ServerSettings } from './server-settings.ts'

interface Statement {
  /** What the meter counts it as. */
  readonly kind: string
  readonly sql: string
  readonly settings?: QuerySettings
  /** Whether it changes something. */
  readonly changes?: boolean
  /** Rows for an INSERT. */
  readonly body?: Uint8Array
}

/** How an INSERT is sent. */
interface InsertRequest {
  readonly settings: QuerySettings
  /** Rows in the statement's format; left out where the statement selects them. */
  readonly body?: Uint8Array
  /** Whether a refusal of the server means that nothing of the insert was taken. */
  readonly isWhole: boolean
  readonly attempts: number
}

/** An answer of the size of the interface's largest is far below this. */
const MAX_ANSWER_BYTES = 1_024 * 1_024 * 1_024
const MAX_MESSAGE_BYTES = 64 * 1_024

/** A server that failed is asked last for so long. */
const SHUN_MS = 5_000

interface Host {
  readonly url: URL
  readonly client: HttpClient
  shunnedUntil: number
}

/**
 * The servers of one historian: sends SQL to the first of them that answers, and turns what comes back into columns or
 * into Tidemark's errors. Reads are tried again elsewhere; whether a change may be is for its caller to say.
 */
export class Servers {
  /** What settings are called there. */
  readonly settings = new ServerSettings()
  readonly #historian: string
  readonly #config: ClickhouseConfig
  readonly #password: CredentialReader | null
  readonly #hosts: readonly Host[]
  /** Errors of servers that gave no answer at all. */
  readonly #down = new WeakSet<object>()

  constructor(historian: string, config: ClickhouseConfig, meter: DriverMeter) {
    this.#historian = historian
    this.#config = config
    this.#password = config.password === undefined ? null : new CredentialReader(config.password, historian)
    this.#hosts = config.urls.map((text) => {
      const url = new URL(text)
      const seconds = config.queryTimeoutSeconds + 5
      return {
        url,
        shunnedUntil: 0,
        client: new HttpClient({
          historian,
          url,
          tls: config.tls ?? null,
          meter,
          connections: config.connections,
          headersSeconds: seconds,
          bodySeconds: seconds,
          connected: () => this.#password?.forget(),
        }),
      }
    })
  }

  /** Rows of a SELECT in columns; tried again, at another server if there is one, while its error is transient. */
  async read<const Kinds extends Readonly<Record<string, ColumnKind>>>(
    kind: string,
    sql: string,
    kinds: Kinds,
    context: CallContext,
    settings: QuerySettings = {},
  ): Promise<ReadColumns<Kinds>> {
    return retrySafely(async () => {
      const body = await this.#send({ kind, sql: `${sql} FORMAT Native`, settings }, context)
      try {
        return decodeBlocks(body, kinds)
      } catch (error) {
        if (!(error instanceof NativeError)) throw error
        // A query that fails after its answer began: the reason stands where the next block would.
        const refusal = refusalOf(error.rest)
        if (refusal.code !== 0) throw refused(this.#historian, refusal)
        throw unavailable(this.#historian, 'its answer is not understood', error)
      }
    }, this.#retries(context))
  }

  /** Sends a statement that changes neither points nor tags, and may be repeated; tried again like a read. */
  async execute(
    kind: string,
    sql: string,
    context: CallContext,
    { settings, attempts }: { readonly settings: QuerySettings; readonly attempts?: number },
  ): Promise<void> {
    await retrySafely(
      () => this.#send({ kind, sql, settings, changes: true }, context),
      this.#retries(context, attempts),
    )
  }

  /** Sends an INSERT whose repetition leaves the same, as a request of a change. */
  async insert(change: RemoteChange, kind: string, sql: string, options: InsertRequest): Promise<void> {
    const { settings, body, isWhole, attempts } = options
    const statement = { kind, sql, settings, changes: true, ...(body && { body }) }
    await change.request(
      async (attempt) => {
        try {
          const answer = await this.#send(statement, attempt, attempt)
          // The server says nothing to an insert that it took: this came from something else.
          if (answer.length > 0) throw unavailable(this.#historian, 'its answer is not understood')
        } catch (error) {
          if (tookNothing(error, isWhole)) attempt.refused()
          throw error
        }
      },
      { ...this.#retries(change, attempts), isRepeatable: true },
    )
  }

  /** Which servers answer, and which do not with the reason; asks each of them. */
  async probe(
    context: CallContext,
  ): Promise<readonly { readonly host: string; readonly reason: string | null }[]> {
    return Promise.all(
      this.#hosts.map(async (host) => {
        try {
          const answer = await host.client.send({ kind: 'health', method: 'GET', path: '/ping' }, context)
          await answer.discard()
          if (answer.status === 200) return { host: host.url.host, reason: null }
          return { host: host.url.host, reason: `it answers with status ${answer.status}` }
        } catch (error) {
          context.signal.throwIfAborted()
          const message = error instanceof Error ? error.message : String(error)
          return { host: host.url.host, reason: message.replace(/^.*could not be reached: /, '') }
        }
      }),
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map(({ client }) => client.close()))
  }

  #retries({ signal }: CallContext, attempts = Math.max(3, this.#hosts.length + 1)): RetryOptions {
    return {
      signal,
      attempts,
      firstPauseMs: this.#hosts.length > 1 ? 20 : 100,
      isTransient: (error) => isTransient(error) || isTransientRefusal(error) || this.#mayMove(error),
    }
  }

  /** Whether a server did not answer, and there are others that may. */
  #mayMove(error: unknown): boolean {
    return this.#hosts.length > 1 && this.#down.has(error as object)
  }

  /** The body of the answer of the first server that gives one. */
  async #send(statement: Statement, context: CallContext, attempt?: Attempt): Promise<Buffer> {
    const secret = (await this.#password?.read()) ?? ''
    try {
      return await this.#sendTo(this.#host(), statement, secret, context, attempt)
    } catch (error) {
      // The password may have been changed at the server and in its file.
      if (!isRefusedLogin(error) || this.#password === null || !(await this.#password.hasChanged(secret)))
        throw error
      return await this.#sendTo(this.#host(), statement, await this.#password.read(), context, attempt)
    }
  }

  #host(): Host {
    const now = performance.now()
    return (
      this.#hosts.find(({ shunnedUntil }) => shunnedUntil <= now) ??
      this.#hosts.reduce((best, host) => (host.shunnedUntil < best.shunnedUntil ? host : best))
    )
  }

  async #sendTo(
    host: Host,
    statement: Statement,
    secret: string,
    context: CallContext,
    attempt?: Attempt,
  ): Promise<Buffer> {
    const { kind, body, sql } = statement
    const login = Buffer.from(`${this.#config.user}:${secret}`).toString('base64')
    const headers = { authorization: `Basic ${login}` }
    const queryId = randomUUID()
    try {
      const answer = await host.client.send(
        {
          kind,
          method: 'POST',
          path: `/?${this.#parameters(statement, queryId)}`,
          headers,
          body: body ?? sql,
          ...(attempt && { sent: attempt.sent }),
        },
        context,
      )
      if (answer.status === 200) return await wholeBody(answer.body, this.#historian)
      throw refused(this.#historian, refusalOf(await answer.text(MAX_MESSAGE_BYTES).catch(() => '')))
    } catch (error) {
      if (context.signal.aborted && statement.changes !== true) this.#kill(host, queryId, headers)
      // The time was up: whether it is the query or the server, another one may be faster.
      if (isUnavailable(context.signal.reason)) host.shunnedUntil = performance.now() + SHUN_MS
      context.signal.throwIfAborted()
      const isDown = error instanceof TidemarkError && refusalIn(error) === null
      if (isDown) this.#down.add(error)
      if (isDown || isTransientRefusal(error)) host.shunnedUntil = performance.now() + SHUN_MS
      throw error
    }
  }

  #parameters({ sql, settings = {}, changes = false, body }: Statement, queryId: string): URLSearchParams {
    const seconds = Math.ceil(this.#config.queryTimeoutSeconds)
    const parameters = new URLSearchParams({
      query_id: queryId,
      max_execution_time: String(seconds),
      max_query_size: String(MAX_QUERY_BYTES),
      max_ast_elements: String(MAX_ELEMENTS),
      max_expanded_ast_elements: String(MAX_ELEMENTS),
    })
    if (this.#config.cluster !== undefined) {
      // Of each shard the first replica that is up, whichever server is asked: reads then see what was written.
      parameters.set('load_balancing', 'in_order')
      parameters.set('prefer_localhost_replica', '0')
    }
    for (const [name, value] of Object.entries(this.settings.named(settings)))
      parameters.set(name, String(value))
    if (body !== undefined) parameters.set('query', sql)
    // The server sees to it as well that a read changes nothing. Last, since it forbids what comes after it.
    if (!changes) parameters.set('readonly', '2')
    return parameters
  }

  /** Has the server stop a read that nobody waits for; a closed connection alone does not stop it in every version. */
  #kill(host: Host, queryId: string, headers: Readonly<Record<string, string>>): void {
    const body = `KILL QUERY WHERE query_id = ${quoteText(queryId)} ASYNC`
    const work = async () => {
      const { signal } = new AbortController()
      const answer = await host.client.send(
        { kind: 'cancel', method: 'POST', path: '/', headers, body },
        { signal },
      )
      await answer.discard()
    }
    // It ends by its time limit otherwise.
    work().catch(() => {})
  }
}

/** Room for lists of many thousand tags and ranges. */
const MAX_QUERY_BYTES = 64 * 1_024 * 1_024
const MAX_ELEMENTS = 10_000_000

async function wholeBody(body: AsyncIterable<Buffer>, historian: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw unavailable(historian, 'its answer is too large')
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}
