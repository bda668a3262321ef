import { historiansContent } from '../../openapi/lists.ts'
import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'listWritableHistorians',
  group: 'Historians',
  summary: 'List the writable historians',
  description: 'Those of the historians that the key may see to which can be written.',
  answers: { 200: { description: 'Sorted by name.', content: historiansContent } },
}
