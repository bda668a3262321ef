import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'

// Run by failing-disk.test.ts under strace, which fails some calls: tells which points were acknowledged, what the
// others got, and what is read afterwards.

const { signal } = new AbortController()
const store = await openFileStore(process.argv[2]!, { historian: 'plant', owner: true })
const acknowledged: number[] = []
const errors: string[] = []
for (let time = 0; time < 60; time++) {
  const points = makeColumns(1)
  points.times[0] = time
  await store.write(writeBatch([{ tag: 'a', points }], true), signal).then(
    () => acknowledged.push(time),
    (error) => errors.push(String(error.code)),
  )
}
const range = { tag: 'a', from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
const [read] = await store.readRanges([range], signal)
const health = await store.checkHealth(signal).then(() => 'ok', String)
console.log(JSON.stringify({ acknowledged, errors, stored: [...read!.points.times], health }))
process.exit()
