import { type FileHandle, type Files, removeQuietly } from '../files/files.ts'

/**
 * What appends to the segments of a WAL. One call at a time. After a call failed the segment takes nothing more, except
 * where `isIntact` says that the file is as it was before.
 */
export interface WalDevice {
  /** Whether a segment is open that may be appended to; false as well when what wrote it has ended by itself. */
  readonly hasSegment: boolean
  /** Makes a segment with its header, durably, and goes on with it; the one before is closed. */
  begin(path: string, folder: string, header: Uint8Array): Promise<void>
  /** Writes bytes at an offset and has them on disk. Rejects with AppendFailed. The bytes are lent until then. */
  append(bytes: Uint8Array, at: number): Promise<void>
  /** Closes the segment that is open, if any: space of a removed file comes back only when nobody has it open. */
  end(): Promise<void>
  close(): Promise<void>
}

/** An append failed; `cause` is why. */
export class AppendFailed extends Error {
  /**
   * Whether the segment ends where it ended before, and may be appended to. Otherwise nothing is known of what was to
   * be written.
   */
  readonly isIntact: boolean
  /**
   * Whether the write failed, and not the sync: part of the group is missing then. On a copy-on-write file system under
   * a full quota the segment cannot be cut either.
   */
  readonly wasWriting: boolean

  constructor(cause: unknown, { isIntact, wasWriting }: Pick<AppendFailed, 'isIntact' | 'wasWriting'>) {
    super('a group could not be written', { cause })
    this.name = 'AppendFailed'
    this.isIntact = isIntact
    this.wasWriting = wasWriting
  }
}

/**
 * Room is reserved in steps of zeros as long as groups are small: a sync that changes no length of a file takes half
 * the time. A step is twice what small groups have brought since the last large one, up to this: a small one among
 * large ones, which are written over the zeros at once, would have as much written again as they are.
 */
const RESERVED_BYTES = 256 * 1024
const SMALL_GROUP = 16 * 1024
const ZEROS = new Uint8Array(RESERVED_BYTES)
const PAGE_BYTES = 4096

/** The calls of a device, done at once. */
export class SegmentFile {
  readonly #files: Files
  #file: FileHandle | null = null
  /** Bytes of the file, zeros at its end among them. */
  #reserved = 0
  /** Bytes of the small groups since the last large one. */
  #smallBytes = 0

  constructor(files: Files) {
    this.#files = files
  }

  get isOpen(): boolean {
    return this.#file !== null
  }

  begin(path: string, folder: string, header: Uint8Array): void {
    this.close()
    const file = this.#files.create(path)
    try {
      file.writeNow(header, 0)
      file.syncNow()
      this.#files.syncFolder(folder)
    } catch (error) {
      file.close()
      // An empty segment that stays is no harm: it has no group.
      removeQuietly(this.#files, path)
      throw error
    }
    this.#file = file
    this.#reserved = header.length
  }

  append(bytes: Uint8Array, at: number): void {
    const file = this.#file
    if (file === null) throw new Error('no segment of the log is open')
    try {
      file.writeNow(bytes, at)
    } catch (error) {
      throw new AppendFailed(error, { isIntact: this.#cut(file, at), wasWriting: true })
    }
    const end = at + bytes.length
    this.#smallBytes = bytes.length <= SMALL_GROUP ? this.#smallBytes + bytes.length : 0
    const isLonger = end > this.#reserved
    if (isLonger) {
      this.#reserved = end
      if (this.#smallBytes > 0) this.#reserve(file, end)
    }
    try {
      file.syncNow()
      if (isLonger) file.confirmNow()
    } catch (error) {
      throw new AppendFailed(error, { isIntact: false, wasWriting: false })
    }
  }

  close(): void {
    this.#file?.close()
    this.#file = null
  }

  /** What is not there is not needed: the group stands before it. */
  #reserve(file: FileHandle, end: number): void {
    const bytes = Math.min(RESERVED_BYTES, Math.ceil((2 * this.#smallBytes) / PAGE_BYTES) * PAGE_BYTES)
    try {
      file.writeNow(ZEROS.subarray(0, bytes), end)
      this.#reserved = end + bytes
    } catch {
      // On a full disk others need the room more.
      this.#reserved = end
      this.#cut(file, end)
    }
  }

  /** Takes back what was written of a group; whether that could be done. */
  #cut(file: FileHandle, at: number): boolean {
    try {
      file.truncateNow(at)
      this.#reserved = at
      return true
    } catch {
      return false
    }
  }
}

/** A device that works in this thread, in a turn of the event loop of its own. */
export function inlineDevice(files: Files): WalDevice {
  const segment = new SegmentFile(files)
  const soon = async (work: () => void): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    work()
  }
  return {
    get hasSegment() {
      return segment.isOpen
    },
    begin: (path, folder, header) => soon(() => segment.begin(path, folder, header)),
    append: (bytes, at) => soon(() => segment.append(bytes, at)),
    end: () => soon(() => segment.close()),
    close: () => soon(() => segment.close()),
  }
}
