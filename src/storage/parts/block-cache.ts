import { Damage } from '../damage.ts'
import { aligned, isSound } from './page-checksum.ts'
import type { ReadHandle } from './read-again.ts'

/** What a page takes of memory beside its bytes, about. */
const ENTRY_BYTES = 256

interface Entry {
  readonly owner: PageReader
  readonly at: number
  value: unknown
  readonly bytes: number
  /** Asked for since it was last passed over. */
  wasUsed: boolean
  /** Whether it is in the cache no more. */
  isGone: boolean
}

/** Share of the cache that long scans fill; what is left is for others without an eviction. */
const SCAN_SHARE = 0.75

/** The queue is made anew when so much of it is past or gone, and that is more than half. */
const LONGEST_PAST = 4_096

/**
 * Pages and blocks of parts, verified, up to so many bytes. Eviction is by CLOCK: what was asked for since it was last
 * passed over gets another round. What was evicted stays valid for those who hold it.
 */
export class BlockCache {
  readonly limit: number
  bytes = 0
  /** In the order in which they are passed over, from #head on; what is gone is skipped. */
  #queue: Entry[] = []
  #head = 0
  #entries = 0

  constructor(limit: number) {
    this.limit = limit
  }

  add(entry: Entry): void {
    this.#queue.push(entry)
    this.#entries++
    this.bytes += entry.bytes
    while (this.bytes > this.limit) this.#passOver(this.#queue[this.#head++]!)
    const past = this.#queue.length - this.#entries
    if (past < LONGEST_PAST || past < this.#entries) return
    this.#queue = this.#queue.slice(this.#head).filter(({ isGone }) => !isGone)
    this.#head = 0
  }

  #passOver(entry: Entry): void {
    if (entry.isGone) return
    if (entry.wasUsed) {
      entry.wasUsed = false
      this.#queue.push(entry)
      return
    }
    this.remove(entry)
    entry.owner.forget(entry.at)
  }

  remove(entry: Entry): void {
    if (entry.isGone) return
    entry.isGone = true
    // The queue has it still, but not what it takes.
    entry.value = null
    this.#entries--
    this.bytes -= entry.bytes
  }
}

/** How a page becomes what is kept of it; may throw Damage. */
export interface PageKind<T> {
  parse(page: Uint8Array<ArrayBuffer>): T
  /** Bytes that the result takes beside those of the page. */
  ownBytes(value: T): number
}

/** Memory for one page at a time, of which nobody keeps anything. */
export class PageMemory {
  #bytes = new Uint8Array(0)

  /** So many bytes, with anything in them. */
  room(bytes: number): Uint8Array<ArrayBuffer> {
    // Whole doubles, which views of blocks look at.
    if (this.#bytes.length < bytes)
      this.#bytes = new Uint8Array(aligned(Math.max(bytes, 2 * this.#bytes.length)))
    return this.#bytes.subarray(0, bytes)
  }
}

/** The pages of one file, by their place, through the cache. */
export class PageReader {
  readonly #file: ReadHandle
  readonly #name: string
  readonly #size: number
  readonly #cache: BlockCache
  readonly #entries = new Map<number, Entry>()
  /** Reads that are under way; the descriptor is theirs until they end. */
  #reads = 0
  #isClosed = false

  /** @param size  of the file: nothing beyond is asked for */
  constructor(file: ReadHandle, name: string, size: number, cache: BlockCache) {
    this.#file = file
    this.#name = name
    this.#size = size
    this.#cache = cache
  }

  /** Whether a good part of the shared cache is free: nothing needs to be evicted for what is put there. */
  get cacheHasRoom(): boolean {
    return this.#cache.bytes < SCAN_SHARE * this.#cache.limit
  }

  has(at: number): boolean {
    return this.#entries.has(at)
  }

  /** A page, from the cache or the file. Throws Damage, and the system's errors. */
  page<T>(at: number, bytes: number, kind: PageKind<T>): T {
    const known = this.#entries.get(at)
    if (known !== undefined) {
      known.wasUsed = true
      return known.value as T
    }
    return this.#keep(at, this.readNow(at, bytes), kind)
  }

