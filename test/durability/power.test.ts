import assert from 'node:assert/strict'
import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { findServer } from '../servers/required.ts'
import { temporaryFolder } from './folder.ts'
import { type SystemEvent, traceScript } from './system-trace.ts'

/*
 * What the system is asked to do, in which order: that nothing counts before what it stands on is on disk. What a power
 * cut leaves of a disk that is asked in this order is tried in power-cut.test.ts.
 */

const REQUESTS = 120
const strace = findServer('strace', 'strace')

/** What was written, made and synced up to a moment. */
class Disk {
  /** Files with writes that are not on disk, by the number of their last write. */
  readonly pending = new Map<string, number>()
  /** Files whose entry in their folder is not on disk. */
  readonly unnamed = new Map<string, number>()

  take(event: SystemEvent, number: number): void {
    if (event.kind === 'write') this.pending.set(event.path, number)
    else if (event.kind === 'made') this.unnamed.set(event.path, number)
    else if (event.kind === 'removed') {
      this.pending.delete(event.path)
      this.unnamed.delete(event.path)
    } else if (event.kind === 'synced') {
      // What was written while the sync was under way may not be part of it.
      if ((this.pending.get(event.path) ?? Number.POSITIVE_INFINITY) < event.began)
        this.pending.delete(event.path)
      for (const [path, made] of this.unnamed) {
        if (dirname(path) === event.path && made < event.began) this.unnamed.delete(path)
      }
    }
  }

  pendingIn(folder: string, end: string): string[] {
    return [...this.pending.keys(), ...this.unnamed.keys()].filter(
      (path) => path.startsWith(folder) && path.endsWith(end),
    )
  }
}

/** @returns  what was wrong, one sentence each */
function problemsOf(folder: string, events: readonly SystemEvent[]): string[] {
  const disk = new Disk()
  const problems: string[] = []
  for (const [number, event] of events.entries()) {
    if (event.kind === 'line' && event.text.startsWith('MARK answered')) {
      for (const path of disk.pendingIn(folder, '.wal'))
        problems.push(`${event.text} before ${path} is on disk`)
    }
    if (event.kind === 'write' && event.path.includes('/manifest/manifest-')) {
      for (const end of ['.part', '.tags']) {
        for (const path of disk.pendingIn(folder, end)) {
          if (event.text.includes(basename(path))) problems.push(`the manifest names ${path} too early`)
        }
      }
    }
    disk.take(event, number)
  }
  return problems
}

test('nothing is answered or named by the manifest before it is on disk', {
  skip: strace.skip,
}, (t) => {
  const folder = join(realpathSync(temporaryFolder(t)), 'plant')
  const script = join(import.meta.dirname, 'power-writer.ts')
  const events = traceScript(strace.path!, script, [folder, String(REQUESTS)])
  const count = (test_: (event: SystemEvent) => boolean) => events.filter(test_).length
  assert.equal(
    count((event) => event.kind === 'line' && event.text.startsWith('MARK answered')),
    REQUESTS,
  )
  const manifests = count((event) => event.kind === 'write' && event.path.includes('/manifest/manifest-'))
  const removals = count((event) => event.kind === 'removed' && /\.(part|wal)$/.test(event.path))
  assert.ok(manifests > 5 && removals > 5, `${manifests} edits, ${removals} removals`)
  assert.deepEqual(problemsOf(folder, events), [])

  // It would be noticed: without the syncs of the log, or of the parts, much is wrong.
  for (const end of ['.wal', '.part']) {
    const without = events.filter((event) => !(event.kind === 'synced' && event.path.endsWith(end)))
    assert.ok(problemsOf(folder, without).length > 5, end)
  }
})
