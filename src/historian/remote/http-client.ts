import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gzip as gzipOf } from 'node:zlib'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { presentTraceparent, type Span, traced } from '../../tracing/span.ts'
import { TRACE_HEADER } from '../../tracing/traceparent.ts'
import type { CallContext } from '../contract.ts'
import type { DriverMeter } from '../driver.ts'
import { readTls, type TlsSettings } from './tls.ts'
import { codeOf, timedOut, unavailable, unreachable } from './unavailable.ts'

/** What a connection to one server needs. */
export interface HttpClientOptions {
  /** Named in every error. */
  readonly historian: string
  /** Scheme, host and port count; credentials in it are not sent. */
  readonly url: URL
  /** For https; `null` for the system's certificates, or http. */
  readonly tls: TlsSettings | null
  readonly meter: DriverMeter
  /** Connections at the same time, at least 1; more requests wait for one. 8 when left out. */
  readonly connections?: number
  /** Requests under way and waiting at the same time; beyond it they are refused at once. 1000 when left out. */
  readonly maxRequests?: number
  /** Time for a connection to come about; 5 when left out. */
  readonly connectSeconds?: number
  /** Time from the end of a request to the head of its answer; 30 when left out. */
  readonly headersSeconds?: number
  /** Idle timeout between two chunks of an answer's body; 30 when left out. */
  readonly bodySeconds?: number
  /** Whether bodies travel compressed, both ways. */
  readonly gzip?: boolean
  /** Called when a connection was made; the request that needed it has its headers already. */
  readonly connected?: () => void
}

export interface HttpRequest {
  /** What the meter counts it as, such as `read` or `write`: a word of the driver's, never from outside. */
  readonly kind: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With the query; what comes from outside is percent-encoded by the caller. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /**
   * Called right before the first byte goes onto a connection, which is never when none comes about or none is free in
   * time. What it throws fails the request, unsent.
   */
  readonly sent?: () => void
}

export interface HttpAnswer {
  readonly status: number
  /** Value of a header, `null` without it; several are joined. @param name in lower case */
  header(name: string): string | null
  /**
   * The body chunk by chunk as it arrives, decompressed; the server is slowed down to the reader's pace. It is read
   * once, and must be: leaving the loop early closes the connection. Rejects like `send`.
   */
  readonly body: AsyncIterable<Buffer>
  /** The body as a whole; HISTORIAN_UNAVAILABLE when it is longer than so many bytes. */
  text(maxBytes: number): Promise<string>
  /** Lets go of a body that is not wanted. */
  discard(): Promise<void>
}

const DEFAULTS = {
  connections: 8,
  maxRequests: 1_000,
  connectSeconds: 5,
  headersSeconds: 30,
  bodySeconds: 30,
}

/** Smaller bodies do not become smaller on the wire. */
const LEAST_GZIP_BYTES = 1_400

const gzip = promisify(gzipOf)

/**
 * Requests to one server over a bounded pool of HTTP/1.1 connections, which are made when needed, kept, and made again
 * after they broke. Nothing is tried again here (retry.ts), and no redirect is followed.
 */
export class HttpClient {
  readonly #options: HttpClientOptions & typeof DEFAULTS
  readonly #pool: Pool
  readonly #dispatcher: Dispatcher
  #requests = 0

