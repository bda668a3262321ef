import { openDatabase, openEnvironment } from '../../src/storage/environment.ts'

// Run by tests: adds an entry to an environment that others have open, and says so when it is durable.

const [folder, key] = process.argv.slice(2) as [string, string]
const root = openEnvironment(folder)
await openDatabase(root, 'a').put(Buffer.from(key), Buffer.alloc(2_000_000, 1))
console.log('done')
process.exit(0)
