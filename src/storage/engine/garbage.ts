import { join } from 'node:path'
import type { Files } from '../files/files.ts'

/** How long files that no version has any more stay, in milliseconds. */
export interface GarbageLimits {
  /** At least: readers that nobody knows of, as a backup beside the service, may be about to open them. */
  readonly soonestMs: number
  /** At most, although a known reader may still need them: it then begins anew. */
  readonly latestMs: number
}

interface Dropped {
  readonly path: string
  readonly since: number
  /** Who reads this version, or a later one, needs it no more. */
  readonly version: number
}

/**
 * Files that no version has any more. They go when all known readers have moved on, or after a while, or when the
 * historian is closed. What stays after a kill is removed by the next owner.
 */
export class Garbage {
  readonly #files: Files
  readonly #limits: GarbageLimits
  readonly #version: () => number
  readonly #check: () => void
  /** Versions that other processes read, by what they are called. */
  readonly #readers = new Map<number, number>()
  #waiting: Dropped[] = []
  /** Paths of those that go now, and whether they do. */
  #going: string[] = []
  #removing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null

  /**
   * @param version  number of the newest version
   * @param check    throws when this process is not the owner any more: then nothing is removed
   */
  constructor(files: Files, limits: GarbageLimits, version: () => number, check: () => void) {
    this.#files = files
    this.#limits = limits
    this.#version = version
    this.#check = check
  }

  add(folder: string, names: readonly string[]): void {
    const since = performance.now()
    const version = this.#version()
    for (const name of names) this.#waiting.push({ path: join(folder, name), since, version })
    this.#schedule()
  }

  /** What another process reads: a version by its number, 0 for one that is about to open some, `null` for none. */
  readerAt(reader: number, version: number | null): void {
    if (version === null) this.#readers.delete(reader)
    else this.#readers.set(reader, version)
    this.#schedule()
  }

  /** Removes files at once: of those that nobody reads any more. Never throws. */
  removeNow(folder: string, names: readonly string[]): void {
    this.#removeNow(names.map((name) => join(folder, name)))
  }

  /** Waits until what is due is removed, which makes room; false when nothing is. Never rejects. */
  async settle(): Promise<boolean> {
    this.#remove(performance.now())
    if (this.#removing === null) return false
    await this.#removing
    return true
  }

  /** Removes what waits, whatever its age. Never rejects. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#removing
    this.#removeNow(this.#waiting.splice(0).map(({ path }) => path))
  }

  /** Waits for what is due first. */
  #schedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#waiting.length === 0) return
    const reached = this.#reached()
    // By a loop: a call takes only so many arguments.
    let due = Number.POSITIVE_INFINITY
    for (const dropped of this.#waiting) due = Math.min(due, this.#dueAt(dropped, reached))
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.#remove(performance.now())
        this.#schedule()
      },
      Math.max(0, Math.ceil(due - performance.now())),
    )
    this.#timer.unref()
  }

  /** The version that all known readers have reached. */
  #reached(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#readers.values())
  }

  #dueAt({ since, version }: Dropped, reached: number): number {
    const { soonestMs, latestMs } = this.#limits
    return since + (version <= reached ? Math.min(soonestMs, latestMs) : latestMs)
  }

  #remove(now: number): void {
    const reached = this.#reached()
    const kept: Dropped[] = []
    for (const dropped of this.#waiting) {
      if (this.#dueAt(dropped, reached) <= now) this.#going.push(dropped.path)
      else kept.push(dropped)
    }
    this.#waiting = kept
    if (this.#going.length === 0) return
    this.#removing ??= this.#removeGoing().finally(() => {
      this.#removing = null
    })
  }

  /** One after the other, beside this thread: a large file would hold everybody up. */
  async #removeGoing(): Promise<void> {
    while (this.#going.length > 0) {
      for (const path of this.#going.splice(0)) {
        try {
          this.#check()
          await this.#files.removeAside(path)
        } catch {
          // What cannot be removed now is removed by the next owner.
        }
      }
    }
  }

  #removeNow(paths: readonly string[]): void {
    for (const path of paths) {
      try {
        this.#check()
        this.#files.remove(path)
      } catch {
        // The same.
      }
    }
  }
}
