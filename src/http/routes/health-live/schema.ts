import { type Operation, object } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'live',
  group: 'Service',
  summary: 'Whether the process answers',
  description: 'For a liveness probe. Asks no historian and needs no key.',
  answers: {
    200: {
      description: 'It does.',
      content: {
        schema: object({ status: { type: 'string', const: 'live' } }, ['status']),
        examples: { live: { status: 'live' } },
      },
    },
  },
}
