import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collector = (options: { readonly type: 'minor' | 'major' }) => void

let collector: Collector | null = null

/**
 * Runs V8's garbage collector on the heap of this thread, now: a minor GC looks at young objects, a major one at all.
 * Takes as long as there are live objects to look at.
 */
export function collectGarbage(type: 'minor' | 'major'): void {
  collector ??= findCollector()
  collector({ type })
}

/** Node hands the collector out to contexts that are made while a flag is set. */
function findCollector(): Collector {
  setFlagsFromString('--expose-gc')
  const found = runInNewContext('gc') as Collector
  // Code of Node that is loaded later is only taken from its cache with the flags that it was made with.
  setFlagsFromString('--no-expose-gc')
  return found
}
