import { parentPort } from 'node:worker_threads'
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
      case 'close':
        segment.close()
    }
    parentPort!.postMessage({ failure: null } satisfies FromThread)
  } catch (error) {
    const cause = error instanceof AppendFailed ? error.cause : error
    const { message: text, code, syscall } = cause as { message: string; code?: string; syscall?: string }
    parentPort!.postMessage({
      failure: {
        message: text,
        code: code ?? null,
        syscall: syscall ?? null,
        isIntact: error instanceof AppendFailed ? error.isIntact : null,
      },
    } satisfies FromThread)
  }
  if (message.kind === 'close') parentPort!.close()
})
