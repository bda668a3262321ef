import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'metrics',
  group: 'Service',
  summary: 'Metrics for Prometheus',
  description:
    'Counts, durations and loads by route and kind of historian; never keys or tags. What connected historians were sent is counted for each of them when a key is sent that sees it, and otherwise together by kind. Needs a key when `server.metricsNeedKey` is set.',
  answers: { 200: { description: 'The Prometheus text format.', mediaType: 'text/plain' } },
}
