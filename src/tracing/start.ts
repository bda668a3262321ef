import { randomUUID } from 'node:crypto'
import { SpanExporter } from './exporter.ts'
import { Tracer } from './tracer.ts'

export interface TracingOptions {
  /** Address of the collector, without the path of the protocol. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  /** From 0 to 1, of the calls that bring no trace. */
  readonly sampleRatio: number
  readonly serviceName: string
}

/** The spans of one process. */
export interface Tracing {
  readonly tracer: Tracer
  /** Spans that were exported and dropped since the start. */
  counts(): { readonly exported: number; readonly dropped: number }
  /** Exports what waits, for 2 s at most. */
  close(): Promise<void>
}

const TRACES_PATH = '/v1/traces'

export function startTracing(
  { endpoint, headers, sampleRatio, serviceName }: TracingOptions,
  version: string,
  log: ConstructorParameters<typeof SpanExporter>[0]['log'],
): Tracing {
  const base = endpoint.replace(/\/+$/, '')
  const exporter = new SpanExporter({
    url: base.endsWith(TRACES_PATH) ? base : base + TRACES_PATH,
    headers,
    resource: {
      'service.name': serviceName,
      'service.version': version,
      'service.instance.id': randomUUID(),
      'process.pid': process.pid,
    },
    version,
    log,
  })
  return {
    tracer: new Tracer(sampleRatio, (span) => exporter.add(span)),
    counts: () => exporter.counts,
    close: () => exporter.close(),
  }
}