  /** Reads and verifies a page past the cache. Throws Damage, and the system's errors. */
  readNow(at: number, bytes: number): Uint8Array<ArrayBuffer> {
    return this.#readNow(this.#room(at, bytes), at)
  }

  /** The same into memory that is used again. */
  readNowInto(memory: PageMemory, at: number, bytes: number): Uint8Array<ArrayBuffer> {
    this.#check(at, bytes)
    return this.#readNow(memory.room(bytes), at)
  }

  /** The same without blocking. */
  async read(at: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const page = await this.readRaw(at, bytes)
    return this.#verify(page, true)
  }

  /** Bytes of the file as they are. Rejects with Damage where it is too short, and with the system's errors. */
  async readRaw(at: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const target = this.#room(at, bytes)
    await this.readInto(target, at)
    return target
  }

  /** The same into memory that the caller has, which is filled. */
  async readInto(target: Uint8Array<ArrayBuffer>, at: number): Promise<void> {
    this.#check(at, target.length)
    this.#reads++
    try {
      if ((await this.#file.read(target, at)) !== target.length) this.damaged('it is too short')
    } finally {
      this.#reads--
      this.#closeFile()
    }
  }

  /** Puts a page into the cache that was read with others; nothing when it is damaged or there already. */
  offer<T>(at: number, page: Uint8Array<ArrayBuffer>, kind: PageKind<T>): void {
    if (this.#isClosed || this.#entries.has(at) || !isSound(page)) return
    try {
      this.#keep(at, page, kind)
    } catch (error) {
      // It is reported to the caller that reads it.
      if (!(error instanceof Damage)) throw error
    }
  }

  /** Throws Damage that names the file. */
  damaged(what: string): never {
    throw new Damage(`part ${this.#name}: ${what}`)
  }

  /** Called by the cache. */
  forget(at: number): void {
    this.#entries.delete(at)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const entry of this.#entries.values()) this.#cache.remove(entry)
    this.#entries.clear()
    this.#closeFile()
  }

  #closeFile(): void {
    if (this.#isClosed && this.#reads === 0) this.#file.close()
  }

  /** A page that was read with others. Throws Damage when it is not sound. */
  verified(page: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return this.#verify(page, true)
  }

  #readNow(page: Uint8Array<ArrayBuffer>, at: number): Uint8Array<ArrayBuffer> {
    const read = this.#file.readNow(page, at)
    return this.#verify(page, read === page.length)
  }

  #room(at: number, bytes: number): Uint8Array<ArrayBuffer> {
    this.#check(at, bytes)
    return new Uint8Array(bytes)
  }

  #check(at: number, bytes: number): void {
    // The system may have given its descriptor to another file by now.
    if (this.#isClosed) throw new Error(`part ${this.#name} is read after it was closed`)
    if (!(at >= 0 && at + bytes <= this.#size)) this.damaged('a page lies outside of the file')
  }

  #verify(page: Uint8Array<ArrayBuffer>, isWhole: boolean): Uint8Array<ArrayBuffer> {
    if (!isWhole) this.damaged('it is too short')
    if (!isSound(page)) this.damaged('the checksum of a page is wrong')
    return page
  }

  #keep<T>(at: number, page: Uint8Array<ArrayBuffer>, kind: PageKind<T>): T {
    let value: T
    try {
      value = kind.parse(page)
    } catch (error) {
      if (error instanceof Damage) this.damaged(error.message)
      throw error
    }
    if (this.#isClosed) return value
    const bytes = page.length + kind.ownBytes(value) + ENTRY_BYTES
    if (bytes > this.#cache.limit) return value
    const entry: Entry = { owner: this, at, value, bytes, wasUsed: false, isGone: false }
    this.#entries.set(at, entry)
    this.#cache.add(entry)
    return value
  }
}
