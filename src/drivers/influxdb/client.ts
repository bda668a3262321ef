import { promisify } from 'node:util'
import { gzip as zip } from 'node:zlib'
import type { CallContext } from '../../historian/contract.ts'
import type { DriverMeter } from '../../historian/driver.ts'
import type { Attempt, RemoteChange } from '../../historian/remote/change.ts'
import { CredentialReader } from '../../historian/remote/credentials.ts'
import { type HttpAnswer, HttpClient } from '../../historian/remote/http-client.ts'
import { retrySafely } from '../../historian/remote/retry.ts'
import { isTransient, refusedCredentials, unavailable } from '../../historian/remote/unavailable.ts'
import { CooperativeScheduler } from '../../scheduling/cooperative-scheduler.ts'
import { type AnswerLine, answerLines, type SeriesChunk } from './answer-lines.ts'
import type { InfluxConfig } from './config.ts'
import { queryRefused, ServerRefusal, writeRefused } from './errors.ts'

/** What the requests are counted as. */
export type RequestKind = 'read' | 'metadata' | 'write' | 'delete' | 'health'

/** A statement of InfluxQL and who takes its rows. */
export interface Statement {
  readonly text: string
  /** Called for each chunk of each series, in the order of the answer; none for a statement without rows. */
  take?(chunk: SeriesChunk): void
}

/** Statements of one request: more of them go to further requests, which run at the same time. */
const MAX_STATEMENTS = 250
/** Characters of InfluxQL in one request; InfluxDB takes 10 MB with everything percent-encoded. */
const MAX_TEXT = 500_000
/** Requests of one call at the same time, so that one large call leaves connections to the others. */
const PARALLEL = 4
/** Rows that InfluxDB sends at a time; a row of points takes some 40 bytes. */
const CHUNK_ROWS = 10_000
/** Texts of metadata can have 10,000 characters. */
const CHUNK_ROWS_OF_TEXTS = 200
const MAX_ERROR_BYTES = 1024 ** 2
/** What may come of an answer before its rows are passed on: until then a connection that is cut is replaced. */
const HELD_BYTES = 1024 ** 2

const gzipped = promisify(zip)

/**
 * Talks to one database of an InfluxDB server: several statements in one request, answers row by row. The only place
 * that knows InfluxDB's HTTP.
 */
export class InfluxClient {
  readonly #http: HttpClient
  readonly #historian: string
  readonly #config: InfluxConfig
  readonly #secret: CredentialReader | null
  readonly #meter: DriverMeter
  #statements = 0

