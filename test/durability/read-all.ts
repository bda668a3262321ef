import { crc32 } from 'node:zlib'
import { open } from 'lmdb'

// Run by tests: reads all of an environment that may be cut off, with lmdb alone, then takes all of its free pages. Tells how many entries it
// read; lmdb ends the process where the file does not hold what it uses.

const AS_IS = { encode: (value: Buffer) => value, decode: (value: Buffer) => value }
const OPTIONS = { keyEncoding: 'binary', encoder: AS_IS, cache: false, overlappingSync: false } as const
const root = open({ path: process.argv[2]!, noSubdir: false, maxDbs: 16, ...OPTIONS })
let entries = 0
let sum = 0
for (const name of process.argv.slice(3)) {
  const store = root.openDB<Buffer, Buffer>(name, OPTIONS as never)
  for (const { value } of store.getRange({ start: Buffer.of(0) })) {
    entries++
    // lmdb-js gives a view of more memory than the value has.
    sum += crc32(value.subarray(0, value.length))
  }
}
const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number }
const store = root.openDB<Buffer, Buffer>(process.argv[3]!, OPTIONS as never)
await root.transaction(() => {
  for (let i = 0; i < lastPageNumber / 2; i++) store.put(Buffer.from(`\xff${i}`), Buffer.alloc(pageSize))
})
console.log(JSON.stringify({ entries, sum }))
