import { aliasName } from '../../openapi/aliases.ts'
import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'deleteAlias',
  group: 'Aliases',
  summary: 'Remove an alias',
  description:
    'What it referred to stays. Aliases that refer to it stay too, and refer to nothing. Durable before it is answered.',
  parameters: [aliasName],
  answers: { 204: { description: 'It is gone.' } },
  errors: [404],
}
