import { COMMON } from '../../openapi/schemas.ts'
import { listOf, mapOf, type Operation, object, shared } from '../../openapi/types.ts'

export const operation: Operation = {
  id: 'writePoints',
  group: 'Points',
  summary: 'Write points to many tags',
  description:
    'All points of the request are written, or none: every check over the whole request comes first, and any issue means that nothing was written and no tag made. Points that are older than their tag keeps (POINT_TOO_OLD, with `tooOld` as their number) alone are left out, and all others written. A point at a time that the tag has already replaces it. The answer comes when the points are durable. 503 says for each historian whether it took its points; writing the same request again is always safe.',
  request: {
    schema: object(
      {
        points: mapOf(
          { oneOf: [listOf(shared('WritePoint')), shared('WriteColumns')] },
          'Points by tag address `<historian_name>/<tag_name>`.',
        ),
        createTags: { type: 'boolean', description: 'Whether missing tags are made; false when left out.' },
        now: {
          ...shared('OptionalTimestamp'),
          description: 'What relative times count from; the wall clock when left out.',
        },
        timeZone: shared('TimeZone'),
      },
      ['points'],
    ),
    examples: {
      points: {
        createTags: true,
        points: {
          'local/FLOW': [
            { timestamp: '2026-01-15T10:00:00Z', value: 10 },
            { timestamp: 1768471800, value: 30.5, status: 'BAD' },
          ],
        },
      },
      columns: {
        createTags: true,
        points: {
          'local/FLOW': { timestamps: [1768471200000, 1768471800000], values: [10, 30.5], unit: 'ms' },
        },
      },
    },
  },
  answers: {
    200: {
      description: 'All points are written and durable.',
      content: {
        schema: object(
          { message: { type: 'string' }, errors: listOf({ type: 'string' }), warnings: COMMON.warnings },
          ['message', 'errors'],
        ),
        examples: { written: { message: 'All points written!', errors: [] } },
      },
    },
    400: {
      description: 'There were issues; nothing was written, or with `tooOld` all but so many points.',
      content: {
        schema: shared('Error'),
        examples: {
          issues: {
            message: 'There were errors in the request',
            errors: ['Historian lab for tag FLOW does not exist'],
            issues: [
              {
                code: 'HISTORIAN_NOT_FOUND',
                message: 'Historian lab for tag FLOW does not exist',
                tag: 'lab/FLOW',
              },
            ],
          },
          tooOld: {
            message: 'All points written, but for those that are too old',
            errors: [
              'Point of tag local/FLOW at 2026-01-15T10:00:00.000Z is too old: the oldest time that is taken is 2026-01-16T00:00:00.000Z',
            ],
            issues: [
              {
                code: 'POINT_TOO_OLD',
                message:
                  'Point of tag local/FLOW at 2026-01-15T10:00:00.000Z is too old: the oldest time that is taken is 2026-01-16T00:00:00.000Z',
                tag: 'local/FLOW',
                index: 0,
              },
            ],
            tooOld: 1,
          },
        },
      },
    },
  },
  errors: [504],
}
