import { writeSync } from 'node:fs'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { type KillRequest, requestOf } from './kill-plan.ts'

// Run by power.test.ts under strace: writes a number of requests and marks when each was asked for and when it was answered.

const [folder, writers, requests] = process.argv.slice(2)
const { signal } = new AbortController()
const store = await openHistorianStore(folder!, {
  historian: 'plant',
  owner: true,
  fold: { points: 300, records: 6, ageMs: 10_000 },
})

function make(request: KillRequest): Promise<unknown> {
  switch (request.kind) {
    case 'write':
      return store.write(writeBatch(request.tags, true), signal)
    case 'delete':
      return store.deletePoints(request.ranges, false, signal)
    case 'drop':
      return store.deleteTags(request.tags, false, signal)
  }
}

const mark = (what: string, writer: number, sequence: number) =>
  writeSync(2, `MARK ${what} ${writer} ${sequence}\n`)

await Promise.all(
  Array.from({ length: Number(writers) }, async (_, writer) => {
    for (let sequence = 1; sequence <= Number(requests); sequence++) {
      mark('asked', writer, sequence)
      await make(requestOf(writer, sequence))
      mark('answered', writer, sequence)
    }
  }),
)
await store.close()
