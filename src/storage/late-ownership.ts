import type { Meta, Root } from './environment.ts'
import { isWithoutRoom, reasonOf } from './environment.ts'
import { type Ownership, takeOwnership } from './owner.ts'
import { tryRoom } from './preflight.ts'

/** How often it is tried again. */
const RETRY_MS = 3_000

/** An ownership that may come later. */
export interface LateOwnership extends Ownership {
  /** Why it is not taken yet, in words; `null` when it is. */
  readonly missing: string | null
  /** Calls back once when it is taken; never when it is already. */
  onTaken(taken: () => void): void
}

/**
 * Makes this process the owner of an environment, as `takeOwnership` does, also where the disk has no room to say so: then it is tried again
 * until there is. Meanwhile nothing may be changed, and reading needs no owner.
 * Throws DATA_DIR_IN_USE, and DATA_DIR_UNUSABLE for anything but a disk without room.
 */
export function takeOwnershipWhenRoom(root: Root, meta: Meta, folder: string, shown: string): LateOwnership {
  let ownership: Ownership | null = null
  let missing: string | null = null
  let taken: (() => void) | null = null
  let timer: NodeJS.Timeout | null = null
  const take = () => {
    ownership = takeOwnership(root, meta, folder, shown)
    missing = null
  }
  try {
    take()
  } catch (error) {
    const { cause } = error as Error
    if (!isWithoutRoom(cause)) throw error
    missing = reasonOf(cause)
    timer = setInterval(() => {
      try {
        // lmdb is not asked in vain (room.ts).
        tryRoom(folder)
      } catch (full) {
        missing = reasonOf(full)
        return
      }
      try {
        take()
        clearInterval(timer!)
        taken?.()
      } catch (again) {
        const { cause } = again as Error
        // Clients are told: nothing of where the data are.
        missing = cause === undefined ? 'another process owns them by now' : reasonOf(cause)
      }
    }, RETRY_MS)
    timer.unref()
  }
  return {
    get missing() {
      return missing
    },
    onTaken(callback) {
      if (missing !== null) taken = callback
    },
    isHeld: () => ownership?.isHeld() ?? false,
    async release() {
      if (timer !== null) clearInterval(timer)
      await ownership?.release()
    },
  }
}
