import type { SharedStore, StoreLog } from '../../../storage/shared-store.ts'
import { PostgresAliasStore } from './alias-store.ts'
import type { PostgresStoreConfig } from './config.ts'
import { StoreConnection } from './connection.ts'
import { PostgresKeyStore } from './key-store.ts'

/** Keys and aliases in tables of their own. Connects when it is first asked. */
export function openStore(config: PostgresStoreConfig, log: StoreLog): SharedStore {
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
}
