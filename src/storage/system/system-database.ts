import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { systemCode } from '../../errors/system-code.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { type Files, readFile } from '../files/files.ts'
import { reasonOf as systemReasonOf, unusable } from '../files/refusals.ts'

/** The file with keys and aliases, in the folder `system` of a data directory. */
export const SYSTEM_DATABASE = 'system.db'
const FORMAT = 1
/** Says that a database of SQLite is this one: "tdmk". */
const APPLICATION = 0x74646d6b

/** What is asked again for so long when another process has the database; nothing blocks this one meanwhile. */
const PATIENCE_MS = 5_000
const PAUSE_MS = 5

/** Primary result codes of SQLite. */
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14

/** What the system says where SQLite has no room, or cannot write. */
const SYSTEM_CODES: Readonly<Record<number, string>> = {
  [SQLITE_FULL]: 'ENOSPC',
  [SQLITE_IOERR]: 'EIO',
  [SQLITE_CANTOPEN]: 'EACCES',
}

/** How often it is tried whether a disk that was full has room. */
const RETRY_MS = 500

/** How soon the log is emptied again where others read. */
const EMPTY_AGAIN_MS = 20

const READ = 'BEGIN'
const CHANGE = 'BEGIN IMMEDIATE'

/** Names are UTF-8, as bytes: they sort by code point, and hold whatever texts may hold. */
const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE keys (place BLOB PRIMARY KEY, entry BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE aliases (name BLOB PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${FORMAT};`

/**
 * A database of SQLite that several processes read and change. It is in WAL mode: readers wait for nobody, and see what
 * another process committed with their next look, which takes 3 µs (7 with a rollback journal, where beside a process
 * that writes all the time 99 of 100 looks would have to wait); a commit takes one sync instead of three. The file
 * system must let processes share memory, as all local ones do. Commits are on disk when they return (synchronous =
 * FULL).
 */
export class SystemDatabase {
  #database: DatabaseSync
  readonly #shown: string
  readonly #statements = new Map<string, StatementSync>()
  /** Opens it as it should be, while a full disk keeps it from being more than read; `null` when it is. */
  #openWhole: (() => DatabaseSync) | null
  #triedAt = performance.now()
  /** Waits while the log could not be emptied. */
  #emptyTimer: NodeJS.Timeout | null = null

  /**
   * Use {@link openSystemDatabase}.
   * @param shown      the folder named in errors
   * @param openWhole  for a database that can only be read as it is: tried again until there is room
   */
  constructor(database: DatabaseSync, shown: string, openWhole: (() => DatabaseSync) | null) {
    this.#database = database
    this.#shown = shown
    this.#openWhole = openWhole
  }

  /** A statement that is prepared once. */
  statement(sql: string): StatementSync {
    this.#tryWhole()
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Reads one state. */
  read<T>(work: () => T): Promise<T> {
    return this.#whenFree(READ, work)
  }

  /** Makes a change, all of it or, when something throws, nothing; one process at a time. Durable when it resolves. */
  change<T>(work: () => T): Promise<T> {
    return this.#whenFree(CHANGE, work).then((result) => {
      this.#emptyLog()
      return result
    })
  }

  /** Verifies the file. Gives what is wrong, one sentence each. */
  check(): readonly string[] {
    try {
      const rows = this.#database.prepare('PRAGMA integrity_check(20)').all()
      return rows.map(({ integrity_check: found }) => String(found)).filter((found) => found !== 'ok')
    } catch (error) {
      if (!isSqlite(error)) throw error
      return [`it cannot be read: ${reasonOf(error)}`]
    }
  }

  /** DATA_DIR_UNUSABLE for an error of SQLite; any other one as it is. */
  refusalOf(error: unknown): unknown {
    return isSqlite(error) ? unusable(this.#shown, reasonOf(error), error) : error
  }

  /**
   * Copies one state to a file that does not exist; processes beside this one go on meanwhile. The copy is synced. The
   * online backup of SQLite is not used: node:sqlite ends it with an error when its own connection writes meanwhile.
   *
   * Rejects with DATA_DIR_UNUSABLE when this one cannot be read, and with an error of the system when the copy cannot
   * be written.
   */
  async copyTo(files: Files, path: string): Promise<void> {
    try {
      await retryBusy(() => this.#database.prepare('VACUUM INTO ?').run(path))
    } catch (error) {
      const code = SYSTEM_CODES[sqliteCode(error)]
      throw code === undefined
        ? this.refusalOf(error)
        : Object.assign(new Error(code, { cause: error }), { code })
    }
    const file = files.edit(path)
    try {
      await file.sync()
    } finally {
      file.close()
    }
  }

  close(): void {
    if (this.#emptyTimer !== null) clearTimeout(this.#emptyTimer)
    this.#emptyTimer = null
    this.#statements.clear()
    if (this.#database.isOpen) this.#database.close()
  }

  #whenFree<T>(begin: string, work: () => T): Promise<T> {
    return retryBusy(() => {
      this.#tryWhole()
      if (begin === CHANGE && this.#openWhole !== null) throw withoutRoom()
      this.#database.exec(begin)
      try {
        const result = work()
        this.#database.exec('COMMIT')
        return result
      } catch (error) {
        this.#rollBack()
        throw error
      }
    })
  }

  /**
   * Moves what is in the log into the database, so that it can be read there on a full disk after a kill, too, and so
   * that damage of the log takes nothing with it: SQLite takes what follows a wrong checksum for an end that was not
   * written. It waits for nobody: while others read, it stays in the log, and is moved soon.
   */
  #emptyLog(): void {
    if (this.#emptyTimer !== null) clearTimeout(this.#emptyTimer)
    this.#emptyTimer = null
    try {
      const { busy } = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()!
      if (busy === 0) return
    } catch {
      // It is durable where it is.
    }
    this.#emptyTimer = setTimeout(() => this.#emptyLog(), EMPTY_AGAIN_MS).unref()
  }

  /** Between transactions, at most once in RETRY_MS. */
  #tryWhole(): void {
    if (this.#openWhole === null || this.#database.isTransaction) return
    if (performance.now() - this.#triedAt < RETRY_MS) return
    this.#triedAt = performance.now()
    try {
      const whole = this.#openWhole()
      this.close()
      this.#database = whole
      this.#openWhole = null
    } catch (error) {
      if (!isWithoutRoom(error)) throw error
    }
  }

  /** SQLite has rolled back by itself after some errors, such as a full disk. */
  #rollBack(): void {
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
  }
}

/**
 * Opens keys and aliases of a data directory.
 *
 * A database in WAL mode needs a file beside it that processes share, for which a full disk has no room. Where nothing
 * is in its log, as after every orderly end, it is read as it is until there is room; changes fail meanwhile.
 * @param create  whether they are made when they are missing. Otherwise, and for an empty file, which SQLite would take
 *   for a new database, it is DATA_DIR_UNUSABLE; DATA_DIR_NEWER for a format that this version does not know.
 * @param owner   whether one that is not in WAL mode is brought into it
 * @param shown   the folder named in errors
 */
export async function openSystemDatabase(
  files: Files,
  folder: string,
  {
    create,
    owner = false,
    shown = folder,
  }: { readonly create: boolean; readonly owner?: boolean; readonly shown?: string },
): Promise<SystemDatabase> {
  const path = join(folder, SYSTEM_DATABASE)
  try {
    if (!files.exists(path)) {
      if (!create) throw unusable(shown, 'the file with its keys and aliases is missing')
      await make(files, folder, path)
    }
    const openWhole = () => (owner ? inWalMode(open(shown, path)) : open(shown, path))
    try {
      return new SystemDatabase(await retryBusy(openWhole), shown, null)
    } catch (error) {
      if (!isWithoutRoom(error) || hasLog(files, path)) throw error
      const asItIs = open(shown, `${pathToFileURL(path).href}?immutable=1`, true)
      return new SystemDatabase(asItIs, shown, openWhole)
    }
  } catch (error) {
    if (error instanceof TidemarkError) throw error
    throw unusable(shown, reasonOf(error), error)
  }
}

/** Whether changes stand beside a database that are not in its file, or are to be taken back in it. */
function hasLog(files: Files, path: string): boolean {
  return [`${path}-wal`, `${path}-journal`].some(
    (log) => files.exists(log) && readFile(files, log).length > 0,
  )
}

/** A copy comes without WAL mode, so that it can be read where nothing can be written. */
function inWalMode(database: DatabaseSync): DatabaseSync {
  try {
    database.exec('PRAGMA journal_mode = WAL')
    return database
  } catch (error) {
    if (sqliteCode(error) === SQLITE_READONLY) return database
    database.close()
    throw error
  }
}

/**
 * SQLite alone opens the file: closing it anywhere else in the process would free the locks of this process, as POSIX
 * has it.
 */
function open(shown: string, path: string, readOnly = false): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0, readOnly })
  try {
    database.exec('PRAGMA synchronous = FULL')
    const { page_count: pages } = database.prepare('PRAGMA page_count').get()!
    if (pages === 0) throw unusable(shown, 'the file with its keys and aliases is empty')
    const { application_id: application } = database.prepare('PRAGMA application_id').get()!
    const { user_version: format } = database.prepare('PRAGMA user_version').get()!
    if (application !== APPLICATION) {
      throw unusable(shown, `${SYSTEM_DATABASE} is not a file with keys and aliases`)
    }
    if (Number(format) > FORMAT) {
      throw new TidemarkError('DATA_DIR_NEWER', { directory: shown, found: String(format), known: FORMAT })
    }
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Makes the file under another name, and gives it its own when it is whole; somebody else's counts when it is first.
 */
async function make(files: Files, folder: string, path: string): Promise<void> {
  files.makeFolder(folder)
  const unfinished = `${path}.new-${randomBytes(6).toString('hex')}`
  // Made here, it fails with the system's reason, which SQLite does not tell.
  files.create(unfinished).close()
  try {
    const database = new DatabaseSync(unfinished)
    try {
      // WAL mode comes last: what stands in a log would be moved into the file by its close, which says nothing of an
      // error, as that of a full disk.
      database.exec('PRAGMA synchronous = FULL')
      database.exec(`BEGIN;${SCHEMA}COMMIT`)
      database.exec('PRAGMA journal_mode = WAL')
    } finally {
      database.close()
    }
    try {
      files.link(unfinished, path)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) files.remove(unfinished + suffix)
  }
  files.syncFolder(folder)
}

/** Asks again while another process has the database. */
async function retryBusy<T>(work: () => T): Promise<T> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
    }
    await wait(PAUSE_MS * (1 + Math.random()))
  }
}

/** Whether another process has the database: the same may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === SQLITE_BUSY || code === SQLITE_LOCKED
}

/** Whether SQLite found no room; a file that it shares with other processes fails as input or output does. */
function isWithoutRoom(error: unknown): boolean {
  return [SQLITE_FULL, SQLITE_IOERR].includes(sqliteCode(error))
}

/** What SQLite says of a full disk. */
function withoutRoom(): Error {
  return Object.assign(new Error('database or disk is full'), { errcode: SQLITE_FULL })
}

/** The primary result code; 0 for an error that is none of SQLite. */
function sqliteCode(error: unknown): number {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : 0
}

/** Whether SQLite failed, and not what was done with it. */
export function isSqlite(error: unknown): boolean {
  return sqliteCode(error) !== 0
}

/** What went wrong, in words without paths. */
export function reasonOf(error: unknown): string {
  if (!isSqlite(error)) return systemReasonOf(error)
  const { errstr } = error as { readonly errstr?: unknown }
  return REASONS[sqliteCode(error)] ?? String(errstr)
}

const REASONS: Readonly<Record<number, string>> = {
  [SQLITE_BUSY]: 'another process is changing it',
  [SQLITE_READONLY]: 'the file system is read-only, or permission to write there is missing',
  [SQLITE_IOERR]: 'the disk is full or reports an error',
  11: 'the file is damaged',
  [SQLITE_FULL]: 'the disk is full',
  [SQLITE_CANTOPEN]: 'permission to read or write there is missing',
  26: 'the file is damaged',
}
