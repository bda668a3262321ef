import type { SharedStoreDefinition } from '../../../storage/shared-store.ts'
import { PostgresAliasStore } from './alias-store.ts'
import { type PostgresStoreConfig, postgresStoreSchema } from './config.ts'
import { StoreConnection } from './connection.ts'
import { PostgresKeyStore } from './key-store.ts'

/** Keys and aliases in PostgreSQL 13 and later, in tables of their own. */
export const postgresStore: SharedStoreDefinition<PostgresStoreConfig> = {
  type: 'postgres',
  configSchema: postgresStoreSchema,
  open: (config, log) => {
    const connection = new StoreConnection(config, log)
    return {
      keys: new PostgresKeyStore(connection),
      aliases: new PostgresAliasStore(connection),
      check: async () => {
        await connection.read('KEYS_UNAVAILABLE', (session) =>
          session.query(`SELECT FROM ${connection.tables.keys} LIMIT 0`),
        )
      },
      close: () => connection.close(),
    }
  },
}
