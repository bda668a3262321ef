import { type EntryView, isOpaque, OPAQUE } from './tag-entry.ts'

/** Where an entry lies: the number of its chunk and, in units of 4 bytes, its place there, plus 1; 0 is nowhere. */
export type Address = number

const CHUNK_BYTES = 1 << 20
/** Units of 4 bytes in a chunk. */
const CHUNK_UNITS = CHUNK_BYTES / 4
const CHUNK_SHIFT = 18
/** Addresses are numbers of 32 bits. */
const MOST_CHUNKS = 2 ** 14 - 1
/** The tag's id, u32, and a byte that says whether its texts are opaque. */
const HEAD_BYTES = 5

/** The entries of a chunk as they were at a time: entries never change, and stay as long as somebody looks at them. */
export interface ReadChunk {
  readonly bytes: Buffer
  /** Whether it ever had an entry with opaque texts. */
  readonly hasOpaque: boolean
}

interface Chunk {
  readonly number: number
  readonly bytes: Buffer
  /** Bytes written. */
  used: number
  hasOpaque: boolean
  /** Of these, bytes of entries that were given up. */
  dead: number
}

/**
 * Memory of the entries of all tags: chunks of 1 MB, written at the end. An entry stands behind its tag's id and never
 * changes; a chunk of which more than half was given up is emptied, by moving what is left of it. Keeps up to 16 GB.
 */
export class EntryArena {
  readonly #chunks: (Chunk | null)[] = []
  readonly #free: number[] = []
  #current = -1
  /** Bytes of the entries that count. */
  liveBytes = 0

  /** Bytes reserved. */
  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + (chunk?.bytes.length ?? 0), 0)
  }

  /** Copies an entry into the arena. */
  append(id: number, entry: EntryView): Address {
    const { bytes, start, end } = entry
    const length = sizeOf(end - start)
    const chunk = this.#room(length)
    const at = chunk.used
    chunk.bytes.writeUInt32LE(id, at)
    if (isOpaque(entry)) {
      chunk.bytes[at + HEAD_BYTES - 1] = OPAQUE
      chunk.hasOpaque = true
    } else chunk.bytes[at + HEAD_BYTES - 1] = 0
    copyBytes(bytes, start, end, chunk.bytes, at + HEAD_BYTES)
    chunk.used += length
    this.liveBytes += end - start
    return addressIn(chunk, at)
  }

  /** Looks at an entry that is in use. */
  view(address: Address, view: EntryView): EntryView {
    const chunk = this.#chunks[(address - 1) >>> CHUNK_SHIFT]!
    return view.seek(chunk.bytes, ((address - 1) & (CHUNK_UNITS - 1)) * 4 + HEAD_BYTES)
  }

  idAt(address: Address): number {
    const chunk = this.#chunks[(address - 1) >>> CHUNK_SHIFT]!
    return chunk.bytes.readUInt32LE(((address - 1) & (CHUNK_UNITS - 1)) * 4)
  }

  /**
   * Copies an entry to where there is room, which is not in its chunk unless that is the one being written. Its bytes
   * stay, too.
   */
  move(address: Address, id: number, view: EntryView): Address {
    this.view(address, view)
    this.liveBytes -= view.end - view.start
    return this.append(id, view)
  }

  /**
   * Gives an entry up. Its bytes stay until its chunk is freed.
   * @returns the number of the chunk when more than half of it is given up now and it is not being written; -1
   *   otherwise
   */
  giveUp(address: Address, view: EntryView): number {
    const number = chunkOf(address)
    const chunk = this.#chunks[number]!
    this.view(address, view)
    this.liveBytes -= view.end - view.start
    chunk.dead += sizeOf(view.end - view.start)
    return 2 * chunk.dead > chunk.used && number !== this.#current ? number : -1
  }

  /** Calls with the address and the id of each entry of a chunk, those given up too, which may append others. */
  eachOf(number: number, view: EntryView, take: (address: Address, id: number) => void): void {
    const chunk = this.#chunks[number]!
    for (let at = 0; at < chunk.used; ) {
      const next = seekIn(chunk, at, view)
      take(addressIn(chunk, at), chunk.bytes.readUInt32LE(at))
      at = next
    }
  }

  /** All entries as they lie in memory now, those that were given up too. */
  read(): readonly ReadChunk[] {
    return this.#chunks.flatMap((chunk) =>
      chunk === null ? [] : [{ bytes: chunk.bytes.subarray(0, chunk.used), hasOpaque: chunk.hasOpaque }],
    )
  }

  /** Drops a chunk whose entries were all given up or moved. */
  free(number: number): void {
    this.#chunks[number] = null
    this.#free.push(number)
  }

  #room(length: number): Chunk {
    const current = this.#chunks[this.#current]
    if (current !== undefined && current !== null && current.used + length <= current.bytes.length)
      return current
    this.#current = this.#free.pop() ?? this.#chunks.length
    if (this.#current >= MOST_CHUNKS) throw new Error('the texts of all tags are limited to 16 GB')
    const chunk = {
      number: this.#current,
      bytes: Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, length)),
      used: 0,
      dead: 0,
      hasOpaque: false,
    }
    this.#chunks[this.#current] = chunk
    return chunk
  }
}

/** Looks at the entry at a place of a chunk; gives where the next one begins. */
export function seekIn({ bytes }: Pick<ReadChunk, 'bytes'>, at: number, view: EntryView): number {
  view.seek(bytes, at + HEAD_BYTES)
  return at + sizeOf(view.end - view.start)
}

/** Id of the tag of an entry that `seekIn` found. */
export function idIn({ bytes }: Pick<ReadChunk, 'bytes'>, at: number): number {
  return bytes.readUInt32LE(at)
}

function addressIn({ number }: Chunk, at: number): Address {
  return number * CHUNK_UNITS + at / 4 + 1
}

/** Number of the chunk of an address. */
export function chunkOf(address: Address): number {
  return (address - 1) >>> CHUNK_SHIFT
}

/** Most entries are shorter than a call of the system's copy takes. */
const LONG_BYTES = 100

function copyBytes(from: Buffer, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > LONG_BYTES) from.copy(to, at, start, end)
  else for (let i = start, j = at; i < end; i++, j++) to[j] = from[i]!
}

/** Bytes that an entry takes with its id. */
function sizeOf(entryBytes: number): number {
  return (HEAD_BYTES + entryBytes + 3) & ~3
}
