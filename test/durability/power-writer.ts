import { writeSync } from 'node:fs'
import { requestOf } from './kill-plan.ts'
import { makeRequest } from './make-request.ts'
import { openHistorian } from './open-historian.ts'

// Run by power.test.ts under strace: one writer, which marks when each request was asked for and when it was answered.

const [folder, requests] = process.argv.slice(2)
const { signal } = new AbortController()
const store = await openHistorian(folder!, true, { points: 300, records: 6, ageMs: 10_000, packedAside: 1 })

for (let sequence = 1; sequence <= Number(requests); sequence++) {
  writeSync(2, `MARK asked ${sequence}\n`)
  await makeRequest(store, requestOf(0, sequence), signal)
  writeSync(2, `MARK answered ${sequence}\n`)
}
await store.close()
