import { setTimeout as sleep } from 'node:timers/promises'
import type { TagMetadata } from '../historian/contract.ts'
import type {
  Access,
  AliasPage,
  AliasQuery,
  Change,
  ColumnsBody,
  MetadataAnswer,
  MetadataChange,
  MultiBody,
  SearchPage,
  SearchQuery,
} from './access.ts'
import { CommandError, usageError } from './exit.ts'
import { joinErrors, problemsOf, withHints } from './hints.ts'
import { TooManyTags } from './tag-chunks.ts'

/** Waits before trying again what a service could not take now; writing twice is always safe. */
const RETRY_SECONDS = [0.5, 1, 2, 5, 10]
/** Aliases asked for at once. */
const CHUNK = 1000

export interface HttpAccessOptions {
  /** Where the service answers, its base path included. */
  readonly url: string
  readonly key: string | undefined
  readonly signal: AbortSignal
}

/** Reaches a running service over HTTP. */
export class HttpAccess implements Access {
  readonly #base: string
  readonly #key: string
  readonly #signal: AbortSignal

  constructor({ url, key, signal }: HttpAccessOptions) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw usageError(`--url ${url}: the address of a service such as http://127.0.0.1:8080 is expected`)
    }
    if (key === undefined) {
      throw usageError(
        '--url needs an API key: give --key, or better the variable TIDEMARK_KEY, which no list of processes shows',
      )
    }
    const { origin, pathname } = new URL(url)
    this.#base = origin + pathname.replace(/\/+$/, '')
    this.#key = key
    this.#signal = signal
  }

  async listHistorians() {
    const all = await this.#get<{ historians: { name: string }[] }>('/historian/list')
    const writable = await this.#get<{ historians: { name: string }[] }>('/historian/listwritable')
    const names = new Set(writable.historians.map(({ name }) => name))
    return all.historians.map(({ name }) => ({ name, writable: names.has(name) }))
  }

  async searchTags({ historian, search, limit, cursor }: SearchQuery): Promise<SearchPage> {
    const query = new URLSearchParams({ limit: String(limit) })
    if (historian !== undefined) query.set('historian', historian)
    if (search !== undefined) query.set('search', search)
    if (cursor !== undefined) query.set('cursor', cursor)
    return await this.#get<SearchPage>(`/historian/search?${query}`)
  }

  async getMetadata(addresses: readonly string[]): Promise<MetadataAnswer> {
    return metadataOf(await this.#post('/historian/metadata/get', { tags: addresses }), 'entries')
  }

  async putMetadata(change: MetadataChange, body: object): Promise<MetadataAnswer> {
    return metadataOf(await this.#post(`/historian/${change}`, body), 'handledEntries')
  }

  async writePoints(points: ReadonlyMap<string, ColumnsBody>): Promise<number> {
    const body = { points: Object.fromEntries(points), createTags: true }
    const answer = await this.#post('/historian/write/points', body)
    const { tooOld } = answer.body
    if (typeof tooOld === 'number' && tooOld > 0) return tooOld
    refuseErrors(answer)
    return 0
  }

  async multi(body: object): Promise<MultiBody> {
    const answer = await this.#post('/historian/multi', body)
    const { results } = answer.body as { results?: unknown }
    if (typeof results !== 'object' || results === null) refuseErrors(answer)
    return answer.body as unknown as MultiBody
  }

  async change(change: Change, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#post(`/historian/${change}`, body)
    refuseErrors(answer)
    return answer.body
  }

  async listAliases({ prefix, cursor }: AliasQuery): Promise<AliasPage> {
    const query = new URLSearchParams({ limit: String(CHUNK) })
    if (prefix !== undefined) query.set('prefix', prefix)
    if (cursor !== undefined) query.set('cursor', cursor)
    return await this.#get<AliasPage>(`/historian/aliases?${query}`)
  }

  async putAlias(name: string, alias: object) {
    const answer = await this.#fetch(pathOfAlias(name), jsonRequest('PUT', alias))
    if (answer.status !== 200 && answer.status !== 201) throw refusal(answer)
    const { warnings = [] } = answer.body as { readonly warnings?: readonly string[] }
    return { isNew: answer.status === 201, warnings }
  }

  async deleteAlias(name: string): Promise<void> {
    const answer = await this.#fetch(pathOfAlias(name), { method: 'DELETE' })
    if (answer.status !== 204) throw refusal(answer)
  }

  async close(): Promise<void> {}

  async #get<Body>(path: string): Promise<Body> {
    const answer = await this.#fetch(path, {})
    if (answer.status !== 200) throw refusal(answer)
    return answer.body as Body
  }

  #post(path: string, body: object): Promise<Answer> {
    return this.#fetch(path, jsonRequest('POST', body))
  }

  /** One request and its JSON answer; a service that is busy or away is tried again a few times. */
  async #fetch(path: string, init: RequestInit): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const wait = RETRY_SECONDS[attempt]
      try {
        const response = await fetch(this.#base + path, {
          ...init,
          headers: { ...(init.headers as object), 'X-Api-Key': this.#key, Accept: 'application/json' },
          signal: this.#signal,
          redirect: 'error',
        })
        const text = await response.text()
        // A historian that is away answers 503 too, and may be back as soon.
        const mayPass = response.status === 503 || response.status === 429
        if (mayPass && wait !== undefined) {
          const asked = Number(response.headers.get('retry-after') ?? Number.NaN)
          await sleep(1000 * Math.min(Number.isFinite(asked) ? asked : wait, 60), undefined, {
            signal: this.#signal,
          })
          continue
        }
        return { status: response.status, body: response.status === 204 ? {} : this.#parse(text, response) }
      } catch (error) {
        if (error instanceof CommandError) throw error
        this.#signal.throwIfAborted()
        const cause = (error as { cause?: NodeJS.ErrnoException }).cause ?? (error as NodeJS.ErrnoException)
        // At the first try nothing was going on yet: a wrong address should be reported at once.
        const isAway = cause.code === 'ECONNRESET' || (attempt > 0 && cause.code === 'ECONNREFUSED')
        if (wait === undefined || !isAway) throw this.#unreachable(cause)
        await sleep(1000 * wait, undefined, { signal: this.#signal })
      }
    }
  }

  #parse(text: string, response: Response): Readonly<Record<string, unknown>> {
    try {
      const body: unknown = JSON.parse(text)
      if (typeof body === 'object' && body !== null) return body as Record<string, unknown>
    } catch {
      // something else answers there
    }
    throw new CommandError(
      `${this.#base} answered ${response.status} without JSON: is it the address of a Tidemark service, base path included?`,
    )
  }

  #unreachable(cause: NodeJS.ErrnoException): CommandError {
    const reasons: Readonly<Record<string, string>> = {
      ECONNREFUSED: 'nothing listens there; is the service running?',
      ENOTFOUND: 'the host name is not known',
      ECONNRESET: 'the connection was cut',
      ETIMEDOUT: 'there is no answer',
    }
    const reason = reasons[cause.code ?? ''] ?? cause.message
    return new CommandError(`${this.#base} cannot be reached: ${reason}`, undefined, cause)
  }
}

