import { dryRun, issuesAnswer } from '../../openapi/corrections.ts'
import { COMMON } from '../../openapi/schemas.ts'
import { listOf, mapOf, type Operation, object } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'renameTags',
  group: 'Corrections',
  summary: 'Rename tags inside their historian',
  description:
    'Metadata and points stay with the tag. Refused when a new name is taken. All or nothing, and durable before it is answered.',
  request: {
    schema: object({ renames: mapOf({ type: 'string' }, 'New address by old address.'), dryRun }, [
      'renames',
    ]),
    examples: { dryRun: { renames: { 'local/FLOW': 'local/PUMP_1_FLOW' }, dryRun: true } },
  },
  answers: {
    200: {
      description: 'They are renamed, or with `dryRun` would be.',
      content: {
        schema: object(
          {
            message: { type: 'string' },
            renamed: mapOf({ type: 'string' }, 'New address by old address.'),
            errors: listOf({ type: 'string' }),
            ...COMMON,
          },
          ['message', 'renamed', 'errors'],
        ),
        examples: {
          renamed: {
            message: 'All tags renamed!',
            renamed: { 'local/FLOW': 'local/PUMP_1_FLOW' },
            errors: [],
          },
        },
      },
    },
    400: issuesAnswer,
  },
  errors: [504],
}
