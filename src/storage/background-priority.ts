import { randomBytes } from 'node:crypto'
import { constants, getPriority, setPriority } from 'node:os'

/**
 * Has the calling thread stand back behind the other threads of the process wherever processors are short: packing and
 * merging take long, and on a small machine answers would wait for their turn beside it. Only on Linux a thread has a
 * priority of its own; elsewhere, and where the system refuses it, nothing happens.
 * @param steps  of niceness below the process: with 5 it gets a third of what other threads get of a processor that
 *               both want, with 2 two thirds
 */
export function standBack(steps: number, platform: NodeJS.Platform = process.platform): void {
  if (platform !== 'linux') return
  try {
    // A new thread has the priority of the one that makes it. Those that serve files for all threads are made with the
    // first work for them, which must not be this one's later.
    randomBytes(1, () => {})
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + steps))
  } catch {
    // Then this thread is as urgent as everything else.
  }
}
