import { Meta, openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { DATABASES, META } from '../../src/storage/names.ts'

// Run by tests: reads an environment and holds on to the state that it saw, until it is killed.

const root = openEnvironment(process.argv[2]!)
new Meta(openDatabase(root, DATABASES.meta)).get(META.format)
const held = root.useReadTransaction()
process.send!('holds')
// As long as it is referred to: lmdb gives up what is collected as garbage.
setInterval(() => held, 1e6)
