import type { Operation } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'root',
  group: 'Service',
  summary: 'The explorer, a page for browsers',
  description:
    'Trends of tags and calculations, for people. The page holds nothing of any historian: it asks for a key and reads with it over this interface.',
  answers: { 200: { description: 'The page.', mediaType: 'text/html' } },
}
