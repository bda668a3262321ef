import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { TestClock } from '../property/retention-model.ts'
import { requestOf } from './kill-plan.ts'
import { makeRequest } from './make-request.ts'
import {
  changesOf,
  KEEP,
  LIMITS,
  PLAIN_WRITERS,
  type Progress,
  pointsOf,
  RULES,
  START_US,
  TOLD,
  tagsOf,
  timeOf,
} from './retention-plan.ts'

// Run by retention-kill.test.ts: writes, changes, and moves watermarks until it is killed, and tells each before it
// goes on.

export interface RetentionOrder {
  readonly folder: string
  /** What is there of the requests to tags with a rule. */
  readonly done: Progress
  /** The last request of each writer of kill-plan.ts that is there. */
  readonly plain: readonly number[]
}

const PIPE = 4
const { signal } = new AbortController()

process.once('message', async ({ folder, done, plain }: RetentionOrder) => {
  const clock = new TestClock(START_US + timeOf(done.request))
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    retention: { rules: RULES, time: clock },
    limits: LIMITS,
  })
  const tell = (kind: number, value: number) =>
    writeSync(PIPE, Buffer.from(Float64Array.of(kind, value).buffer))
  const move = async (): Promise<never> => {
    for (;;) {
      const { us } = clock
      await store.retain()
      if (store.trouble === null) tell(TOLD.watermark, us - KEEP.us)
      // Where nothing is to be moved that takes no turn of the event loop, and writes would never come to theirs.
      await turn()
    }
  }
  const change = async (request: number, from: number): Promise<void> => {
    for (const one of changesOf(request).slice(from)) await makeRequest(store, one, signal)
    tell(TOLD.request, request)
  }
  const write = async (): Promise<never> => {
    if (done.request > 0) await change(done.request, done.changes)
    for (let request = done.request + 1; ; request++) {
      const entries = tagsOf(request).map((tag) => ({ tag, points: pointsOf(tag, request) }))
      const tooOld = await store.write(writeBatch(entries, true), signal)
      if (tooOld !== null) throw new Error('a new point was taken for old')
      await change(request, 0)
      clock.us = START_US + timeOf(request)
    }
  }
  const writePlain = async (writer: number): Promise<never> => {
    for (let sequence = plain[writer]! + 1; ; sequence++) {
      await makeRequest(store, requestOf(writer, sequence), signal)
      tell(TOLD.writer + writer, sequence)
    }
  }
  await Promise.all([
    write(),
    move(),
    ...Array.from({ length: PLAIN_WRITERS }, (_, writer) => writePlain(writer)),
  ])
})
// At its end, as usual, there will be no time.
flushCompileCache()
process.send!('ready')
