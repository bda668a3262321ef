import { isObject } from '../../errors/fields.ts'
import type { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext } from '../../historian/contract.ts'
import type { DriverEnvironment } from '../../historian/driver.ts'
import type { Attempt } from '../../historian/remote/change.ts'
import { CredentialReader } from '../../historian/remote/credentials.ts'
import { HOPS_HEADER, nextHops } from '../../historian/remote/hops.ts'
import { HttpClient, type HttpRequest } from '../../historian/remote/http-client.ts'
import { retrySafely } from '../../historian/remote/retry.ts'
import { isTransient, refusedCredentials, unavailable } from '../../historian/remote/unavailable.ts'
import type { TidemarkConfig } from './config.ts'
import { errorOfIssue, notUnderstood, type UpstreamIssue } from './errors.ts'
import { reportRefusal } from './outcomes.ts'

/** What a call is counted as. */
export type CallKind =
  | 'read'
  | 'estimate'
  | 'metadata'
  | 'search'
  | 'write'
  | 'correct'
  | 'health'
  | 'discover'

/** An answer of the other instance: a JSON object, whatever is in it. */
export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly issues: readonly UpstreamIssue[]
}

/** An answer is held in memory as a whole; callers ask for pages that stay far below this. */
const MAX_ANSWER_BYTES = 256 * 1024 ** 2

/** Statuses with a body of the interface that says what is wrong with parts of a request. */
const ANSWER_STATUSES: ReadonlySet<number> = new Set([200, 400, 403, 404, 413, 429, 503, 504])

/** The other instance over HTTP: its key, its errors as a whole, and what may be asked twice. */
export class Instance {
  readonly historian: string
  readonly #client: HttpClient
  readonly #key: CredentialReader
  readonly #meter: DriverEnvironment['meter']
  readonly #basePath: string
  /** Errors of an instance that had too much in work: it did nothing, and may be asked again. */
  readonly #turnedAway = new WeakSet<object>()

  constructor(config: TidemarkConfig, { name, meter }: Pick<DriverEnvironment, 'name' | 'meter'>) {
    const url = new URL(config.url)
    this.historian = name
    this.#basePath = url.pathname.replace(/\/+$/, '')
    this.#meter = meter
    this.#key = new CredentialReader(config.key, name)
    this.#client = new HttpClient({
      historian: name,
      url,
      tls: config.tls ?? null,
      meter,
      connections: config.connections,
      connectSeconds: config.connectSeconds,
      // The driver's own limit falls due before; these are for a connection that hangs without a call.
      headersSeconds: config.timeoutSeconds + 5,
      bodySeconds: config.timeoutSeconds + 5,
      gzip: config.gzip,
      connected: () => this.#key.forget(),
    })
  }

  /** A call that changes nothing: it is made again when the connection fails. */
  read(kind: CallKind, path: string, body: string | null, context: CallContext): Promise<Answer> {
    return retrySafely(() => this.call(kind, path, body, context), {
      signal: context.signal,
      isTransient: (error) => isTransient(error) || this.didNothing(error),
    })
  }

  /**
   * One call, a GET without a body and a POST with one. Rejects with what is wrong with the call as a whole: no
   * connection, no valid key, too much in work, an answer that is none of a Tidemark; what is wrong with parts of it is
   * in the answer.
   */
  call(kind: CallKind, path: string, body: string | null, context: CallContext): Promise<Answer> {
    return this.#call(kind, path, body, context, null)
  }

  /** One call that changes something; the attempt is notified of its outcome. Rejects as `call` does. */
  change(kind: CallKind, path: string, body: string, attempt: Attempt): Promise<Answer> {
    return this.#call(kind, path, body, attempt, attempt)
  }

  async #call(
    kind: CallKind,
    path: string,
    body: string | null,
    context: CallContext,
    attempt: Attempt | null,
  ): Promise<Answer> {
    const key = await this.#key.read()
    const answer = await this.#send(kind, path, body, key, context, attempt)
    // A key that was changed meanwhile is found without a restart.
    if (answer.status !== 401) return answer
    const isOther = await this.#key.hasChanged(key)
    const again = isOther
      ? await this.#send(kind, path, body, await this.#key.read(), context, attempt)
      : answer
    if (again.status !== 401) return again
    this.#key.forget()
    throw refusedCredentials(this.historian, 'key')
  }

  /** Whether an error says that the other instance turned the call away before it looked at it. */
  didNothing(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#turnedAway.has(error)
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #send(
    kind: CallKind,
    path: string,
    body: string | null,
    key: string,
    context: CallContext,
    attempt: Attempt | null,
  ): Promise<Answer> {
    const request: HttpRequest = {
      kind,
      method: body === null ? 'GET' : 'POST',
      path: this.#basePath + path,
      headers: {
        'x-api-key': key,
        [HOPS_HEADER]: nextHops(),
        accept: 'application/json',
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      ...(body !== null && { body }),
      ...(attempt !== null && { sent: () => attempt.sent() }),
    }
    const answer = await this.#client.send(request, context)
    const { status } = answer
    if (status !== 200) this.#meter.failed(kind)
    if (status === 401) {
      attempt?.refused()
      await answer.discard()
      return { status, body: {}, issues: [] }
    }
    const text = await answer.text(MAX_ANSWER_BYTES)
    const parsed = ANSWER_STATUSES.has(status) ? parseObject(text) : null
    const issues = parsed === null ? [] : issuesOf(parsed)
    if (attempt !== null && status !== 200) reportRefusal(attempt, status, issues)
    if (parsed === null) throw this.#notTidemark(status)
    const [first] = issues
    const isRefusedWhole =
      status !== 200 && first !== undefined && issues.length === 1 && first.label === null
    const isTurnedAway = first?.code === 'OVERLOADED' || first?.code === 'RATE_LIMITED'
    if (isRefusedWhole && (isTurnedAway || first.code === 'SHUTTING_DOWN')) {
      const error = errorOfIssue(this.historian, first)
      if (isTurnedAway) this.#turnedAway.add(error)
      throw error
    }
    if (isRefusedWhole && WHOLE_CALL_CODES.has(first.code)) throw errorOfIssue(this.historian, first)
    return { status, body: parsed, issues }
  }

  #notTidemark(status: number): TidemarkError {
    return status === 200
      ? notUnderstood(this.historian, 'it is no JSON object')
      : unavailable(this.historian, `it answered with HTTP status ${status}`)
  }
}

/** What is never about one tag or label. */
const WHOLE_CALL_CODES: ReadonlySet<string> = new Set([
  'BODY_TOO_LARGE',
  'HOP_LIMIT',
  'HOP_LOOP',
  'KEY_READ_ONLY',
  'PATH_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
])

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function issuesOf({ issues }: Readonly<Record<string, unknown>>): readonly UpstreamIssue[] {
  if (!Array.isArray(issues)) return []
  return issues.filter(isObject).map(({ code, message, tag, label }) => ({
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : 'it gave no reason',
    tag: typeof tag === 'string' ? tag : null,
    label: typeof label === 'string' ? label : null,
  }))
}