  constructor(config: InfluxConfig, historian: string, meter: DriverMeter) {
    this.#config = config
    this.#historian = historian
    this.#meter = meter
    const credential = config.token ?? config.password
    this.#secret = credential === undefined ? null : new CredentialReader(credential, historian)
    this.#http = new HttpClient({
      historian,
      url: config.url,
      tls: config.tls ?? null,
      meter,
      connections: config.connections,
      headersSeconds: config.timeoutSeconds,
      bodySeconds: config.timeoutSeconds,
      connected: () => this.#secret?.forget(),
    })
  }

  /** Statements sent so far; many of them are one request, which is what the meter counts. */
  get statementsSent(): number {
    return this.#statements
  }

  /**
   * Runs statements, in any order and as few requests as their size allows. Rejects when one of them fails; when the
   * signal is aborted the connections are closed, upon which InfluxDB ends what it does for them.
   */
  async query(kind: RequestKind, statements: readonly Statement[], context: CallContext): Promise<void> {
    const batches = batchesOf(statements)
    if (batches.length <= 1) {
      context.signal.throwIfAborted()
      if (batches.length === 1) await this.#queryBatch(kind, batches[0]!, context)
      return
    }
    const stop = new AbortController()
    const signal = AbortSignal.any([context.signal, stop.signal])
    let next = 0
    const work = async () => {
      while (next < batches.length) {
        signal.throwIfAborted()
        await this.#queryBatch(kind, batches[next++]!, { signal })
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(PARALLEL, batches.length) }, work))
    } catch (error) {
      stop.abort(error)
      throw error
    }
  }

  /**
   * Runs statements that change something, in order, each request as one of the change. They are sent once: a delete
   * that was done and is done again could take points that were written in between.
   */
  async changeAll(kind: RequestKind, statements: readonly Statement[], change: RemoteChange): Promise<void> {
    for (const batch of batchesOf(statements)) {
      await change.request(async (attempt) => {
        const answer = await this.#sendQuery(kind, batch, attempt, attempt)
        if (answer.status !== 200) {
          if (answer.status < 500) attempt.refused()
          throw queryRefused(this.#historian, await this.#refusalOf(answer, kind))
        }
        await this.#takeLines(answer.body, batch, kind, attempt)
      })
    }
  }

  /**
   * Writes a body in line protocol, times in microseconds, as one attempt of a change. It is not sent again once it may
   * have been taken: it could undo what others wrote to the same times in between.
   */
  async write(body: string, retentionPolicy: string | undefined, attempt: Attempt): Promise<void> {
    const parameters = new URLSearchParams({ db: this.#config.database, precision: 'u' })
    if (retentionPolicy !== undefined) parameters.set('rp', retentionPolicy)
    const type = 'text/plain; charset=utf-8'
    const answer = await this.#send('write', `/write?${parameters}`, type, body, attempt, attempt)
    if (answer.status < 300) return answer.discard()
    throw writeRefused(this.#historian, await this.#refusalOf(answer, 'write'), attempt)
  }

  close(): Promise<void> {
    return this.#http.close()
  }

  async #queryBatch(kind: RequestKind, batch: readonly Statement[], context: CallContext): Promise<void> {
    let isTaken = false
    const taking = () => {
      isTaken = true
    }
    const ask = async () => {
      const answer = await this.#sendQuery(kind, batch, context, null)
      if (answer.status !== 200) throw queryRefused(this.#historian, await this.#refusalOf(answer, kind))
      await this.#takeLines(heldBack(answer.body, taking), batch, kind, context)
    }
    // Rows that were taken would be taken twice.
    const mayRetry = (error: unknown) => !isTaken && isTransient(error)
    await retrySafely(ask, { signal: context.signal, isTransient: mayRetry })
  }

  #sendQuery(
    kind: RequestKind,
    batch: readonly Statement[],
    context: CallContext,
    attempt: Attempt | null,
  ): Promise<HttpAnswer> {
    const rows = kind === 'metadata' ? CHUNK_ROWS_OF_TEXTS : CHUNK_ROWS
    const parameters = new URLSearchParams({
      db: this.#config.database,
      epoch: 'u',
      chunked: 'true',
      chunk_size: String(rows),
    })
    const body = `q=${encodeURIComponent(batch.map(({ text }) => text).join(';\n'))}`
    this.#statements += batch.length
    const path = `/query?${parameters}`
    return this.#send(kind, path, 'application/x-www-form-urlencoded', body, context, attempt)
  }

  async #takeLines(
    body: AsyncIterable<Buffer>,
    batch: readonly Statement[],
    kind: RequestKind,
    { signal }: CallContext,
  ): Promise<void> {
    const scheduler = new CooperativeScheduler(signal)
    for await (const line of answerLines(body, this.#historian)) {
      signal.throwIfAborted()
      this.#takeLine(line, batch, kind)
      await scheduler.yieldIfDue()
    }
  }

  #takeLine(line: AnswerLine, batch: readonly Statement[], kind: RequestKind): void {
    if (line.error !== undefined) throw this.#statementFailed(line.error, kind)
    for (const { statement_id: id = 0, series = [], error } of line.results ?? []) {
      if (error !== undefined) throw this.#statementFailed(error, kind)
      for (const chunk of series) batch[id]?.take?.(chunk)
    }
  }

  #statementFailed(message: unknown, kind: RequestKind): Error {
    this.#meter.failed(kind)
    return queryRefused(this.#historian, new ServerRefusal(200, String(message)))
  }

  async #refusalOf(answer: HttpAnswer, kind: RequestKind): Promise<ServerRefusal> {
    this.#meter.failed(kind)
    const text = await answer.text(MAX_ERROR_BYTES)
    let message: unknown
    try {
      message = (JSON.parse(text) as { error?: unknown } | null)?.error
    } catch {
      message = undefined
    }
    return new ServerRefusal(answer.status, typeof message === 'string' ? message : text)
  }

  /** Sends with credentials, and once more when the secret was changed since it was read. */
  async #send(
    kind: RequestKind,
    path: string,
    type: string,
    body: string,
    context: CallContext,
    attempt: Attempt | null,
  ): Promise<HttpAnswer> {
    const { gzip } = this.#config
    // InfluxDB takes compressed points, but no compressed queries.
    const isZipped = gzip && kind === 'write'
    const bytes = isZipped ? await gzipped(body) : body
    const send = (secret: string | null) => {
      const headers = {
        'content-type': type,
        ...(gzip && { 'accept-encoding': 'gzip' }),
        ...(isZipped && { 'content-encoding': 'gzip' }),
        ...(secret !== null && this.#authorization(secret)),
      }
      return this.#http.send(
        {
          kind,
          method: 'POST',
          path: this.#pathOf(path),
          headers,
          body: bytes,
          ...(attempt !== null && { sent: () => attempt.sent() }),
        },
        context,
      )
    }
    const secret = this.#secret === null ? null : await this.#secret.read()
    const answer = await send(secret)
    if (answer.status !== 401) return answer
    attempt?.refused()
    await answer.discard()
    const isOther = secret !== null && (await this.#secret!.hasChanged(secret))
    const again = isOther ? await send(await this.#secret!.read()) : null
    if (again !== null && again.status !== 401) return again
    if (again !== null) attempt?.refused()
    await again?.discard()
    this.#meter.failed(kind)
    throw this.#secret === null
      ? unavailable(this.#historian, 'it asks for credentials, and none are configured')
      : refusedCredentials(this.#historian, this.#config.token === undefined ? 'password' : 'token')
  }

  /** A server behind a proxy may have a path of its own. */
  #pathOf(path: string): string {
    return this.#config.url.pathname.replace(/\/+$/, '') + path
  }

  #authorization(secret: string): Readonly<Record<string, string>> {
    const { username, token } = this.#config
    if (token !== undefined) return { authorization: `Token ${secret}` }
    return { authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` }
  }
}

/**
 * A body of which the beginning is held back, as long as it may be asked for again. @param passing called before that
 * is passed on
 */
async function* heldBack(body: AsyncIterable<Buffer>, passing: () => void): AsyncGenerator<Buffer> {
  let held: Buffer[] | null = []
  let bytes = 0
  for await (const chunk of body) {
    if (held === null) {
      yield chunk
      continue
    }
    held.push(chunk)
    bytes += chunk.length
    if (bytes < HELD_BYTES) continue
    passing()
    yield* held
    held = null
  }
  if (held !== null) yield* held
}

function batchesOf(statements: readonly Statement[]): readonly (readonly Statement[])[] {
  const batches: Statement[][] = []
  let batch: Statement[] = []
  let length = 0
  for (const statement of statements) {
    if (batch.length === MAX_STATEMENTS || (length + statement.text.length > MAX_TEXT && batch.length > 0)) {
      batches.push(batch)
      batch = []
      length = 0
    }
    batch.push(statement)
    length += statement.text.length
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}
