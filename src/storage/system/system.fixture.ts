import type { TestContext } from 'node:test'
import { systemFiles } from '../files/system-files.ts'
import { DatabaseAliasStore } from './alias-database.ts'
import { DatabaseKeyStore } from './key-database.ts'
import { openSystemDatabase } from './system-database.ts'

/** Keys and aliases in a folder, made when they are missing; closed when the test is over. */
export async function systemIn(t: TestContext, folder: string) {
  const database = await openSystemDatabase(systemFiles, folder, { create: true })
  t.after(() => database.close())
  return { database, keys: new DatabaseKeyStore(database), aliases: new DatabaseAliasStore(database) }
}
