import { systemFiles } from '../../src/storage/files/system-files.ts'
import { DatabaseAliasStore } from '../../src/storage/system/alias-database.ts'
import { DatabaseKeyStore } from '../../src/storage/system/key-database.ts'
import { openSystemDatabase } from '../../src/storage/system/system-database.ts'
import { makeChange } from './system-plan.ts'

// Run by system-snapshot.test.ts: makes changes of keys and aliases from a number on until it is killed, and tells the
// number of each that is made, a line each.

const [folder = '', from = '1'] = process.argv.slice(2)
const database = await openSystemDatabase(systemFiles, folder, { create: true })
const stores = { keys: new DatabaseKeyStore(database), aliases: new DatabaseAliasStore(database) }
for (let number = Number(from); ; number++) {
  await makeChange(number, stores)
  process.stdout.write(`${number}\n`)
}
