import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'

// Run by tests with a limit on the size of files: writes until that fails, and tells what then is there. With `fold` as its second
// argument, points move from the journal into blocks all the time.

const { signal } = new AbortController()
const fold = process.argv[3] === 'fold' ? { points: 60_000, records: 3 } : {}
const store = await openHistorianStore(process.argv[2]!, { historian: 'plant', owner: true, fold })
const write = (tag: string, from: number, count: number) => {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = from + i
    // Hard to pack, so that the disk is full soon.
    points.values[i] = Math.sqrt(from + i)
  }
  return store.write(writeBatch([{ tag, points }], true), signal)
}

let written = 0
const codes: string[] = []
while (codes.length < 2) {
  try {
    await write('a', written, 50_000)
    written += 50_000
  } catch (error) {
    codes.push(String((error as { code?: unknown }).code))
  }
}
const range = { tag: 'a', from: -1, to: 1e15, order: 'asc', limit: 1e9 } as const
const [read] = await store.readRanges([range], signal)
const small = await write('b', 0, 1).then(
  () => 'ok',
  (error) => String(error),
)
await store.close()
console.log(JSON.stringify({ written, codes, stored: read!.points.times.length, small }))
