import { entriesSchema, handledContent } from '../../openapi/entries.ts'
import { type Operation, object } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'updateMetadata',
  group: 'Tags',
  summary: 'Update the metadata of tags',
  description:
    'Replaces the metadata of each tag; fields left out are reset. An entry whose tag does not exist is created only with `createIfMissing`, and otherwise has a sentence in `errors`; the other entries are handled.',
  request: {
    schema: object({ entries: entriesSchema, createIfMissing: { type: ['boolean', 'null'] } }, ['entries']),
    examples: {
      update: {
        entries: { 'local/FLOW': { description: 'Flow of pump 1', units: 'l/s', stepped: false } },
        createIfMissing: true,
      },
    },
  },
  answers: { 200: { description: 'Each entry is handled or has an error.', content: handledContent } },
  errors: [504],
}
