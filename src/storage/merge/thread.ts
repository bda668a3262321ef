import { parentPort } from 'node:worker_threads'
import { collectWhereMuchIsLeft } from '../background-garbage.ts'
import { standBack } from '../background-priority.ts'
import { failureOf } from '../background-thread.ts'
import { systemFiles } from '../files/system-files.ts'
import { InputDamage, InputUnreadable } from './merge-input.ts'
import type { FromThread, ToThread } from './merge-thread.ts'
import { runMerge } from './run-merge.ts'

/** Nobody waits for merges. */
const NICER = 5

/** The thread of merges. */
standBack(NICER)
let aborting = new AbortController()

parentPort!.on('message', (message: ToThread) => {
  if (message.kind === 'abort') {
    aborting.abort(new Error('the merge is aborted'))
    return
  }
  aborting = new AbortController()
  runMerge(systemFiles, message.order, aborting.signal).then(
    (result) => post({ kind: 'done', result }),
    (error: unknown) => post(answerTo(error)),
  )
})

function post(message: FromThread): void {
  parentPort!.postMessage(message)
  collectWhereMuchIsLeft()
}

function answerTo(error: unknown): FromThread {
  if (error instanceof InputDamage) return { kind: 'damage', part: error.part, message: error.message }
  if (error instanceof InputUnreadable)
    return { kind: 'unreadable', part: error.part, message: error.message, code: error.code }
  return failureOf(error)
}
