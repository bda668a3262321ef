import type { PostgresConfig } from '../config.ts'
import { type Layout, Once } from '../layout.ts'
import type { Server } from '../server.ts'
import { findInTable, searchTable } from '../tag-table.ts'
import { ManagedChanges } from './changes.ts'
import { managedPlaces, managedTables, managedTagTable } from './layout.ts'
import { ensureSchema, readTrouble, SCHEMA_VERSION } from './schema.ts'

/** Tidemark's own tables, made or brought up to date by the first call. */
export function openManaged(server: Server, { schema, writable }: PostgresConfig, historian: string): Layout {
  const tables = managedTables(schema)
  const places = managedPlaces(tables)
  let tagTable = managedTagTable(tables, SCHEMA_VERSION)
  const looked = new Once(async (context) => {
    const version = await ensureSchema(server, tables, { historian, mayChange: writable }, context)
    tagTable = managedTagTable(tables, version)
    return places
  })
  return {
    ready: (context) => looked.get(context),
    check: async (context) => {
      await looked.get(context)
      await server.read('health', context, (session) =>
        session.query(`SELECT FROM ${tables.tags}, ${tables.points} LIMIT 0`),
      )
    },
    trouble: async (context) => {
      await looked.get(context)
      return server.read('health', context, (session) => readTrouble(session, tables))
    },
    findTags: (session, names) => findInTable(session, tagTable, names),
    searchTags: (session, query) => searchTable(session, tagTable, query),
    changes: writable ? new ManagedChanges(server, tables, historian) : null,
  }
}
