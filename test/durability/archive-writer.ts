import { writeSync } from 'node:fs'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns } from '../../src/series/columns.ts'
import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { changeNumber } from './restored.ts'

/** A historian that is flushed, and archived, all the time. */
export function openArchived(folder: string, archive: string): Promise<FileStore> {
  return openFileStore(folder, {
    historian: 'local',
    owner: true,
    archive: { folder: archive, everyMs: 20, keepBytes: 1 << 30 },
    limits: {
      flush: { points: 60, records: 30, ageMs: 1e9 },
      merge: { partitionBytes: 10_000, fanIn: 2, largestBytes: 1 << 20 },
      unlinkAfterMs: 0,
      reserveBytes: 0,
    },
  })
}

/** Makes one change of the stream of restored.ts. */
export async function changeOne(store: FileStore, number: number): Promise<void> {
  const { signal } = new AbortController()
  const change = changeNumber(number)
  if (change.kind === 'delete') {
    const { tag, time } = change
    await store.deletePoints([{ tag, from: time, to: time + 1 }], false, signal)
    return
  }
  const entries = Object.entries(change.points).map(([tag, { time, value }]) => {
    const points = makeColumns(1)
    points.times[0] = time
    points.values[0] = value
    return { tag, points }
  })
  await store.write(writeBatch(entries, true), signal)
}

/** Writes to a pipe at once, also to one that is full for a while. */
function tell(line: string): void {
  const bytes = Buffer.from(line)
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

// Run by tests: writes the stream on until it is killed, and tells each write before it is sent and when it is
// acknowledged. Pipes are written to at once: what still waited in this process would die with it.
if (process.argv[1] === import.meta.filename) {
  const [folder, archive, first] = process.argv.slice(2)
  const store = await openArchived(folder!, archive!)
  for (let number = Number(first); ; number++) {
    tell(`sent ${number} ${Date.now() * 1000}\n`)
    await changeOne(store, number)
    tell(`acknowledged ${number} ${Date.now() * 1000}\n`)
  }
}
