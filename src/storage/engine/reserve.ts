import { randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import { type Files, removeQuietly } from '../files/files.ts'
import { reasonOf } from '../files/refusals.ts'

const NAME = 'reserve'
const STEP = 1 << 20
const RETRY_MS = 200
/** Free room, in reserves, at which one is set aside for the first time, and again after it was spent. */
const FIRST_ROOM = 3
const SPENT_ROOM = 1.25

/** Removes what an earlier owner set aside; false when there is nothing. Throws the system's errors. */
export function removeReserve(files: Files, folder: string): boolean {
  const path = join(folder, NAME)
  if (!files.exists(path)) return false
  files.remove(path)
  files.syncFolder(folder)
  return true
}

/**
 * Room that is set aside in a file of random bytes, for what makes room on a full disk: removing points and tags,
 * writing parts, after which the log goes, and merges. While it is spent no points are taken, which would use it up
 * (disk-full circuit breaker); it is set aside again as soon as there is room.
 */
export class Reserve {
  readonly #files: Files
  readonly #path: string
  readonly #folder: string
  readonly #bytes: number
  #isThere = false
  #isSpent = false
  #spentBecause = ''
  #taking: Promise<void> | null = null
  #isClosed = false
  #triedAt = Number.NEGATIVE_INFINITY

  /** @param bytes  0 for no reserve */
  constructor(files: Files, folder: string, bytes: number) {
    this.#files = files
    this.#folder = folder
    this.#path = join(folder, NAME)
    this.#bytes = bytes
  }

  /** Whether it was given up and is not set aside again. Tries to, at most once in RETRY_MS. */
  get isSpent(): boolean {
    const now = performance.now()
    if (this.#isSpent && now - this.#triedAt > RETRY_MS) {
      this.#triedAt = now
      void this.take()
    }
    return this.#isSpent
  }

  /** What there was no room by when it was given up: a full disk, a quota or a limit, in words for users. */
  get spentBecause(): string {
    return this.#spentBecause
  }

  /** Bytes that are set aside now. */
  get bytesThere(): number {
    return this.#isThere ? this.#bytes : 0
  }

  /** Setting aside that is under way, in whole or failed when it resolves. */
  get taking(): Promise<void> | null {
    return this.#taking
  }

  /** Makes room; false when there was nothing set aside. @param cause  the system's error for what had none */
  giveUp(cause: unknown): boolean {
    if (!this.#isThere) return false
    this.#isThere = false
    this.#isSpent = true
    this.#spentBecause = reasonOf(cause)
    try {
      this.#files.remove(this.#path)
      this.#files.syncFolder(this.#folder)
      return true
    } catch {
      return false
    }
  }

  /**
   * Sets room aside when there is plenty: at least twice as much is left then; when it was spent, as soon as it fits.
   * Never rejects.
   */
  take(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null
    })
    return this.#taking
  }

  /**
   * Has none set aside any more; resolves when none is under way: one that fails later would remove that of the next
   * owner.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#taking
  }

  async #take(): Promise<void> {
    if (this.#isThere || this.#bytes === 0) return
    try {
      if (this.#files.exists(this.#path)) {
        const file = this.#files.open(this.#path)
        const size = file.size()
        file.close()
        if (size >= this.#bytes) {
          this.#isThere = true
          this.#isSpent = false
          return
        }
        this.#files.remove(this.#path)
      }
      const needed = (this.#isSpent ? SPENT_ROOM : FIRST_ROOM) * this.#bytes
      if (this.#files.freeBytes(this.#folder) < needed) return
      await this.#write()
      this.#isThere = true
      this.#isSpent = false
    } catch {
      removeQuietly(this.#files, this.#path)
    }
  }

  async #write(): Promise<void> {
    const file = this.#files.create(this.#path)
    try {
      const bytes = new Uint8Array(STEP)
      for (let at = 0; at < this.#bytes; at += STEP) {
        // File systems that compress (ZFS, btrfs) or find equal blocks (ZFS, VDO) have no room set aside for zeros, nor
        // for bytes that come again. A step takes a millisecond.
        if (this.#isClosed) throw new Error('the historian is closed')
        randomFillSync(bytes)
        await file.write(bytes.subarray(0, Math.min(STEP, this.#bytes - at)), at)
      }
      await file.sync()
    } finally {
      file.close()
    }
  }
}
