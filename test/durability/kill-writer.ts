import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { writeBatch } from '../../src/historian/write-batch.ts'
import type { FoldLimits } from '../../src/storage/folder.ts'
import type { HistorianStore } from '../../src/storage/historian-store.ts'
import { openHistorianStore } from '../../src/storage/open-historian.ts'
import { type KillRequest, requestOf, WRITERS } from './kill-plan.ts'

// Run by kill.test.ts: once it is told where, writes until it is killed, and tells each acknowledgement before it goes on.

export interface KillOrder {
  readonly folder: string
  /** The last request of each writer that is there. */
  readonly done: readonly number[]
  readonly fold: FoldLimits
}

/** Acknowledgements go through a pipe that is written to at once: a message that still waits in this process dies with it. */
const ACKNOWLEDGED = 4
const { signal } = new AbortController()

function make(store: HistorianStore, request: KillRequest): Promise<unknown> {
  switch (request.kind) {
    case 'write':
      return store.write(writeBatch(request.tags, true), signal)
    case 'delete':
      return store.deletePoints(request.ranges, false, signal)
    case 'drop':
      return store.deleteTags(request.tags, false, signal)
  }
}

process.once('message', async ({ folder, done, fold }: KillOrder) => {
  const store = await openHistorianStore(folder, { historian: 'plant', owner: true, fold })
  const writeOn = async (writer: number): Promise<never> => {
    for (let sequence = done[writer]! + 1; ; sequence++) {
      await make(store, requestOf(writer, sequence))
      writeSync(ACKNOWLEDGED, Buffer.from(Uint32Array.of(writer, sequence).buffer))
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeOn(writer)))
})
// At its end, as usual, there will be no time.
flushCompileCache()
process.send!('ready')
