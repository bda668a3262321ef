import { resolve } from 'node:path'
import type { HistorianEnd } from '../../historian/driver.ts'
import { decodeRecord, encodeRecord } from '../system/checked-record.ts'
import { KEYS_MADE } from '../system/key-database.ts'
import type { SystemDatabase } from '../system/system-database.ts'

const PREFIX = 'historian:'

const NOTED_EVERY_MS = 60_000

const NOTHING_NOTED: Omit<KnownHistorian, 'name'> = {
  folder: null,
  id: null,
  token: null,
  lastSequence: null,
}

/** A historian that was opened from a data directory before. */
export interface KnownHistorian {
  readonly name: string
  /** Its folder where that is outside of the data directory; `null` for one inside. */
  readonly folder: string | null
  /** As its manifest has it; `null` where that was not noted. */
  readonly id: string | null
  /** Of its owner when it was opened last; `null` where that was not noted. */
  readonly token: number | null
  /** Number of a record of that owner up to which all was on disk; `null` where none was noted. */
  readonly lastSequence: number | null
}

/**
 * The historians that were opened from a data directory before: name, place, id, token and end, kept outside of their
 * folders. So one whose folder is missing or empty, as when its disk is not mounted, is not taken for a new one, nor is
 * another historian of the same name taken for it, or an earlier state of its own. Each note has a checksum of itself
 * and of the name: a flipped digit would refuse the right historian as another one.
 */
export class KnownHistorians {
  readonly #database: SystemDatabase
  /** By name of a historian, by the monotonic clock, when `reached` noted something last. */
  readonly #reachedAt = new Map<string, number>()
  #noted: Promise<void> = Promise.resolve()

  constructor(database: SystemDatabase) {
    this.#database = database
  }

  /**
   * `null` for one that was never opened; one whose note is damaged was, but nothing else is known of it.
   * DATA_DIR_UNUSABLE when that cannot be read.
   */
  async get(name: string): Promise<KnownHistorian | null> {
    const value = await this.#read(() => this.#valueOf(name))
    return value === null ? null : { name, ...(noteOf(name, value) ?? NOTHING_NOTED) }
  }

  /**
   * All of them, by name, without those whose note is damaged: the name itself may be another one.
   * DATA_DIR_UNUSABLE when they cannot be read.
   */
  async list(): Promise<readonly KnownHistorian[]> {
    const rows = await this.#read(() => this.#rows())
    return rows.flatMap(({ name, note }) =>
      note === null ? [] : [{ name: name.slice(PREFIX.length), ...note }],
    )
  }

  /** How many there are, and how many of the notes are damaged. DATA_DIR_UNUSABLE when they cannot be read. */
  async check(): Promise<{ readonly historians: number; readonly damaged: number }> {
    const rows = await this.#read(() => this.#rows())
    return { historians: rows.length, damaged: rows.filter(({ note }) => note === null).length }
  }

  /** Removes the notes that are damaged; the next start notes them anew. Rejects with an error of SQLite. */
  async forgetDamaged(): Promise<void> {
    await this.#database.change(() => {
      const remove = this.#database.statement('DELETE FROM meta WHERE name = ?')
      for (const { name, note } of this.#rows()) if (note === null) remove.run(name)
    })
  }

  /**
   * Remembers one. Never rejects: on a full disk, say, it is remembered with a later start.
   * @param folder  its folder outside of the data directory; `null` for one inside
   */
  async add({ name, folder, id, token, lastSequence }: KnownHistorian): Promise<void> {
    const place = folder === null ? null : resolve(folder)
    const value = encodeRecord(under(name), { folder: place, id, token, lastSequence })
    try {
      if ((await this.#database.read(() => this.#valueOf(name))) === value) return
      await this.#database.change(() => {
        this.#database.statement('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(PREFIX + name, value)
      })
    } catch {
      // Nothing depends on it but that a loss is noticed.
    }
  }

  /** Remembers what one had when its owner was closed, unless another one has opened it since. Never rejects. */
  ended(name: string, end: HistorianEnd): Promise<void> {
    // One after the other: the last one says most.
    this.#noted = this.#noted.then(() => this.#note(name, end))
    return this.#noted
  }

  async #note(name: string, { id, token, lastSequence }: HistorianEnd): Promise<void> {
    try {
      const last = await this.get(name)
      if (last?.id === id && last.token === token) await this.add({ ...last, lastSequence })
    } catch {
      // As above.
    }
  }

  /** Remembers what one has on disk at least, at most once a minute: a note is synced. Never throws. */
  reached(name: string, end: HistorianEnd): void {
    const now = performance.now()
    if (now - (this.#reachedAt.get(name) ?? Number.NEGATIVE_INFINITY) < NOTED_EVERY_MS) return
    this.#reachedAt.set(name, now)
    void this.ended(name, end)
  }

  #read<T>(work: () => T): Promise<T> {
    return this.#database.read(work).catch((error: unknown) => {
      throw this.#database.refusalOf(error)
    })
  }

  #valueOf(name: string): string | null {
    const row = this.#database.statement('SELECT value FROM meta WHERE name = ?').get(PREFIX + name)
    return row === undefined ? null : String(row.value)
  }

  /** Also those whose name is no more that of a note. */
  #rows() {
    const rows = this.#database.statement('SELECT name, value FROM meta WHERE name <> ? ORDER BY name')
    return rows.all(KEYS_MADE).map(({ name, value }) => {
      const isNote = String(name).startsWith(PREFIX)
      return {
        name: String(name),
        note: isNote ? noteOf(String(name).slice(PREFIX.length), String(value)) : null,
      }
    })
  }
}

const under = (name: string) => Buffer.from(PREFIX + name)

/** `null` for a note that is damaged. */
function noteOf(name: string, value: string): Omit<KnownHistorian, 'name'> | null {
  const note = decodeRecord(under(name), value, 'folder')
  if (typeof note !== 'object' || note === null) return null
  const { folder, id, token, lastSequence } = note as Readonly<Record<string, unknown>>
  const isNote =
    isTextOrNull(folder) && isTextOrNull(id) && isNumberOrNull(token) && isNumberOrNull(lastSequence)
  return isNote ? { folder, id, token, lastSequence } : null
}

const isNumberOrNull = (value: unknown) => value === null || typeof value === 'number'
const isTextOrNull = (value: unknown) => value === null || typeof value === 'string'
