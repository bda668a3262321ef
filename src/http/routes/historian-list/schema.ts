import { historiansContent } from '../../openapi/lists.ts'
import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'listHistorians',
  group: 'Historians',
  summary: 'List the historians',
  description:
    'All historians that the key may see, and `aliases` once there is an alias that it sees. Other virtual ones (`calc`, `constants`, ...) are not listed.',
  answers: { 200: { description: 'Sorted by name.', content: historiansContent } },
}
