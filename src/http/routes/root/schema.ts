import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'root',
  group: 'Service',
  summary: 'The way to the rendered reference',
  description: 'A browser that opens the service without a path is sent on.',
  answers: { 302: { description: 'To `/docs`.', headers: { Location: 'The page.' } } },
}
