import { existsSync, statSync, truncateSync } from 'node:fs'
import { endianness } from 'node:os'
import { resolve } from 'node:path'
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { syncEntries } from './durable-files.ts'
import { DATA_FILE, META } from './names.ts'
import { findMissingPage, type MissingPage } from './page-reach.ts'
import { checkBeforeOpening } from './preflight.ts'

export type Bytes = Uint8Array<ArrayBufferLike>
export type Store = Database<Bytes, Bytes>
export type Root = RootDatabase<Bytes, Bytes>
/** Which transaction to read in; without, lmdb-js takes that of this turn of the event loop. */
export interface ReadOptions {
  readonly transaction: Transaction
}

/**
 * Values are handed out as lmdb-js copied them, in one buffer that the next read overwrites: whoever keeps anything
 * copies it. That spares an allocation for every block that is read.
 */
const AS_IS = { encode: (value: Bytes) => value, decode: (value: Bytes) => value }

const OPTIONS = {
  keyEncoding: 'binary',
  encoder: AS_IS,
  cache: false,
} as const

/**
 * Opens an lmdb environment in a folder, making both when missing.
 *
 * Commits are plain lmdb commits (no overlappingSync): pages are written and fdatasync'ed, then the page that makes them valid
 * is written through a descriptor opened with O_DSYNC, and only then the promise of the write resolves. So what was answered is
 * durable, and no second promise (`flushed`) has to be awaited. docs/formats/embedded-v2.md has the measured order.
 *
 * Throws DATA_DIR_UNUSABLE, which names the folder `shown`.
 */
export function openEnvironment(folder: string, shown = folder): Root {
  if (endianness() !== 'LE') throw unusable(shown, 'the data format needs a little-endian processor')
  try {
    const isNew = !hasEnvironment(folder)
    checkBeforeOpening(folder)
    const root = open<Bytes, Bytes>({
      path: folder,
      ...OPTIONS,
      noSubdir: false,
      overlappingSync: false,
      // What is to be committed together is a batch or a transaction, each with one promise. Batches of whole turns have hidden
      // promises besides, and when a commit fails nobody handles their rejection.
      eventTurnBatching: false,
      maxDbs: 16,
      maxReaders: 1024,
      pageSize: 4096,
      // Address space only, on systems that map files lazily: the map then hardly ever moves while it grows.
      ...(process.platform === 'win32' ? {} : { mapSize: 16 * 2 ** 30 }),
    })
    mendLength(root, folder, shown)
    // lmdb syncs its file, but not the folder that it stands in: without its entry there, a file is lost with the power.
    if (isNew) syncEntries(resolve(folder), NEW_FOLDERS)
    return root
  } catch (error) {
    if (error instanceof TidemarkError) throw error
    throw unusable(shown, reasonOf(error), error)
  }
}

/** So many folders above a new environment can be new as well: the data directory and what is in it. */
const NEW_FOLDERS = 3

/**
 * Reading a mapped file beyond its end kills the process. lmdb leaves pages at the end unwritten that a commit took and gave back, as
 * many as it likes: a file that ends before the last page is sound as long as no page in use is missing, and is made longer all the
 * same, so that nothing else can lead beyond its end. One that lacks a page in use was cut off, and is refused.
 */
function mendLength(root: Root, folder: string, shown: string): void {
  const file = `${folder}/${DATA_FILE}`
  if (lengthOf(root, file).missing <= 0) return
  const missing = missingPage(root, file)
  if (missing !== null) {
    void root.close()
    const { page, fileBytes } = missing
    throw unusable(
      shown,
      `its data file is cut off: it ends at byte ${fileBytes}, before page ${page}, which is in use`,
    )
  }
  try {
    // Looked at again while nobody can commit: an owner that writes meanwhile may have made it longer, and would lose what it wrote.
    root.transactionSync(() => {
      const { whole, missing } = lengthOf(root, file)
      if (missing > 0) truncateSync(file, whole)
    })
  } catch {
    // Where there is no room for it, it stays as it is: sound.
  }
}

function missingPage(root: Root, file: string): MissingPage | null {
  const transaction = root.useReadTransaction()
  try {
    return findMissingPage(file)
  } finally {
    transaction.done()
  }
}

