import { deletedContent, dryRun, issuesAnswer } from '../../openapi/corrections.ts'
import { listOf, mapOf, type Operation, object, shared } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'deletePoints',
  group: 'Corrections',
  summary: 'Delete the points of time ranges',
  description:
    'Deletes the points of each range `[from, to)` and answers how many each tag lost. All or nothing, and durable before it is answered. Ranges that overlap count a point once.',
  request: {
    schema: object(
      {
        ranges: mapOf(
          listOf(object({ from: shared('Timestamp'), to: shared('Timestamp') }, ['from', 'to'])),
          'Ranges by tag address.',
        ),
        dryRun,
        now: shared('OptionalTimestamp'),
        timeZone: shared('TimeZone'),
      },
      ['ranges'],
    ),
    examples: {
      dryRun: {
        ranges: { 'local/FLOW': [{ from: '2026-01-15T10:00:00Z', to: '2026-01-15T10:30:00Z' }] },
        dryRun: true,
      },
    },
  },
  answers: {
    200: {
      description: 'They are deleted, or with `dryRun` counted.',
      content: deletedContent('All points deleted!'),
    },
    400: issuesAnswer,
  },
  errors: [504],
}
