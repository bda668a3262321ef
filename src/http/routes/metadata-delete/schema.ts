import { deletedContent, dryRun, issuesAnswer } from '../../openapi/corrections.ts'
import { listOf, type Operation, object } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'deleteTags',
  group: 'Corrections',
  summary: 'Delete tags with all their points',
  description: 'Answers how many points each tag had. All or nothing, and durable before it is answered.',
  request: {
    schema: object({ tags: listOf({ type: 'string' }, 'Tag addresses.'), dryRun }, ['tags']),
    examples: { dryRun: { tags: ['local/FLOW'], dryRun: true } },
  },
  answers: {
    200: {
      description: 'They are deleted, or with `dryRun` counted.',
      content: deletedContent('All tags deleted!'),
    },
    400: issuesAnswer,
  },
  errors: [504],
}
