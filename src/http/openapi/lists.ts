import { type Content, listOf, object } from './types.ts'

/** The answer of both lists of historians. */
export const historiansContent: Content = {
  schema: object({ historians: listOf(object({ name: { type: 'string' } }, ['name'])) }, ['historians']),
  examples: { one: { historians: [{ name: 'local' }] } },
}
