import { defineDriver } from '../../historian/driver.ts'
import { postgresConfigSchema } from './config.ts'

/** PostgreSQL 13 and later, with tables of Tidemark's own or with some that are there already. */
export const postgres = defineDriver({
  type: 'postgres',
  configSchema: postgresConfigSchema,
  open: async (config, environment) => {
    const { openPostgres } = await import('./driver.ts')
    return openPostgres(config, environment)
  },
})
