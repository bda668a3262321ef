import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { systemCode } from '../../errors/system-code.ts'
import { type FileHandle, type Files, isGone, removeQuietly } from '../files/files.ts'
import { tokenText } from '../ownership/ownership.ts'
import type { WalPosition } from './wal-record.ts'

/**
 * What an owner publishes to readers, in one small file of its own that is overwritten: up to where the WAL is durable,
 * and the manifest. Written after a sync and before the answers, not synced itself: after a power cut an older one may
 * be there, or one that does not fit its checksum. The file of the highest token counts.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u32 | 0x31425550 |
 * | 4 | u32 | token of the owner, that of the file's name |
 * | 8 | u32 | number of the WAL segment; 0 before the first group |
 * | 12 | u32 | number of the manifest file |
 * | 16 | f64 | bytes of the segment |
 * | 24 | f64 | bytes of the manifest file |
 * | 32 | f64 | number of the last record |
 * | 40 | u32 | CRC-32 of the bytes before |
 * | 44 | u32 | 0 |
 * | 48 | u32 | token of a later owner that has published something; 0 until then |
 * | 52 | u32 × 3 | 0 |
 *
 * The last 16 bytes are not written by the owner once the file is made, and the others by nobody else: an owner that
 * stands still, is replaced and goes on overwrites nothing that its successor said.
 */
export interface Publication extends WalPosition {
  readonly manifest: number
  readonly manifestBytes: number
}

const NAME = /^published-([0-9a-f]{8})$/
const FILE_BYTES = 64
/** Those that the owner writes. */
const BYTES = 48
const MAGIC = 0x31425550

export function publicationName(token: number): string {
  return `published-${tokenText(token)}`
}

/** Tokens of the owners of which there is a publication, ascending. */
function publishersIn(files: Files, folder: string): readonly number[] {
  return files.list(folder).flatMap((name) => {
    const match = NAME.exec(name)
    return match === null ? [] : [Number.parseInt(match[1]!, 16)]
  })
}

/** Writes the publication of one owner. */
export class Publisher {
  readonly #files: Files
  readonly #folder: string
  readonly #token: number
  readonly #bytes = Buffer.alloc(BYTES)
  readonly #file: FileHandle
  #isKnown = false

  /** @param folder  that of the WAL */
  constructor(files: Files, folder: string, token: number) {
    this.#files = files
    this.#folder = folder
    this.#token = token
    const path = join(folder, publicationName(token))
    const isNew = !files.exists(path)
    this.#file = isNew ? files.create(path) : files.edit(path)
    try {
      this.#file.writeNow(new Uint8Array(FILE_BYTES), 0)
    } catch (error) {
      this.#file.close()
      // An owner that waits for room tries again each second, with another name, and readers look at all that say
      // nothing.
      if (isNew) removeQuietly(files, path)
      throw error
    }
  }

