import { parentPort } from 'node:worker_threads'
import { systemCode } from '../../errors/system-code.ts'
import { systemFiles } from '../files/system-files.ts'
import { archiveSegment, writeMark } from './archive-segment.ts'
import type { FromThread, ToThread } from './archive-thread.ts'

/** The thread of an archive: it may stand still as long as the archive's disk does. */
parentPort!.on('message', (message: ToThread) => {
  try {
    const gap = message.kind === 'archive' ? archiveSegment(systemFiles, message.order) : null
    if (message.kind === 'mark') writeMark(systemFiles, message.place, message.mark)
    parentPort!.postMessage({ failure: null, gap } satisfies FromThread)
  } catch (error) {
    const { name, message: text } = error as Error
    const code = systemCode(error)
    parentPort!.postMessage({
      failure: { name, message: text, code: code === '' ? null : code },
      gap: null,
    } satisfies FromThread)
  }
})
