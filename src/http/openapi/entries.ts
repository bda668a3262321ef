import { COMMON } from './schemas.ts'
import { type Content, mapOf, object, shared } from './types.ts'

/** `entries` of metadata/create and metadata/update. */
export const entriesSchema = mapOf(
  shared('Metadata'),
  'Metadata by tag address. Fields left out are stored as null, null and false.',
)

/** The answer of metadata/create and metadata/update. */
export const handledContent: Content = {
  schema: object(
    {
      handledEntries: mapOf(shared('StoredMetadata'), 'What is stored now, by tag address.'),
      errors: mapOf({ type: 'string' }, 'What went wrong, by tag address.'),
      ...COMMON,
    },
    ['handledEntries', 'errors'],
  ),
  examples: {
    handled: {
      handledEntries: { 'local/FLOW': { description: 'Flow of pump 1', units: 'm3/h', stepped: false } },
      errors: {},
    },
  },
}
