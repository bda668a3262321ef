import { beginSpan, newId, type ServerSpan, type SpanSink, type Trace } from './span.ts'
import { isSampled, makeTraceparent, spanIdOf, traceIdOf } from './traceparent.ts'

/** Begins the spans of calls that come in: with a trace as its caller decided, without one for a share of the calls. */
export class Tracer {
  readonly #sampleRatio: number
  readonly #sink: SpanSink
  readonly #random: () => number

  /**
   * @param sampleRatio  from 0 to 1, of the calls that bring no trace
   * @param random       from 0 to below 1
   */
  constructor(sampleRatio: number, sink: SpanSink, random: () => number = Math.random) {
    this.#sampleRatio = sampleRatio
    this.#sink = sink
    this.#random = random
  }

  /**
   * The trace of a call; its span has to be ended when the call has.
   * @param incoming  the header of the call when it is valid, `null` otherwise
   * @param began     of `performance.now()`, when the call came
   */
  begin(
    incoming: string | null,
    name: string,
    attributes: ServerSpan['attributes'],
    began = performance.now(),
  ): Trace {
    if (incoming !== null && !isSampled(incoming)) return { traceparent: incoming, span: null }
    const traceId = incoming === null ? newId(16) : traceIdOf(incoming)
    // Those that are called learn that this trace is not recorded, and do not begin one of their own.
    if (incoming === null && this.#random() >= this.#sampleRatio)
      return { traceparent: makeTraceparent(traceId, newId(8), false), span: null }
    const parentId = incoming === null ? null : spanIdOf(incoming)
    const span = beginSpan({ traceId, parentId, name, attributes, began }, this.#sink)
    return { traceparent: span.traceparent, span }
  }
}
