import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { historianDirectory } from '../../src/storage/directory/data-directory.ts'
import type { Service } from '../service.ts'

/** Looks at the parts of a service often enough to see each: dropped ones stay for ten seconds. */
export function watchParts(of: Service) {
  const folder = join(historianDirectory(of.dataDir, 'local'), 'parts')
  const bytes = new Map<string, number>()
  let most = 0
  let changed = performance.now()
  let last = ''
  const names = () => readdirSync(folder).filter((name) => name.endsWith('.part'))
  const look = () => {
    const found = names()
    most = Math.max(most, found.length)
    for (const name of found) {
      const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
      bytes.set(name, Math.max(size, bytes.get(name) ?? 0))
    }
    const now = found.map((name) => `${name} ${bytes.get(name)}`).join()
    if (now !== last) changed = performance.now()
    last = now
  }
  const timer = setInterval(look, 250)
  return {
    names,
    get most() {
      return most
    },
    /** Of all that were ever seen. */
    get writtenBytes() {
      return bytes.values().reduce((sum, size) => sum + size, 0)
    },
    /** Resolves when nothing has changed for some time. */
    settled: async (unchangedMs: number) => {
      changed = performance.now()
      while (performance.now() - changed < unchangedMs) await sleep(250)
    },
    stop: () => clearInterval(timer),
  }
}
