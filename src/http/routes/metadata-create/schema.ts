import { entriesSchema, handledContent } from '../../openapi/entries.ts'
import { type Operation, object } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'createMetadata',
  group: 'Tags',
  summary: 'Create tags with metadata',
  description:
    'An entry whose tag exists is overwritten only with `updateIfExists`, and otherwise has a sentence in `errors`; the other entries are handled.',
  request: {
    schema: object({ entries: entriesSchema, updateIfExists: { type: ['boolean', 'null'] } }, ['entries']),
    examples: {
      create: {
        entries: {
          'local/FLOW': { description: 'Flow of pump 1', units: 'm3/h' },
          'local/VALVE': { stepped: true },
        },
        updateIfExists: true,
      },
    },
  },
  answers: { 200: { description: 'Each entry is handled or has an error.', content: handledContent } },
  errors: [504],
}
