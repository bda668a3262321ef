import { COMMON } from './schemas.ts'
import { type Answer, type Content, listOf, mapOf, object, type Schema, shared } from './types.ts'

export const dryRun: Schema = { type: 'boolean', description: 'Only counts; nothing is changed.' }

/** The answer of delete/points and metadata/delete: how many points went, by tag address. */
export function deletedContent(message: string): Content {
  return {
    schema: object(
      {
        message: { type: 'string' },
        deleted: mapOf({ type: 'integer', minimum: 0 }, 'Points deleted, by tag address.'),
        errors: listOf({ type: 'string' }),
        ...COMMON,
      },
      ['message', 'deleted', 'errors'],
    ),
    examples: { deleted: { message, deleted: { 'local/FLOW': 2 }, errors: [] } },
  }
}

export const issuesAnswer: Answer = {
  description: 'There were issues; nothing was changed.',
  content: { schema: shared('Error'), examples: {} },
}
