import { Counter, Registry } from 'prom-client'
import type { Historian } from '../../../historian/contract.ts'
import type { QueryMeter } from '../../../historian/remote/meter.ts'

/**
 * What the servers of connected historians were sent, as text for Prometheus. Names are configuration, and metrics need no
 * key by default: a historian that the asker may not name is counted with the others of its type, its name left empty.
 */
export async function printQueries(
  historians: readonly Historian[],
  meters: ReadonlyMap<string, QueryMeter>,
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
  for (const { name, type } of historians) {
    for (const count of meters.get(name)?.counts() ?? []) {
      const labels = { historian: mayName(name) ? name : '', type, kind: count.kind }
      sent.inc(labels, count.sent)
      failed.inc(labels, count.failed)
    }
  }
  return registry.metrics()
}
