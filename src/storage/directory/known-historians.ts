import { resolve } from 'node:path'
import type { HistorianEnd } from '../../historian/driver.ts'
import type { SystemDatabase } from '../system/system-database.ts'

const PREFIX = 'historian:'

const NOTED_EVERY_MS = 60_000

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
 * another historian of the same name taken for it, or an earlier state of its own.
 */
export class KnownHistorians {
  readonly #database: SystemDatabase
  /** By name of a historian, by the monotonic clock, when `reached` noted something last. */
  readonly #reachedAt = new Map<string, number>()
  #noted: Promise<void> = Promise.resolve()

  constructor(database: SystemDatabase) {
    this.#database = database
  }

  /** `null` for one that was never opened. DATA_DIR_UNUSABLE when that cannot be read. */
  async get(name: string): Promise<KnownHistorian | null> {
    const value = await this.#read(() => this.#valueOf(name))
    return value === null ? null : { name, ...placeOf(value) }
  }

  /** All of them, by name. DATA_DIR_UNUSABLE when they cannot be read. */
  async list(): Promise<readonly KnownHistorian[]> {
    return this.#read(() =>
      this.#database
        .statement('SELECT name, value FROM meta WHERE substr(name, 1, ?) = ? ORDER BY name')
        .all(PREFIX.length, PREFIX)
        .map(({ name, value }) => ({ name: String(name).slice(PREFIX.length), ...placeOf(String(value)) })),
    )
  }

  /**
   * Remembers one. Never rejects: on a full disk, say, it is remembered with a later start.
   * @param folder  its folder outside of the data directory; `null` for one inside
   */
  async add({ name, folder, id, token, lastSequence }: KnownHistorian): Promise<void> {
    const place = folder === null ? null : resolve(folder)
    const value = JSON.stringify({ folder: place, id, token, lastSequence })
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
}

/** What cannot be read is taken for the usual place, and for no id. */
function placeOf(value: string): Omit<KnownHistorian, 'name'> {
  try {
    const { folder, id, token, lastSequence } = JSON.parse(value) as Readonly<Record<string, unknown>>
    return {
      folder: textOrNull(folder),
      id: textOrNull(id),
      token: numberOrNull(token),
      lastSequence: numberOrNull(lastSequence),
    }
  } catch {
    return { folder: null, id: null, token: null, lastSequence: null }
  }
}

const numberOrNull = (value: unknown) => (typeof value === 'number' ? value : null)
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)
