import { type Operation, object } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'openapi',
  group: 'Service',
  summary: 'This reference as an OpenAPI 3.1 document',
  description: 'Rendered at `/docs`.',
  answers: {
    200: {
      description: 'The document.',
      content: {
        schema: object({ openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } }, [
          'openapi',
          'info',
          'paths',
        ]),
        examples: {},
      },
    },
  },
}