  /** Throws the system's errors; then those that follow an earlier owner may not know of this one yet. */
  publish({ segment, offset, lastSequence, manifest, manifestBytes }: Omit<Publication, 'token'>): void {
    const bytes = this.#bytes
    bytes.writeUInt32LE(MAGIC, 0)
    bytes.writeUInt32LE(this.#token, 4)
    bytes.writeUInt32LE(segment, 8)
    bytes.writeUInt32LE(manifest, 12)
    bytes.writeDoubleLE(offset, 16)
    bytes.writeDoubleLE(manifestBytes, 24)
    bytes.writeDoubleLE(lastSequence, 32)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40)
    this.#file.writeNow(bytes, 0)
    if (!this.#isKnown) this.#replaceEarlier()
  }

  close(): void {
    this.#file.close()
  }

  /** Sends readers of earlier publications to this one, and removes those. */
  #replaceEarlier(): void {
    const earlier = publishersIn(this.#files, this.#folder).filter((token) => token < this.#token)
    for (const token of earlier) {
      const path = join(this.#folder, publicationName(token))
      markReplaced(this.#files, path, this.#token)
      try {
        this.#files.remove(path)
      } catch (error) {
        if (systemCode(error) === '') throw error
        // Nobody reads it any more. It is tried again by the next owner.
      }
    }
    this.#isKnown = true
  }
}

/** Also who has the file open sees it. */
function markReplaced(files: Files, path: string, token: number): void {
  const mark = Buffer.alloc(4)
  mark.writeUInt32LE(token)
  let file: FileHandle
  try {
    file = files.edit(path)
  } catch (error) {
    // Another owner has done so.
    if (isGone(error)) return
    throw error
  }
  try {
    file.writeNow(mark, BYTES)
  } finally {
    file.close()
  }
}

/** What a publication says. */
interface Look {
  readonly publication: Publication
  readonly isReplaced: boolean
}

/** Reads what the last owner published that published anything. */
export class PublicationReader {
  readonly #files: Files
  readonly #folder: string
  /** That of the last owner; `null` before the first look, and while a later one has a file that says nothing yet. */
  #file: { readonly handle: FileHandle; readonly token: number } | null = null
  /** What was read last, and its bytes. */
  #last: Look | null = null
  #lastBytes = Buffer.alloc(FILE_BYTES)
  #bytes = Buffer.alloc(FILE_BYTES)

  /** @param folder  that of the WAL */
  constructor(files: Files, folder: string) {
    this.#files = files
    this.#folder = folder
  }

  /**
   * The valid one of the highest token; `null` when there is none. The same object for as long as nothing else is
   * published.
   */
  read(): Publication | null {
    if (this.#file !== null) {
      const look = this.#lookAgain(this.#file.handle, this.#file.token)
      if (look !== 'gone' && look?.isReplaced !== true) return look?.publication ?? null
      this.close()
    }
    for (let tries = 0; tries < TRIES; tries++) {
      const found = this.#find()
      if (found !== 'gone') return found
    }
    return null
  }

  close(): void {
    this.#file?.handle.close()
    this.#file = null
  }

  /** @returns  `gone` where a file was removed since the folder was listed: then a later one is there */
  #find(): Publication | null | 'gone' {
    const tokens = publishersIn(this.#files, this.#folder)
    for (const token of tokens.toReversed()) {
      const handle = this.#open(token)
      if (handle === null) return 'gone'
      const look = this.#look(handle, token)
      if (look !== null && !look.isReplaced && token === tokens.at(-1)) {
        this.#file = { handle, token }
        return look.publication
      }
      handle.close()
      if (look !== null) return look.publication
    }
    return null
  }

  #open(token: number): FileHandle | null {
    try {
      return this.#files.open(join(this.#folder, publicationName(token)))
    } catch (error) {
      if (isGone(error)) return null
      throw error
    }
  }

  /** @returns  `gone` where another machine removed the file: a network file system then forgets who has it open */
  #lookAgain(handle: FileHandle, token: number): Look | null | 'gone' {
    try {
      return this.#look(handle, token)
    } catch (error) {
      if (isGone(error)) return 'gone'
      throw error
    }
  }

  #look(handle: FileHandle, token: number): Look | null {
    // The owner may be writing it: then the next look sees it whole.
    for (let tries = 0; tries < TRIES; tries++) {
      const bytes = this.#bytes
      const length = handle.readNow(bytes, 0)
      if (length < BYTES) continue
      if (length < FILE_BYTES) bytes.fill(0, length)
      if (this.#last !== null && bytes.equals(this.#lastBytes)) return this.#last
      const publication = decode(bytes)
      if (publication?.token !== token) continue
      this.#bytes = this.#lastBytes
      this.#lastBytes = bytes
      this.#last = { publication, isReplaced: bytes.readUInt32LE(BYTES) !== 0 }
      return this.#last
    }
    return null
  }
}

const TRIES = 10

function decode(bytes: Buffer): Publication | null {
  if (bytes.readUInt32LE(0) !== MAGIC || crc32(bytes.subarray(0, 40)) !== bytes.readUInt32LE(40)) return null
  return {
    token: bytes.readUInt32LE(4),
    segment: bytes.readUInt32LE(8),
    manifest: bytes.readUInt32LE(12),
    offset: bytes.readDoubleLE(16),
    manifestBytes: bytes.readDoubleLE(24),
    lastSequence: bytes.readDoubleLE(32),
  }
}
