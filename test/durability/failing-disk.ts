import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'

// Run by tests under strace, which fails some writes: tells which points were acknowledged, and what reads and writes say once lmdb has
// given up.

const { signal } = new AbortController()
const store = await openHistorianStore(process.argv[2]!, { historian: 'plant', owner: true })
const write = (time: number) => {
  const points = makeColumns(1)
  points.times[0] = time
  return store.write(writeBatch([{ tag: 'a', points }], true), signal)
}
const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code)
const range = { tag: 'a', from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
const acknowledged: number[] = []
let last: unknown = null
for (let time = 0; time < 100 && codeOf(last) !== 'HISTORIAN_UNAVAILABLE'; time++) {
  await write(time).then(
    () => acknowledged.push(time),
    (error) => {
      last = error
    },
  )
}
const read = await store.readRanges([range], signal).then(() => 'ok', codeOf)
const health = await store.checkHealth(signal).then(() => 'ok', String)
console.log(JSON.stringify({ acknowledged, read, health }))
process.exit()
