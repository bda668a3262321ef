/** Header of W3C Trace Context: the trace that a call belongs to, and who called. */
export const TRACE_HEADER = 'traceparent'

/** Version 00, or a later one, which may go on after these fields. */
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]*)?$/

/** Longer ones are none. */
const MAX_LENGTH = 256

/** The header of a request when it is one; `null` otherwise, as the standard has it: a broken one is passed over. */
export function readTraceparent(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== 'string' || header.length > MAX_LENGTH || !TRACEPARENT.test(header)) return null
  return header.startsWith('00-') && header.length !== 55 ? null : header
}

/** The id of the trace, for the log. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}

/** The id of the span that called. */
export function spanIdOf(traceparent: string): string {
  return traceparent.slice(36, 52)
}

/** Whether the caller may have recorded its span. */
export function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1
}

/** The header for calls that are made within a span. */
export function makeTraceparent(traceId: string, spanId: string, sampled: boolean): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
}
