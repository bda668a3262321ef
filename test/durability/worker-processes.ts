import { readdirSync, readFileSync } from 'node:fs'
import type { RunningService } from '../cli/run.ts'

/** Ids of the worker processes of a service. */
export function workersOf({ pid: parent }: RunningService): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, ppid] = /^\d+ \(.*\) [^Z] (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))!
      return Number(ppid) === parent ? [Number(name)] : []
    } catch {
      return []
    }
  })
}
