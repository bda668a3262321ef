import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { Meta, openDatabase, openEnvironment } from '../../src/storage/environment.ts'
import { DATABASES, LEASE_FILE, META } from '../../src/storage/names.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'

// Run by tests: takes a historian over from an owner that lives, as if that were in another container and had stood still, writes a
// point, and ends.

const folder = process.argv[2]!
const root = openEnvironment(folder)
const meta = new Meta(openDatabase(root, DATABASES.meta))
const owner = meta.get(META.owner) as object
await root.transaction(() => meta.put(META.owner, { ...owner, pidNamespace: 'pid:[1]' }))
await root.close()
utimesSync(join(folder, LEASE_FILE), 1, 1)
const store = await openHistorianStore(folder, { historian: 'plant', owner: true })
const points = makeColumns(1)
points.times[0] = 2
await store.write(writeBatch([{ tag: 'a', points }], false), new AbortController().signal)
console.log('written')
process.exit(0)
