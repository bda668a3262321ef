import type { SharedStoreDefinition } from '../../../storage/shared-store.ts'
import { type PostgresStoreConfig, postgresStoreSchema } from './config.ts'

/** Keys and aliases in PostgreSQL 13 and later, in tables of their own. */
export const postgresStore: SharedStoreDefinition<PostgresStoreConfig> = {
  type: 'postgres',
  configSchema: postgresStoreSchema,
  open: async (config, log) => {
    const { openStore } = await import('./open-store.ts')
    return openStore(config, log)
  },
}
