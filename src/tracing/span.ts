import { AsyncLocalStorage } from 'node:async_hooks'
import { randomFillSync } from 'node:crypto'
import { makeTraceparent } from './traceparent.ts'

export type SpanKind = 'internal' | 'server' | 'client'
export type AttributeValue = string | number | boolean
export type Attributes = Readonly<Record<string, AttributeValue>>

/** What of a span is exported, when it has ended. */
export interface EndedSpan {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly name: string
  readonly kind: SpanKind
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly failed: boolean
}

/** Takes the spans that have ended. */
export type SpanSink = (span: EndedSpan) => void

/** Further spans of one call are not recorded: a calculation may read page after page. */
const MOST_SPANS_OF_CALL = 1_000

/** What all spans of one call share. */
interface CallSpans {
  readonly traceId: string
  readonly sink: SpanSink
  /** Wall clock at a time of the monotonic one, which all times of the call are counted from. */
  readonly originMs: number
  count: number
}

/** A span that is recorded. */
export class Span {
  readonly spanId = newId(8)
  readonly #call: CallSpans
  readonly #parentId: string | null
  readonly #name: string
  readonly #kind: SpanKind
  readonly #began: number
  readonly #attributes: Record<string, AttributeValue>
  #failed = false

  /** Use `beginSpan` and `traced`. */
  constructor(
    call: CallSpans,
    parentId: string | null,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    began = performance.now(),
  ) {
    this.#call = call
    this.#parentId = parentId
    this.#name = name
    this.#kind = kind
    this.#began = began
    this.#attributes = { ...attributes }
  }

  get traceparent(): string {
    return makeTraceparent(this.#call.traceId, this.spanId, true)
  }

  set(name: string, value: AttributeValue): void {
    this.#attributes[name] = value
  }

  /** @param type  a code or a class of errors, never a message: those may hold names */
  fail(type: string): void {
    this.#failed = true
    this.#attributes['error.type'] = type
  }

  /** `null` when the call has too many spans already. */
  child(name: string, kind: SpanKind, attributes: Attributes): Span | null {
    if (this.#call.count >= MOST_SPANS_OF_CALL) return null
    this.#call.count++
    return new Span(this.#call, this.spanId, name, kind, attributes)
  }

  end(): void {
    const { originMs, sink, traceId } = this.#call
    sink({
      traceId,
      spanId: this.spanId,
      parentId: this.#parentId,
      name: this.#name,
      kind: this.#kind,
      startMs: originMs + this.#began,
      endMs: originMs + performance.now(),
      attributes: this.#attributes,
      failed: this.#failed,
    })
  }
}

export interface ServerSpan {
  readonly traceId: string
  /** Of the caller; `null` for the first span of a trace. */
  readonly parentId: string | null
  readonly name: string
  readonly attributes: Attributes
  /** Of `performance.now()`, when the call came. */
  readonly began: number
}

/** The span of a call that came in. */
export function beginSpan({ traceId, parentId, name, attributes, began }: ServerSpan, sink: SpanSink): Span {
  const originMs = Date.now() - performance.now()
  return new Span({ traceId, sink, originMs, count: 1 }, parentId, name, 'server', attributes, began)
}

/**
 * Random bytes for ids, made for some hundred of them at once: each look for new ones costs as much as a small read.
 */
const random = Buffer.alloc(4_096)
let used = random.length

/** So many random bytes in hexadecimal digits. */
export function newId(bytes: 8 | 16): string {
  if (used + bytes > random.length) {
    randomFillSync(random)
    used = 0
  }
  used += bytes
  return random.toString('hex', used - bytes, used)
}

/** The trace that work belongs to. */
export interface Trace {
  /** For calls that are made by the work. */
  readonly traceparent: string
  /** `null` where it is not recorded here. */
  readonly span: Span | null
}

const present = new AsyncLocalStorage<Trace>()

/** Does work for a call of a trace, so that calls made by the work say so. */
export function withinTrace<Result>(trace: Trace | null, work: () => Result): Result {
  return trace === null ? work() : present.run(trace, work)
}

/** The header for a call that is made in the work at hand; `null` without a trace. */
export function presentTraceparent(): string | null {
  return present.getStore()?.traceparent ?? null
}

/**
 * Does work within a child of the span at hand, which ends when the work has, and fails with it. Where nothing is
 * recorded the work is given `null`, and nothing else is done.
 */
export function traced<Result>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: (span: Span | null) => Result,
): Result {
  const span = present.getStore()?.span?.child(name, kind, attributes) ?? null
  if (span === null) return work(null)
  let result: Result
  try {
    result = present.run({ traceparent: span.traceparent, span }, () => work(span))
  } catch (error) {
    throw failed(span, error)
  }
  if (result instanceof Promise) {
    return result.then(
      (value) => {
        span.end()
        return value
      },
      (error: unknown) => {
        throw failed(span, error)
      },
    ) as Result
  }
  span.end()
  return result
}

function failed(span: Span, error: unknown): unknown {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
  span.fail(String(code ?? name ?? 'error'))
  span.end()
  return error
}
