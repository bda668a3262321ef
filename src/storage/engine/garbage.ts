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
  /** When it was dropped, or when others could go on to the version without it. */
  since: number
  /** Who reads this version, or a later one, needs it no more. */
  readonly version: number
}

/** How often it is looked whether what waits for a publication is to go for want of space, in milliseconds. */
const LOOK_MS = 1_000

/**
 * Files that no version has any more. They go when all known readers have moved on, or after a while, or when the
 * historian is closed. While the version without them cannot be published they stay: readers begin with what was
 * published last, and would find them missing however often they begin anew. On a full disk they go after that while
 * all the same. What stays after a kill is removed by the next owner.
 */
export class Garbage {
  readonly #files: Files
  readonly #limits: GarbageLimits
  readonly #version: () => number
  readonly #check: () => void
  readonly #isFull: () => boolean
  /** The version that was published last. */
  #published = 0
  /** Versions that other processes read, by what they are called. */
  readonly #readers = new Map<number, number>()
  #waiting: Dropped[] = []
  /** Paths of those that go now, and whether they do. */
  #going: string[] = []
  #removing: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null

  /**
   * @param version  number of the version that reads of this process are on
   * @param check    throws when this process is not the owner any more: then nothing is removed
   * @param isFull   whether the disk is full
   */
  constructor(
    files: Files,
    limits: GarbageLimits,
    version: () => number,
    check: () => void,
    isFull: () => boolean,
  ) {
    this.#files = files
    this.#limits = limits
    this.#version = version
    this.#check = check
    this.#isFull = isFull
  }

  add(folder: string, names: readonly string[]): void {
    const since = performance.now()
    const version = this.#version()
    for (const name of names) this.#waiting.push({ path: join(folder, name), since, version })
    this.#schedule()
  }

  /** Other processes can go on to a version, by its number. */
  published(version: number): void {
    if (version === this.#published) return
    const now = performance.now()
    for (const dropped of this.#waiting) if (!this.#isPublished(dropped)) dropped.since = now
    this.#published = version
    this.#schedule()
  }

  /** What another process reads: a version by its number, 0 for one that is about to open some, `null` for none. */
  readerAt(reader: number, version: number | null): void {
    if (version === null) this.#readers.delete(reader)
    else this.#readers.set(reader, version)
    this.#schedule()
  }

  /** Removes files at once, of those that nobody reads who goes by what was published. Never throws. */
  removeNow(folder: string, names: readonly string[]): void {
    if (this.#published < this.#version()) this.add(folder, names)
    else this.#removeNow(names.map((name) => join(folder, name)))
  }

  /**
   * Waits until what is due is removed, which makes room; false when nothing is. Never rejects.
   * @param isFull  whether the disk is full, so that readers are waited for no longer than for `latestMs`
   */
  async settle(isFull: boolean): Promise<boolean> {
    this.#remove(performance.now(), isFull)
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
    const now = performance.now()
    // By a loop: a call takes only so many arguments.
    let due = Number.POSITIVE_INFINITY
    for (const dropped of this.#waiting) {
      const at = this.#dueAt(dropped, reached)
      due = Math.min(due, this.#isPublished(dropped) ? at : Math.max(at, now + LOOK_MS))
    }
    this.#timer = setTimeout(
      () => {
        this.#timer = null
        this.#remove(performance.now(), this.#isFull())
        this.#schedule()
      },
      Math.max(0, Math.ceil(due - now)),
    )
    this.#timer.unref()
  }

  #isPublished({ version }: Dropped): boolean {
    return version <= this.#published
  }

  /** The version that all known readers have reached. */
  #reached(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#readers.values())
  }

  /** When it goes if its version is published by then, or the disk is full. */
  #dueAt({ since, version }: Dropped, reached: number): number {
    const { soonestMs, latestMs } = this.#limits
    return since + (version <= reached ? Math.min(soonestMs, latestMs) : latestMs)
  }

  #remove(now: number, isFull: boolean): void {
    const reached = this.#reached()
    const kept: Dropped[] = []
    for (const dropped of this.#waiting) {
      const mayGo = isFull || this.#isPublished(dropped)
      if (mayGo && this.#dueAt(dropped, reached) <= now) this.#going.push(dropped.path)
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
