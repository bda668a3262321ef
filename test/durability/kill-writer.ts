import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { FlushLimits } from '../../src/storage/engine/engine-limits.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { copyHistorian } from '../../src/storage/maintenance/copy-historian.ts'
import { requestOf, WRITERS } from './kill-plan.ts'
import { makeRequest } from './make-request.ts'
import { openHistorian } from './open-historian.ts'

// Run by kill.test.ts: once it is told where, writes until it is killed, and tells each acknowledgement before it goes
// on.

export interface KillOrder {
  readonly folder: string
  /** The last request of each writer that is there. */
  readonly done: readonly number[]
  readonly flush: FlushLimits
  /** Where it is copied to again and again, each time to a folder of its own; `null` for nowhere. */
  readonly copies: string | null
}

/**
 * Acknowledgements go through a pipe that is written to at once: a message that still waits in this process dies with
 * it.
 */
const ACKNOWLEDGED = 4
const { signal } = new AbortController()

/** Copies what is written, as a backup does. */
async function copyOn(folder: string, copies: string): Promise<never> {
  for (let number = 0; ; number++) {
    const target = join(copies, String(number).padStart(6, '0'))
    await copyHistorian(systemFiles, folder, target, { mode: number % 2 === 0 ? 'link' : 'copy' }, signal)
    await setImmediate()
  }
}

process.once('message', async ({ folder, done, flush, copies }: KillOrder) => {
  const store = await openHistorian(folder, true, flush)
  const writeOn = async (writer: number): Promise<never> => {
    for (let sequence = done[writer]! + 1; ; sequence++) {
      await makeRequest(store, requestOf(writer, sequence), signal)
      writeSync(ACKNOWLEDGED, Buffer.from(Uint32Array.of(writer, sequence).buffer))
    }
  }
  const writing = Array.from({ length: WRITERS }, (_, writer) => writeOn(writer))
  await Promise.all(copies === null ? writing : [...writing, copyOn(folder, copies)])
})
// At its end, as usual, there will be no time.
flushCompileCache()
process.send!('ready')
