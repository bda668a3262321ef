import { type FileHandle, type Files, removeQuietly } from '../files/files.ts'

/** What waits is worth a write when it has so many bytes. */
const WRITE_BYTES = 1 << 20
/**
 * Synced after so many bytes: a disk that gets much at once at the end has the log wait behind it. A part is small
 * beside what the system keeps in memory before it writes by itself.
 */
const SYNC_BYTES = 32 << 20

/** The file of a new part, written from its beginning to its end in large writes. */
export class PartOutput {
  readonly #files: Files
  readonly #folder: string
  readonly #path: string
  readonly #file: FileHandle
  /** Full buffers, and the one that is being filled. */
  #full: Uint8Array<ArrayBuffer>[] = []
  #buffer = new Uint8Array(WRITE_BYTES)
  #used = 0
  /** A buffer that was written, to be filled again. */
  #spare: Uint8Array<ArrayBuffer> | null = null
  /** Bytes of the file that were written. */
  #written = 0
  /** Bytes so far, those that wait to be written among them. */
  bytes = 0
  #isOpen = true
  #writing: Promise<void> | null = null

  /** Makes the file, which must not exist. */
  constructor(files: Files, folder: string, name: string) {
    this.#files = files
    this.#folder = folder
    this.#path = `${folder}/${name}`
    this.#file = files.create(this.#path)
  }

  append(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const length = Math.min(bytes.length - done, WRITE_BYTES - this.#used)
      this.#buffer.set(bytes.subarray(done, done + length), this.#used)
      this.#used += length
      done += length
      if (this.#used < WRITE_BYTES) continue
      this.#full.push(this.#buffer)
      this.#buffer = this.#spare ?? new Uint8Array(WRITE_BYTES)
      this.#spare = null
      this.#used = 0
    }
    this.bytes += bytes.length
  }

  /** Writes the buffers that are full. */
  drain(): Promise<void> {
    this.#writing ??= this.#writeFull().finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  async #writeFull(): Promise<void> {
    while (this.#full.length > 0) {
      const buffer = this.#full[0]!
      await this.#file.write(buffer, this.#written)
      this.#full.shift()
      this.#spare = buffer
      this.#written += buffer.length
      if (this.#written % SYNC_BYTES === 0) await this.#file.sync()
    }
  }

  /** Writes what is left, and has the file and its entry in the folder on disk. */
  async finish(): Promise<void> {
    await this.drain()
    if (this.#used > 0) await this.#file.write(this.#buffer.subarray(0, this.#used), this.#written)
    await this.#file.sync()
    this.#close()
    await this.#files.syncFolderAside(this.#folder)
  }

  /** Closes and removes the file. Never throws. */
  abandon(): void {
    const remove = () => {
      try {
        this.#close()
      } catch {
        // It goes all the same.
      }
      removeQuietly(this.#files, this.#path)
    }
    // A write that is under way keeps the descriptor until it ends.
    if (this.#writing === null) remove()
    else void this.#writing.then(remove, remove)
  }

  #close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#file.close()
    // Given back at once: as garbage, V8 would go through the heap for it.
    for (const bytes of [this.#buffer, ...this.#full, this.#spare]) bytes?.buffer.transfer(0)
  }
}
