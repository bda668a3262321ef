import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collector = (options: { readonly type: 'minor' | 'major' }) => void

let collector: Collector | null = null

/** Flags are those of the whole process: another thread may take them back at the same time. */
const TRIES = 3

/**
 * Runs V8's garbage collector on the heap of this thread, now: a minor GC looks at young objects, a major one at all.
 * Takes as long as there are live objects to look at. Never throws; does nothing where V8 does not hand it out.
 */
export function collectGarbage(type: 'minor' | 'major'): void {
  collector ??= findCollector()
  collector?.({ type })
}

/** Node hands the collector out to contexts that are made while a flag is set. */
function findCollector(): Collector | null {
  for (let tries = 0; tries < TRIES; tries++) {
    setFlagsFromString('--expose-gc')
    const found: unknown = runInNewContext('globalThis.gc')
    // Code of Node that is loaded later is only taken from its cache with the flags that it was made with.
    setFlagsFromString('--no-expose-gc')
    if (typeof found === 'function') return found as Collector
  }
  return null
}
