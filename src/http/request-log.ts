import type { FastifyBaseLogger } from 'fastify'

type Bindings = Parameters<FastifyBaseLogger['child']>[0]
type Options = Parameters<FastifyBaseLogger['child']>[1]

/**
 * The log of one request, made when its first line is written: most requests write none of their own, and a logger of
 * pino costs more than all that is done with the rest of a small request's head. For Fastify's `childLoggerFactory`.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger
  readonly #bindings: Bindings
  readonly #options: Options
  #made: FastifyBaseLogger | null = null

  /** @param bindings what every line of the request holds */
  constructor(parent: FastifyBaseLogger, bindings: Bindings, options: Options) {
    this.#parent = parent
    this.#bindings = bindings
    this.#options = options
  }

  get #log(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(this.#bindings, this.#options)
    return this.#made
  }

  get level(): string {
    return this.#log.level
  }

  set level(level: string) {
    this.#log.level = level
  }

  child(bindings: Bindings, options?: Options): FastifyBaseLogger {
    return this.#log.child(bindings, options)
  }

  fatal(...line: unknown[]): void {
    ;(this.#log.fatal as Line).apply(this.#log, line)
  }

  error(...line: unknown[]): void {
    ;(this.#log.error as Line).apply(this.#log, line)
  }

  warn(...line: unknown[]): void {
    ;(this.#log.warn as Line).apply(this.#log, line)
  }

  info(...line: unknown[]): void {
    ;(this.#log.info as Line).apply(this.#log, line)
  }

  debug(...line: unknown[]): void {
    ;(this.#log.debug as Line).apply(this.#log, line)
  }

  trace(...line: unknown[]): void {
    ;(this.#log.trace as Line).apply(this.#log, line)
  }

  silent(...line: unknown[]): void {
    ;(this.#log.silent as Line).apply(this.#log, line)
  }
}

type Line = (...line: unknown[]) => void
