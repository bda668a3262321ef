import { parentPort } from 'node:worker_threads'
import { failureOf } from '../background-thread.ts'
import { systemFiles } from '../files/system-files.ts'
import { AppendFailed, SegmentFile } from './device.ts'
import type { FromThread, ToThread } from './thread-device.ts'

/** The thread of a WAL: it writes and syncs, and does nothing else. */
const segment = new SegmentFile(systemFiles)
let buffer: Uint8Array = new Uint8Array(0)

parentPort!.on('message', (message: ToThread) => {
  try {
    switch (message.kind) {
      case 'begin':
        segment.begin(message.path, message.folder, message.header)
        break
      case 'append':
        if (message.buffer !== null) buffer = new Uint8Array(message.buffer)
        segment.append(buffer.subarray(0, message.length), message.at)
        break
      case 'end':
      case 'close':
        segment.close()
    }
    parentPort!.postMessage({ failure: null } satisfies FromThread)
  } catch (error) {
    const failure =
      error instanceof AppendFailed
        ? {
            cause: failureOf(error.cause),
            append: { isIntact: error.isIntact, wasWriting: error.wasWriting },
          }
        : { cause: failureOf(error), append: null }
    parentPort!.postMessage({ failure } satisfies FromThread)
  }
  if (message.kind === 'close') parentPort!.close()
})