  constructor(options: HttpClientOptions) {
    this.#options = { ...DEFAULTS, ...definedOf(options) }
    const { url, connections, headersSeconds, bodySeconds } = this.#options
    this.#pool = new Pool(url.origin, {
      connections,
      pipelining: 1,
      // One connection per request under way: closing it is what tells the server that the caller has gone.
      allowH2: false,
      headersTimeout: headersSeconds * 1_000,
      bodyTimeout: bodySeconds * 1_000,
      connect: connectorOf(this.#options),
    })
    this.#pool.on('connect', () => options.connected?.())
    this.#dispatcher = this.#pool.compose(announcing)
  }

  /**
   * Sends a request and gives the answer's status and headers, whatever the status is. When the signal is aborted,
   * until the body has been read, the connection is closed. Rejects with HISTORIAN_UNAVAILABLE when there is no answer,
   * or with the signal's reason.
   */
  send(request: HttpRequest, context: CallContext): Promise<HttpAnswer> {
    const { historian, url } = this.#options
    // Neither path nor query: those of databases hold names of tags.
    const attributes = {
      'http.request.method': request.method,
      'server.address': url.hostname,
      'server.port': Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      'tidemark.historian': historian,
    }
    return traced(`${request.method} ${request.kind}`, 'client', attributes, async (span) => {
      const answer = await this.#send(request, context)
      reportStatus(span, answer.status)
      return answer
    })
  }

  async #send(request: HttpRequest, { signal }: CallContext): Promise<HttpAnswer> {
    const { historian, meter, maxRequests } = this.#options
    signal.throwIfAborted()
    if (this.#requests >= maxRequests)
      throw unavailable(historian, `${maxRequests} requests to it wait already`)
    this.#requests++
    meter.sent(request.kind)
    try {
      const { headers, body } = await this.#encoded(request)
      const answer = await this.#dispatcher.request({
        method: request.method,
        path: request.path,
        headers,
        body: body ?? null,
        signal,
        ...(request.sent && { [SENT]: request.sent }),
      } as Dispatcher.RequestOptions)
      return new PoolAnswer(answer, (error) => this.#failure(error, request.kind, signal), historian)
    } catch (error) {
      throw this.#failure(error, request.kind, signal)
    } finally {
      this.#requests--
    }
  }

  /** Closes all connections; what is under way fails. */
  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #encoded({ headers: given = {}, body }: HttpRequest) {
    const trace = presentTraceparent()
    const headers = trace === null ? given : { ...given, [TRACE_HEADER]: trace }
    if (!this.#options.gzip) return { headers, body }
    const accepting = { ...headers, 'accept-encoding': 'gzip' }
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    if (bytes === undefined || bytes.length < LEAST_GZIP_BYTES) return { headers: accepting, body }
    return { headers: { ...accepting, 'content-encoding': 'gzip' }, body: await gzip(bytes) }
  }

  #failure(error: unknown, kind: string, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    const { historian, meter, headersSeconds, bodySeconds } = this.#options
    meter.failed(kind)
    if (error instanceof TidemarkError) return error
    const code = codeOf(error)
    if (code === 'UND_ERR_HEADERS_TIMEOUT') return timedOut(historian, headersSeconds, error)
    if (code === 'UND_ERR_BODY_TIMEOUT') return timedOut(historian, bodySeconds, error)
    if (code?.startsWith('Z_')) return unavailable(historian, 'its answer is not understood (gzip)', error)
    if ((error as Error).name === 'HTTPParserError')
      return unavailable(historian, 'it does not answer by HTTP', error)
    return unreachable(historian, error)
  }
}

function reportStatus(span: Span | null, status: number): void {
  if (span === null) return
  span.set('http.response.status_code', status)
  if (status >= 400) span.fail(String(status))
}

/** Key among the options of a request under which the connection finds whom to tell that it is sent. */
const SENT = Symbol('sent')

/** Notifies listeners when their request goes onto a connection. */
function announcing(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (options, handler) => {
    const { [SENT]: sent } = options as { readonly [SENT]?: () => void }
    return dispatch(options, sent === undefined ? handler : telling(handler, sent))
  }
}

function telling(handler: Dispatcher.DispatchHandler, sent: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context)
      sent()
    },
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart: (...start) => handler.onResponseStart?.(...start),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...error) => handler.onResponseError?.(...error),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onBodySent: (...chunk) => handler.onBodySent?.(...chunk),
    onRequestSent: () => handler.onRequestSent?.(),
  }
}

type Response = Awaited<ReturnType<Pool['request']>>

class PoolAnswer implements HttpAnswer {
  readonly status: number
  readonly #response: Response
  readonly #failure: (error: unknown) => unknown
  readonly #historian: string

  constructor(response: Response, failure: (error: unknown) => unknown, historian: string) {
    this.status = response.statusCode
    this.#response = response
    this.#failure = failure
    this.#historian = historian
  }

  header(name: string): string | null {
    const value = this.#response.headers[name]
    return value === undefined ? null : String(value)
  }

  get body(): AsyncIterable<Buffer> {
    return this.#chunks()
  }

  async text(maxBytes: number): Promise<string> {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of this.body) {
      bytes += chunk.length
      if (bytes > maxBytes) throw unavailable(this.#historian, `its answer is longer than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  async discard(): Promise<void> {
    // What is left of a short body is read, so that the connection can be kept; of a long one, the connection is
    // closed.
    await this.#response.body.dump({ limit: 64 * 1024 }).catch(() => {})
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    const { body } = this.#response
    const zipped = this.header('content-encoding') === 'gzip'
    const source: Readable = zipped ? gunzipped(body) : body
    try {
      for await (const chunk of source) yield chunk as Buffer
    } catch (error) {
      throw this.#failure(error)
    } finally {
      body.destroy()
    }
  }
}

function gunzipped(body: Readable): Readable {
  const gunzip = createGunzip()
  body.on('error', (error) => gunzip.destroy(error))
  return body.pipe(gunzip)
}

/** Connects with the certificates that the files hold at that moment. */
function connectorOf(options: HttpClientOptions & typeof DEFAULTS): buildConnector.connector {
  const { url, tls, historian, connectSeconds } = options
  const timeout = connectSeconds * 1_000
  const plain = { timeout, allowH2: false }
  if (url.protocol !== 'https:' || tls === null) return buildConnector(plain)
  return (target, callback) => {
    readTls(tls, historian).then(
      // No sessions are kept: one that was made under the certificates before would count as accepted.
      (settings) => buildConnector({ ...plain, ...settings, maxCachedSessions: 0 })(target, callback),
      (error: Error) => callback(error, null),
    )
  }
}

function definedOf<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields
}
