import { type Content, listOf, type Operation, object } from '../../openapi/types.ts'

const content: Content = {
  schema: object(
    {
      status: { type: 'string', enum: ['ready', 'degraded', 'unavailable'] },
      store: {
        ...object({ state: { type: 'string', enum: ['up', 'down'] } }, ['state']),
        description: 'Where keys and aliases are shared with other instances; left out without one.',
      },
      historians: listOf(
        object(
          {
            name: { type: 'string', description: 'Only with a valid key.' },
            type: { type: 'string', description: 'Kind of historian.' },
            state: {
              type: 'string',
              enum: ['up', 'degraded', 'down'],
              description: '`degraded`: reads are answered, and changes fail.',
            },
            reason: {
              type: 'string',
              description: 'Why it is not up, or what to look at although it is; only with a valid key.',
            },
            writable: { type: 'boolean' },
            durability: {
              type: 'string',
              enum: ['fsync', 'replicated', 'server'],
              description:
                'What an acknowledged write survives: `fsync` loss of power here, `replicated` loss of a machine, `server` what the server promises.',
            },
            atomicWrites: {
              type: 'string',
              enum: ['request', 'tag', 'none'],
              description: 'What becomes visible as a whole.',
            },
          },
          ['type', 'state', 'writable', 'durability', 'atomicWrites'],
        ),
        'With a key, the historians that it may see.',
      ),
    },
    ['status', 'historians'],
  ),
  examples: {
    withKey: {
      status: 'ready',
      historians: [
        {
          name: 'local',
          type: 'embedded',
          state: 'up',
          writable: true,
          durability: 'fsync',
          atomicWrites: 'request',
        },
      ],
    },
    withoutKey: {
      status: 'ready',
      historians: [
        { type: 'embedded', state: 'up', writable: true, durability: 'fsync', atomicWrites: 'request' },
      ],
    },
  },
}

export const operation: Operation = {
  id: 'ready',
  group: 'Service',
  summary: 'The state of the service and of each historian',
  description:
    'For a readiness probe. `degraded` is still 200: the historians that are up are served, and a label or entry of one that is down says so. Historian names are shown only to a valid key, which is not needed otherwise. States are at most one second old.',
  answers: {
    200: {
      description: '`ready`, or `degraded`: some historian is down, or changes of one fail.',
      content,
    },
    503: {
      description: '`unavailable`: every historian is down, or the store of keys and aliases is.',
      content: { ...content, examples: {} },
    },
  },
}
