import { COMMON } from '../../openapi/schemas.ts'
import { listOf, type Operation, object } from '../../openapi/types.ts'
import { FOUND_TAG } from '../historian-search/schema.ts'

export const operation: Operation = {
  id: 'browseTags',
  group: 'Tags',
  summary: 'Browse the names of tags as a tree',
  description:
    'The level directly below a beginning of names: branches, which are names cut behind their next separator, and tags that have none. In order by code point, branches and tags as they come; a page counts both.',
  parameters: [
    {
      name: 'historian',
      description: 'Name of a historian, or `aliases`. An unknown one is 404.',
      schema: { type: 'string', minLength: 1 },
      required: true,
      example: 'local',
    },
    {
      name: 'prefix',
      description:
        'Names that begin with this text and go on, as they are written; all when left out. A branch of an answer is the prefix of the level below it.',
      schema: { type: 'string', maxLength: 1_000 },
      example: 'T1.',
    },
    {
      name: 'separators',
      description: 'Characters that names are taken apart at.',
      schema: { type: 'string', maxLength: 16, default: './_' },
      example: './_',
    },
    {
      name: 'limit',
      description: 'So many branches and tags at most.',
      schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
      example: 100,
    },
    {
      name: 'cursor',
      description: '`next` of the answer before, with the same historian, prefix and separators.',
      schema: { type: 'string', minLength: 1 },
    },
  ],
  answers: {
    200: {
      description: 'One level of the tree.',
      content: {
        schema: object(
          {
            branches: listOf({ type: 'string' }),
            tags: listOf(FOUND_TAG),
            next: { type: 'string', description: 'Where to go on; left out when there are no more.' },
            ...COMMON,
          },
          ['branches', 'tags'],
        ),
        examples: {
          unit: {
            branches: ['T1.PUMP_'],
            tags: [
              {
                tagName: 'T1.LEVEL',
                qualifiedTagName: 'local/T1.LEVEL',
                historianName: 'local',
                description: 'Tank level',
                units: '%',
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