function jsonRequest(method: string, body: object): RequestInit {
  return { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

function pathOfAlias(name: string): string {
  return `/historian/aliases/${encodeURIComponent(name)}`
}

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

function metadataOf(answer: Answer, field: 'entries' | 'handledEntries'): MetadataAnswer {
  const { message, issues = [], [field]: entries } = answer.body as MetadataBody
  if (message !== undefined || typeof entries !== 'object' || entries === null) throw refusal(answer)
  return { entries: new Map(Object.entries(entries)), problems: problemsOf(issues) }
}

interface MetadataBody {
  readonly message?: string
  readonly entries?: Readonly<Record<string, TagMetadata>>
  readonly handledEntries?: Readonly<Record<string, TagMetadata>>
  readonly issues?: MultiBody['issues']
}

/** An answer whose `errors` is not empty, or whose status is no success, ends the command. */
function refuseErrors(answer: Answer): void {
  if (answer.status !== 200 || errorsOf(answer).length > 0) throw refusal(answer)
}

function errorsOf({ body }: Answer): readonly string[] {
  const { errors } = body
  return typeof errors === 'object' && errors !== null ? Object.values(errors).map(String) : []
}

function refusal(answer: Answer): CommandError {
  const message = typeof answer.body.message === 'string' ? answer.body.message : null
  const { issues } = answer.body as Pick<MultiBody, 'issues'>
  const errors = withHints(errorsOf(answer), issues).filter((error) => error !== message)
  const sentence = joinErrors(message ?? `The service answered ${answer.status}`, errors)
  return issues?.[0]?.code === 'LIMIT_TAGS' ? new TooManyTags(sentence) : new CommandError(sentence)
}
