import { COMMON } from '../../openapi/schemas.ts'
import { listOf, type Operation, object } from '../../openapi/types.ts'

const maybeText = { type: ['string', 'null'] }

export const operation: Operation = {
  id: 'searchTags',
  group: 'Tags',
  summary: 'Search tags by name and description',
  description:
    'Without regard to case. `*` stands for any text and `?` for one character, over the whole text; a pattern without them matches anywhere. In order of the addresses.',
  parameters: [
    {
      name: 'historian',
      description: 'Name of a historian; all that the key may see when left out. An unknown one is 404.',
      schema: { type: 'string' },
      example: 'local',
    },
    {
      name: 'search',
      description: 'The pattern; all tags when left out.',
      schema: { type: 'string' },
      example: 'FL*',
    },
    {
      name: 'limit',
      description: 'So many tags at most.',
      schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 100 },
      example: 100,
    },
    {
      name: 'cursor',
      description: '`next` of the answer before, with the same historian and search.',
      schema: { type: 'string' },
    },
  ],
  answers: {
    200: {
      description: 'The tags that match.',
      content: {
        schema: object(
          {
            tags: listOf(
              object(
                {
                  tagName: { type: 'string' },
                  qualifiedTagName: { type: 'string', description: 'Its address.' },
                  historianName: { type: 'string' },
                  description: maybeText,
                  units: maybeText,
                  stepped: { type: 'boolean' },
                  metadata: { type: 'object' },
                },
                [
                  'tagName',
                  'qualifiedTagName',
                  'historianName',
                  'description',
                  'units',
                  'stepped',
                  'metadata',
                ],
              ),
            ),
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
