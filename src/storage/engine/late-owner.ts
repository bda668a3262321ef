import { systemCode } from '../../errors/system-code.ts'
import { LogDamage } from '../damage.ts'
import { isWithoutSpace } from '../files/files.ts'
import { reasonOf } from '../files/refusals.ts'
import type { EngineState } from './engine-state.ts'
import type { Owner } from './owner.ts'
import type { TroubleLog } from './trouble.ts'

/** A historian that is owned, as it is opened. */
export interface Owned {
  readonly state: EngineState
  readonly owner: Owner
}

/** How often it is tried. */
const RETRY_MS = 1_000

/**
 * Waits for room to become the owner of a historian: that takes a manifest of its own, for which a full disk has none.
 * Until then the historian is read, and changes are refused.
 */
export class LateOwner {
  /** Why it is not the owner, in words. */
  reason: string
  readonly #historian: string
  readonly #open: () => Promise<Owned>
  readonly #log: TroubleLog | null
  /** What is in the way, as it was logged. */
  #told: string
  #timer: NodeJS.Timeout | null = null
  #trying: Promise<void> | null = null
  #isClosed = false
  /** What other processes read until then, as `readerAt` of an owner takes it. */
  readonly #readers = new Map<number, number>()

  /** @param open  becomes the owner; rejects with what is in the way */
  constructor(historian: string, cause: unknown, open: () => Promise<Owned>, log: TroubleLog | null) {
    this.#historian = historian
    this.reason = reasonOf(cause)
    this.#told = nameOf(cause)
    this.#open = open
    this.#log = log
    const fields = { historian, reason: this.reason }
    log?.error(fields, 'there is no room to become the owner of the data: they are only read until there is')
  }

  /** Tries again and again, and hands over what it opened. */
  wait(taken: (owned: Owned) => void): void {
    this.#timer = setTimeout(() => {
      this.#trying = this.#try(taken).finally(() => {
        this.#trying = null
      })
    }, RETRY_MS)
    this.#timer.unref()
  }

  /** For the owner that it becomes: files that others read stay. */
  readerAt(reader: number, version: number | null): void {
    if (version === null) this.#readers.delete(reader)
    else this.#readers.set(reader, version)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#trying
  }

  async #try(taken: (owned: Owned) => void): Promise<void> {
    try {
      const owned = await this.#open()
      if (this.#isClosed) {
        await owned.owner.close()
        owned.state.parts.close()
        return
      }
      this.#log?.info({ historian: this.#historian }, 'there is room again: changes are made')
      for (const [reader, version] of this.#readers) owned.owner.readerAt(reader, version)
      taken(owned)
    } catch (error) {
      this.reason = reasonOf(error)
      if (this.#isClosed) return
      const isTold = nameOf(error) === this.#told
      this.#told = nameOf(error)
      if (!isTold && !isWithoutSpace(error)) {
        this.#log?.error({ err: error, historian: this.#historian }, 'changes cannot be made yet')
      }
      // That does not pass.
      if (error instanceof LogDamage) return
      this.wait(taken)
    }
  }
}

/** By which one cause is told from another. */
function nameOf(error: unknown): string {
  return systemCode(error) || String(error)
}
