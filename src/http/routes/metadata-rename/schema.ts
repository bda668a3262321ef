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
    schema: object(
      {
        renames: mapOf({ type: 'string' }, 'New address by old address.'),
        aliases: {
          type: ['string', 'null'],
          enum: ['refuse', 'follow', 'break', null],
          description:
            'What becomes of aliases that name such a tag: `refuse` (when left out) does not rename it and names them, `follow` lets them refer to the new name, `break` leaves them as they are.',
        },
        dryRun,
      },
      ['renames'],
    ),
    examples: { dryRun: { renames: { 'local/FLOW': 'local/PUMP_1_FLOW' }, aliases: 'follow', dryRun: true } },
  },
  answers: {
    200: {
      description: 'They are renamed, or with `dryRun` would be.',
      content: {
        schema: object(
          {
            message: { type: 'string' },
            renamed: mapOf({ type: 'string' }, 'New address by old address.'),
            aliases: mapOf({ type: 'string' }, 'With `follow`: what aliases refer to now, by their names.'),
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
