import { randomBytes } from 'node:crypto'
import { constants, getPriority, setPriority } from 'node:os'

/** Steps of niceness below the process: of a processor that both want, a third of what its other threads get. */
const NICER = 5

/**
 * Has the calling thread stand back behind the other threads of the process wherever processors are short: a merge
 * takes seconds, and on a small machine answers would wait for their turn beside it. Only on Linux a thread has a
 * priority of its own; elsewhere, and where the system refuses it, nothing happens.
 */
export function standBack(platform: NodeJS.Platform = process.platform): void {
  if (platform !== 'linux') return
  try {
    // A new thread has the priority of the one that makes it. Those that serve files for all threads are made with the
    // first work for them, which must not be this one's later.
    randomBytes(1, () => {})
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICER))
  } catch {
    // Then merges are as urgent as everything else.
  }
}