/** How many bytes a data file must have, and how many of them are not there. */
function lengthOf(root: Root, file: string): { readonly whole: number; readonly missing: number } {
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number }
  const whole = (lastPageNumber + 1) * pageSize
  return { whole, missing: whole - statSync(file).size }
}

/** The folder of an environment, as it was opened. */
export function folderOf(root: Root): string {
  // Not among the types of lmdb-js.
  return (root as unknown as { readonly path: string }).path
}

/** Whether a folder holds an environment. */
export function hasEnvironment(folder: string): boolean {
  return existsSync(`${folder}/${DATA_FILE}`)
}

/** Opens one of the databases of an environment, making it when missing. */
export function openDatabase(root: Root, name: string): Store {
  return root.openDB<Bytes, Bytes>(name, { ...OPTIONS } as never)
}

/** `meta`: a few JSON values under text keys. */
export class Meta {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** undefined when there is none. Damage reads as none, too: each reader says what it expects. */
  get(name: string): unknown {
    const bytes = this.#store.getBinary(Buffer.from(name))
    if (bytes === undefined) return undefined
    try {
      return JSON.parse(bytes.toString())
    } catch {
      return undefined
    }
  }

  /** A whole number; 0 when there is none. */
  getNumber(name: string): number {
    const value = this.get(name)
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
  }

  /** Inside a transaction of the environment, or as part of a batch. */
  put(name: string, value: unknown): Promise<boolean> {
    return this.#store.put(Buffer.from(name), Buffer.from(JSON.stringify(value)))
  }

  remove(name: string): Promise<boolean> {
    return this.#store.remove(Buffer.from(name))
  }

  /** Throws DATA_DIR_NEWER when the format is not one that this version reads; sets it when there is none. */
  checkFormat(root: Root, known: number, directory: string): void {
    const found = this.get(META.format)
    if (found === undefined) {
      root.transactionSync(() => {
        if (this.get(META.format) === undefined) this.put(META.format, known)
      })
    } else if (typeof found !== 'number' || found > known) {
      throw new TidemarkError('DATA_DIR_NEWER', { directory, found: String(found), known })
    }
  }
}

/** DATA_DIR_UNUSABLE for a folder. */
export function unusable(directory: string, reason: string, cause?: unknown): TidemarkError {
  return new TidemarkError('DATA_DIR_UNUSABLE', { directory, reason }, { cause })
}

/** Whether lmdb could not write its meta page: what of it is on disk nobody knows, and it refuses everything until it is opened anew. */
export function isPanic(error: unknown): boolean {
  return error instanceof Error && error.message.includes('MDB_PANIC')
}

/** Whether there was no room for something. lmdb reports EIO, too, when only a part of what it wrote found room. */
export function isWithoutRoom(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  const { code, message } = cause as { code?: unknown; message: string }
  return /ENOSPC|EDQUOT|EFBIG|EIO|no space left|quota|file too large|input\/output error/i.test(
    `${String(code)} ${message}`,
  )
}

/** Why the file system or lmdb refused, in words that a user can act on. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const text = `${String(code)} ${String(message)}`
  if (/EROFS|read-only file system/i.test(text)) return 'the file system is read-only'
  if (/EACCES|EPERM|permission denied|operation not permitted/i.test(text)) {
    return 'permission to write there is missing'
  }
  if (isPanic(error)) return 'the disk reported an error at the end of a commit: start the service anew'
  if (/ENOSPC|no space left/i.test(text)) return 'the disk is full'
  if (/EDQUOT|quota/i.test(text)) return 'the disk quota is used up'
  if (/EFBIG|file too large/i.test(text)) return 'the file may not grow any further'
  if (/ENOENT/.test(text)) return 'it is missing and cannot be made'
  if (/ENOTDIR|not a directory|EEXIST/i.test(text)) return 'it is not a folder, or stands below a file'
  if (/MDB_INVALID/i.test(text)) return 'its data file is damaged or of another program'
  if (/MDB_VERSION_MISMATCH/i.test(text)) return 'its data file is of another version of lmdb'
  if (/MDB_CORRUPTED|MDB_PAGE_NOTFOUND|located page was wrong/i.test(text)) return 'its data file is damaged'
  // lmdb reports so, too, when only a part of what it wrote found room.
  if (/EIO|input\/output error/i.test(text)) return 'the disk is full or reports an error'
  if (/EMFILE|ENFILE|too many open files/i.test(text)) return 'too many files are open'
  return 'the log has the details'
}
