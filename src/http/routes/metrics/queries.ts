import { Counter, Registry } from 'prom-client'
import type { Historian } from '../../../historian/contract.ts'
import type { QueryCount, QueryMeter } from '../../../historian/remote/meter.ts'

/** What one process sent to the servers of its historians: by the historian's name. Plain data, for other processes. */
export interface SentQueries {
  readonly kind: 'sent-queries'
  readonly byHistorian: readonly (readonly [historian: string, counts: readonly QueryCount[]])[]
}

export function queriesOf(meters: ReadonlyMap<string, QueryMeter>): SentQueries {
  return { kind: 'sent-queries', byHistorian: Array.from(meters, ([name, meter]) => [name, meter.counts()]) }
}

/** Takes the queries out of what other processes gave as their metrics. */
export function splitQueries(others: readonly (readonly object[])[]): {
  readonly metrics: readonly (readonly object[])[]
  readonly queries: readonly SentQueries[]
} {
  return {
    metrics: others.map((metrics) => metrics.filter((metric) => !isQueries(metric))),
    queries: others.flat().filter(isQueries),
  }
}

function isQueries(metric: object): metric is SentQueries {
  return 'kind' in metric && metric.kind === 'sent-queries'
}

/**
 * What the servers of connected historians were sent, as text for Prometheus. Names are configuration, and metrics need
 * no key by default: a historian that the asker may not name is counted with the others of its type, its name left
 * empty.
 */
export async function printQueries(
  historians: readonly Historian[],
  processes: readonly SentQueries[],
  mayName: (historian: string) => boolean,
): Promise<string> {
  const registry = new Registry()
  const labelNames = ['historian', 'type', 'kind'] as const
  const sent = new Counter({
    name: 'tidemark_historian_queries_total',
    help: "Queries sent to connected historians' servers, by kind of query.",
    labelNames,
    registers: [registry],
  })
  const failed = new Counter({
    name: 'tidemark_historian_query_failures_total',
    help: 'Those of them that no answer came to, or that were refused.',
    labelNames,
    registers: [registry],
  })
  const types = new Map(historians.map(({ name, type }) => [name, type]))
  for (const [name, counts] of processes.flatMap(({ byHistorian }) => byHistorian)) {
    const type = types.get(name)
    if (type === undefined) continue
    for (const count of counts) {
      const labels = { historian: mayName(name) ? name : '', type, kind: count.kind }
      sent.inc(labels, count.sent)
      failed.inc(labels, count.failed)
    }
  }
  return registry.metrics()
}
