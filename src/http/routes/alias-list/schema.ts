import { aliasExample, aliasSchema } from '../../openapi/aliases.ts'
import { COMMON } from '../../openapi/schemas.ts'
import { listOf, type Operation, object } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'listAliases',
  group: 'Aliases',
  summary: 'List the aliases',
  description:
    'Aliases that refer only to historians which the key may see, by name. `/historian/search?historian=aliases` finds them by pattern.',
  parameters: [
    {
      name: 'prefix',
      description: 'Beginning of the names; all aliases when left out.',
      schema: { type: 'string', maxLength: 512 },
      example: 'boiler/',
    },
    {
      name: 'limit',
      description: 'So many aliases at most.',
      schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 100 },
      example: 100,
    },
    {
      name: 'cursor',
      description: '`next` of the answer before, with the same prefix.',
      schema: { type: 'string', minLength: 1 },
    },
  ],
  answers: {
    200: {
      description: 'A page of them.',
      content: {
        schema: object(
          {
            aliases: listOf(aliasSchema),
            next: { type: 'string', description: 'Where to go on; left out when there are no more.' },
            ...COMMON,
          },
          ['aliases'],
        ),
        examples: { one: { aliases: [aliasExample] } },
      },
    },
  },
  errors: [400, 504],
}
