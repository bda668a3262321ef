import type { Attributes, AttributeValue, EndedSpan, SpanKind } from './span.ts'

/** Numbers of `SpanKind` in opentelemetry/proto/trace/v1/trace.proto. */
const KINDS = { internal: 1, server: 2, client: 3 } as const satisfies Record<SpanKind, number>
const STATUS_ERROR = 2

/**
 * The body of an OTLP/HTTP export in JSON: an ExportTraceServiceRequest by the JSON mapping of protobuf, but for ids,
 * which are hexadecimal.
 * @param resource  what the process says of itself
 * @source          OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding"
 */
export function exportRequest(spans: readonly EndedSpan[], resource: Attributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'tidemark', version }, spans: spans.map(spanObject) }],
      },
    ],
  })
}

/** Spans that the collector says it did not take, of the body of its answer; 0 when it says nothing. */
export function rejectedSpans(answer: string): number {
  try {
    const { partialSuccess } = JSON.parse(answer) as { partialSuccess?: { rejectedSpans?: unknown } }
    const rejected = Number(partialSuccess?.rejectedSpans ?? 0)
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0
  } catch {
    return 0
  }
}

function spanObject(span: EndedSpan): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== null && { parentSpanId: span.parentId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: keyValues(span.attributes),
    ...(span.failed && { status: { code: STATUS_ERROR } }),
  }
}

/** Whole microseconds, which a double still tells apart. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`
}

function keyValues(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
