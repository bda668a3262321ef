import { Meta, openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { DATABASES, META } from '../../src/storage/names.ts'

// Run by tests: reads an environment and holds on to the state that it saw, until it is killed.

const root = openEnvironment(process.argv[2]!)
new Meta(openDatabase(root, DATABASES.meta)).get(META.format)
root.useReadTransaction()
process.send!('holds')
setInterval(() => {}, 1e6)
