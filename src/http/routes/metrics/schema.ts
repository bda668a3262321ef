import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'metrics',
  group: 'Service',
  summary: 'Metrics for Prometheus',
  description:
    'Counts, durations and loads by route and kind of historian; never keys, tags or historian names. Needs a key when `server.metricsNeedKey` is set.',
  answers: { 200: { description: 'The Prometheus text format.', mediaType: 'text/plain' } },
}
