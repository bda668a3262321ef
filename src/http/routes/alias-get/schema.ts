import { aliasContent, aliasName } from '../../openapi/aliases.ts'
import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'getAlias',
  group: 'Aliases',
  summary: 'What an alias refers to',
  description: 'An alias that refers to a historian which the key may not see does not exist for it.',
  parameters: [aliasName],
  answers: { 200: { description: 'The alias.', content: aliasContent } },
  errors: [404],
}
