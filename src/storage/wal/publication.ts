import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type FileHandle, type Files, systemCode } from '../files/files.ts'
import type { WalPosition } from './wal-record.ts'

/**
 * What the owner publishes to readers, in one small file that is overwritten: up to where the WAL is durable, and the
 * manifest. Written after a sync and before the answers, not synced itself: after a power cut an older one may be
 * there, or one that does not fit its checksum.
 *
 * | byte | type | what |
 * |---|---|---|
 * | 0 | u32 | 0x31425550 |
 * | 4 | u32 | token of the owner |
 * | 8 | u32 | number of the WAL segment; 0 before the first group |
 * | 12 | u32 | number of the manifest file |
 * | 16 | f64 | bytes of the segment |
 * | 24 | f64 | bytes of the manifest file |
 * | 32 | f64 | number of the last record |
 * | 40 | u32 | CRC-32 of the bytes before |
 * | 44 | u32 | 0 |
 */
export interface Publication extends WalPosition {
  readonly manifest: number
  readonly manifestBytes: number
}

const NAME = 'published'
const BYTES = 48
const MAGIC = 0x31425550

export class Publisher {
  readonly #bytes = Buffer.alloc(BYTES)
  readonly #file: FileHandle

  /** @param folder  that of the WAL */
  constructor(files: Files, folder: string) {
    const path = join(folder, NAME)
    this.#file = files.exists(path) ? files.edit(path) : files.create(path)
  }

  publish({ token, segment, offset, lastSequence, manifest, manifestBytes }: Publication): void {
    const bytes = this.#bytes
    bytes.writeUInt32LE(MAGIC, 0)
    bytes.writeUInt32LE(token, 4)
    bytes.writeUInt32LE(segment, 8)
    bytes.writeUInt32LE(manifest, 12)
    bytes.writeDoubleLE(offset, 16)
    bytes.writeDoubleLE(manifestBytes, 24)
    bytes.writeDoubleLE(lastSequence, 32)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40)
    this.#file.writeNow(bytes, 0)
  }

  close(): void {
    this.#file.close()
  }
}

/** Reads what an owner published. */
export class PublicationReader {
  readonly #files: Files
  readonly #path: string
  readonly #bytes = Buffer.alloc(BYTES)
  #file: FileHandle | null = null

  constructor(files: Files, folder: string) {
    this.#files = files
    this.#path = join(folder, NAME)
  }

  /** `null` when there is none, or none that can be read. */
  read(): Publication | null {
    const file = this.#open()
    if (file === null) return null
    // The owner may be writing it: then the next look sees it whole.
    for (let tries = 0; tries < TRIES; tries++) {
      if (file.readNow(this.#bytes, 0) < BYTES) continue
      const publication = decode(this.#bytes)
      if (publication !== null) return publication
    }
    return null
  }

  close(): void {
    this.#file?.close()
    this.#file = null
  }

  #open(): FileHandle | null {
    if (this.#file !== null) return this.#file
    try {
      this.#file = this.#files.open(this.#path)
      return this.#file
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null
      throw error
    }
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
