import { aliasContent, aliasExample, aliasName } from '../../openapi/aliases.ts'
import { type Operation, object } from '../../openapi/types.ts'

const maybeText = { type: ['string', 'null'] }
const { name: _, ...sent } = aliasExample

export const operation: Operation = {
  id: 'putAlias',
  group: 'Aliases',
  summary: 'Make an alias, or change what it refers to',
  description:
    'The address must parse, and no alias may refer to itself, directly or through others. What it refers to need not exist yet; what does not is named in `warnings`. Durable before it is answered, and changed everywhere at once.',
  parameters: [aliasName],
  request: {
    schema: object(
      {
        tag: { type: 'string', description: 'Tag address or calculation of at most 10,000 characters.' },
        description: { ...maybeText, description: 'Null when left out.' },
        units: { ...maybeText, description: 'Null when left out.' },
        name: {
          type: ['string', 'null'],
          description: 'May be sent back as it was read; the name in the path counts.',
        },
      },
      ['tag'],
    ),
    examples: { efficiency: sent },
  },
  answers: {
    200: { description: 'There was one; it has changed.', content: aliasContent },
    201: { description: 'It was made.', content: aliasContent },
  },
}
