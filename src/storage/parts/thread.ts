import { parentPort } from 'node:worker_threads'
import { collectWhereMuchIsLeft } from '../background-garbage.ts'
import { standBack } from '../background-priority.ts'
import { failureOf } from '../background-thread.ts'
import { PointBatch } from '../blocks/point-batch.ts'
import { SortMemory } from '../blocks/sort-memory.ts'
import { systemFiles } from '../files/system-files.ts'
import { BatchPacker } from './pack-batches.ts'
import type { FromThread, ToThread } from './pack-thread.ts'
import { FilePartWriter } from './part-writer.ts'
import type { TombstoneColumns } from './tombstone-columns.ts'

/** Where it does not keep up writes have to wait, so that it stands back less than merges. */
const NICER = 2

/** The thread that packs the points of large flushes. */
standBack(NICER)
let writer: FilePartWriter | null = null
let packer: BatchPacker | null = null
const memory = new SortMemory()
/** Calls are done one after the other, each with its writes to the file. */
let before: Promise<void> = Promise.resolve()

parentPort!.on('message', (message: ToThread) => {
  before = before.then(() => take(message)).catch(failed)
})

async function take(message: ToThread): Promise<void> {
  switch (message.kind) {
    case 'begin':
      writer = new FilePartWriter(systemFiles, message.folder, message.name, message.origin)
      packer = new BatchPacker(writer, memory)
      break
    case 'points':
      // After a failure nothing but the end is waited for.
      packer?.add(new PointBatch(message.buffer, message.entries), message.isOpen)
      await writer?.drain()
      post({ kind: 'taken' })
      break
    case 'finish':
      if (writer !== null) {
        addTombstones(writer, message.tombstones)
        const info = await writer.finish()
        forget()
        post({ kind: 'done', info })
      }
      break
    case 'abandon':
      writer?.abandon()
      forget()
      post({ kind: 'abandoned' })
      break
    default:
      message satisfies never
  }
}

function addTombstones(to: FilePartWriter, { tags, from, to: until, sequences }: TombstoneColumns): void {
  for (let i = 0; i < tags.length; i++) {
    to.addTombstone({ tag: tags[i]!, from: from[i]!, to: until[i]!, sequence: sequences[i]! })
  }
}

/** The part goes at once; the next call is its end. */
function failed(error: unknown): void {
  writer?.abandon()
  forget()
  post(failureOf(error))
}

function forget(): void {
  writer = null
  packer = null
  collectWhereMuchIsLeft()
}

function post(message: FromThread): void {
  parentPort!.postMessage(message)
}
