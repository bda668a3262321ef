import { COMMON, OPTIONAL_METADATA } from '../../openapi/schemas.ts'
import { listOf, type Operation, object } from '../../openapi/types.ts'

const maybeText = { type: ['string', 'null'] }

/** A tag as a search lists it. */
export const FOUND_TAG = object(
  {
    tagName: { type: 'string' },
    qualifiedTagName: { type: 'string', description: 'Its address.' },
    historianName: { type: 'string' },
    description: maybeText,
    units: maybeText,
    stepped: { type: 'boolean' },
    ...OPTIONAL_METADATA,
    metadata: { type: 'object' },
  },
  ['tagName', 'qualifiedTagName', 'historianName', 'description', 'units', 'stepped', 'metadata'],
)

export const operation: Operation = {
  id: 'searchTags',
  group: 'Tags',
  summary: 'Search tags by name and description',
  description:
    'Without regard to case. Several words must all be found, each anywhere in name or description; a text in double quotes is one word as it stands. With `*` (any text) or `?` (one character) the text is one pattern over the whole name or description, spaces included. In order of the addresses.',
  parameters: [
    {
      name: 'historian',
      description: 'Name of a historian; all that the key may see when left out. An unknown one is 404.',
      schema: { type: 'string' },
      example: 'local',
    },
    {
      name: 'search',
      description: 'Words or a pattern; all tags when left out.',
      schema: { type: 'string' },
      example: 'FL*',
    },
    {
      name: 'limit',
      description: 'So many tags at most.',
      schema: { type: 'integer', minimum: 1, maximum: 100_000, default: 100 },
      example: 100,
    },
    {
      name: 'cursor',
      description: '`next` of the answer before, with the same historian and search.',
      schema: { type: 'string', minLength: 1 },
    },
  ],
  answers: {
    200: {
      description: 'The tags that match.',
      content: {
        schema: object(
          {
            tags: listOf(FOUND_TAG),
            next: { type: 'string', description: 'Where to go on; left out when there are no more.' },
            ...COMMON,
          },
          ['tags'],
        ),
        examples: {
          flow: {
            tags: [
              {
                tagName: 'FLOW',
                qualifiedTagName: 'local/FLOW',
                historianName: 'local',
                description: 'Flow of pump 1',
                units: 'm3/h',
                stepped: false,
                metadata: {},
              },
            ],
          },
        },
      },
    },
  },
  errors: [400, 404, 504],
}
