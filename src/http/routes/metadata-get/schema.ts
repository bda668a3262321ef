import { COMMON } from '../../openapi/schemas.ts'
import { listOf, mapOf, type Operation, object, shared } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'getMetadata',
  group: 'Tags',
  summary: 'Metadata of named tags',
  description: 'Only reads, so a read key will do. A tag that does not exist has a sentence in `errors`.',
  request: {
    schema: object({ tags: listOf({ type: 'string' }, 'Tag addresses.') }, ['tags']),
    examples: { two: { tags: ['local/FLOW', 'local/BIAS'] } },
  },
  answers: {
    200: {
      description: 'The metadata by tag address.',
      content: {
        schema: object(
          {
            entries: mapOf(shared('StoredMetadata'), 'By tag address.'),
            errors: mapOf({ type: 'string' }, 'By tag address.'),
            ...COMMON,
          },
          ['entries', 'errors'],
        ),
        examples: {
          one: {
            entries: { 'local/FLOW': { description: 'Flow of pump 1', units: 'm3/h', stepped: false } },
            errors: { 'local/NONE': 'Tag local/NONE does not exist' },
            issues: [{ code: 'TAG_NOT_FOUND', message: 'Tag local/NONE does not exist', tag: 'local/NONE' }],
          },
        },
      },
    },
  },
  errors: [504],
}
