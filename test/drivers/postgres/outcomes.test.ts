import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import { found, startPostgres, testEnvironment } from '../../servers/postgres.ts'
import { outcomePromises } from '../outcome-promises.ts'

outcomePromises(
  'PostgreSQL',
  async () => {
    const server = await startPostgres({ settings: 'fsync=off\nmax_connections=250' })
    return {
      port: server.port,
      open: (port, timeoutSeconds) => {
        const config = { ...server.config('outcomes'), port, timeoutSeconds, connectSeconds: 5 }
        return postgres.open(postgresConfigSchema.parse(config), testEnvironment())
      },
      strides: { write: 5, delete: 7, hold: 3 },
      stop: () => server.stop('immediate'),
    }
  },
  found.skip,
)
