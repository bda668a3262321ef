import { printFamilies, splitFamilies } from '../../historian-metrics.ts'
import type { Route } from '../../route.ts'
import { printQueries, queriesOf, splitQueries } from './queries.ts'
import { operation } from './schema.ts'

export const metrics: Route = {
  method: 'GET',
  path: '/metrics',
  isProbe: true,
  access: 'metrics',
  errors: 'array',
  operation,
  handler:
    ({ metrics, meters = new Map(), historians, otherMetrics, historianMetrics }) =>
    async (request, reply) => {
      const [own, given] = await Promise.all([historianMetrics.list(), otherMetrics?.() ?? []])
      const { metrics: remaining, families } = splitFamilies(given)
      const others = splitQueries(remaining)
      const { type, text } = await metrics.print(others.metrics)
      // A historian's name is shown to a key that sees it, as everywhere.
      const mayName = (name: string) => request.caller?.historians.find(name) != null
      const queries = await printQueries(historians.list(), [queriesOf(meters), ...others.queries], mayName)
      return reply.type(type).send(text + queries + printFamilies([...own, ...families], mayName))
    },
}
