import { exportRequest, rejectedSpans } from './otlp.ts'
import type { Attributes, EndedSpan } from './span.ts'

export interface ExporterOptions {
  /** Where spans are posted to, with its path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Attributes
  /** Of the program. */
  readonly version: string
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
}

/** Spans that wait; further ones are dropped. */
const MOST_WAITING = 4_096
const MOST_OF_EXPORT = 512
const EXPORT_EVERY_MS = 1_000
const TIMEOUT_MS = 10_000
/** How long the last export may take when the service stops. */
const LAST_EXPORT_MS = 2_000

/**
 * Sends spans to a collector by OTLP/HTTP in JSON, some of them at a time, one export after the other. Calls never wait
 * for it: spans that find no room, and those of an export that fails, are dropped and counted.
 */
export class SpanExporter {
  readonly #options: ExporterOptions
  readonly #timer: NodeJS.Timeout
  #waiting: EndedSpan[] = []
  #exporting: Promise<void> | null = null
  #isFailing = false
  #exported = 0
  #dropped = 0

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#export(TIMEOUT_MS), EXPORT_EVERY_MS).unref()
  }

  /** Spans since the start. */
  get counts(): { readonly exported: number; readonly dropped: number } {
    return { exported: this.#exported, dropped: this.#dropped }
  }

  add(span: EndedSpan): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped++
      return
    }
    this.#waiting.push(span)
    if (this.#waiting.length >= MOST_OF_EXPORT) void this.#export(TIMEOUT_MS)
  }

  /** Sends what waits, for 2 s at most. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, LAST_EXPORT_MS)
    const rest = async () => {
      await this.#exporting
      await this.#export(LAST_EXPORT_MS)
    }
    await Promise.race([rest(), late])
    clearTimeout(timer)
  }

  /** Never rejects. */
  async #export(timeoutMs: number): Promise<void> {
    if (this.#exporting !== null) return
    this.#exporting = this.#sendAll(timeoutMs)
    await this.#exporting
    this.#exporting = null
  }

  /**
   * Sends what waits now. What comes meanwhile waits for the next second, or until it fills an export: a request for
   * each few spans would cost several times as much as the calls that they are of.
   */
  async #sendAll(timeoutMs: number): Promise<void> {
    let due = this.#waiting.length
    while (due > 0 || this.#waiting.length >= MOST_OF_EXPORT) {
      const spans = this.#waiting.splice(0, MOST_OF_EXPORT)
      due -= spans.length
      try {
        const rejected = Math.min(spans.length, await this.#send(spans, timeoutMs))
        this.#exported += spans.length - rejected
        this.#dropped += rejected
        if (this.#isFailing) this.#options.log.info({}, 'spans are exported again')
        this.#isFailing = false
      } catch (error) {
        this.#dropped += spans.length
        if (!this.#isFailing) this.#options.log.warn({ reason: reasonOf(error) }, 'spans cannot be exported')
        this.#isFailing = true
      }
    }
  }

  /** Spans that the collector refused. */
  async #send(spans: readonly EndedSpan[], timeoutMs: number): Promise<number> {
    const { url, headers, resource, version } = this.#options
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: exportRequest(spans, resource, version),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    })
    const answer = await response.text()
    if (!response.ok) throw new Error(`the collector answered with HTTP status ${response.status}`)
    return rejectedSpans(answer)
  }
}

/** Without the address, which may hold what is nobody's business. */
function reasonOf(error: unknown): string {
  const { cause, name, message } = error as { cause?: { code?: unknown }; name: string; message: string }
  if (name === 'TimeoutError') return 'no answer in time'
  return cause?.code === undefined ? message : String(cause.code)
}
