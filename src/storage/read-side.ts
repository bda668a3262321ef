import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { Catalog } from './catalog.ts'
import type { Damage } from './damage.ts'
import type { Root } from './environment.ts'
import { type HistorianErrors, isLmdbError } from './historian-errors.ts'
import type { HistorianParts } from './historian-parts.ts'
import { JournalFollower } from './journal/follower.ts'
import type { JournalState } from './journal/journal.ts'
import { Snapshot, withSnapshot } from './snapshot.ts'

/** One of many small reads, given its index and the version of the catalog at the beginning. */
export type ReadOne = (index: number, snapshot: Snapshot, version: number) => void

/**
 * Runs reads, each on one committed state: of lmdb and of what is in memory, which it brings up to date first where another process
 * may have changed anything. Reads reject with the errors that callers get.
 */
export class ReadSide {
  readonly #root: Root
  readonly #catalog: Catalog
  readonly #errors: HistorianErrors
  readonly #follower: JournalFollower
  /** Whether another process may change what is read here: it was opened to read, or could not be owned yet. */
  #isFollowing = true
  /** Reads on the state that was caught up with last, which must stay as it is for them. */
  #joined = 0
  /**
   * Whether nothing has come into this process since it was caught up, as between the reads of a small call: whoever asks now asked
   * before, and so does not know of anything newer.
   */
  #isCaughtUp = false
  readonly #lookAgain = () => {
    this.#isCaughtUp = false
  }

  constructor({ root, catalog, errors, journal, heads }: HistorianParts) {
    this.#root = root
    this.#catalog = catalog
    this.#errors = errors
    this.#follower = new JournalFollower(journal, heads)
  }

  /** What is wrong with the journal; `null` for nothing that was seen yet. */
  get damage(): Damage | null {
    return this.#follower.damage
  }

  /** Whether a read goes on with what is in memory, which must not be changed under it. */
  get isJoined(): boolean {
    return this.#joined > 0
  }

  /** Brings the points in memory up to those of the journal, and gives the state that it is in. */
  catchUpJournal(): JournalState {
    return this.#follower.catchUp()
  }

  /** To be called when this process alone changes the historian from now on, and keeps what is in memory up to date itself. */
  stopFollowing(): void {
    this.#isFollowing = false
  }

  async read<T>(signal: AbortSignal, read: (snapshot: Snapshot) => T | Promise<T>): Promise<T> {
    try {
      return await withSnapshot(this.#root, signal, (snapshot) => {
        if (this.#isFollowing) this.#join(snapshot)
        return read(snapshot)
      })
    } catch (error) {
      throw this.errorOf(error)
    }
  }

  /**
   * As `read`, for many small reads that mostly are done before others are to be let in: the result is there at once then.
   * @param readOne  reads one of them
   * @param toRest   called before others are let in for the first time
   */
  readEach<T>(
    signal: AbortSignal,
    count: number,
    result: T,
    readOne: ReadOne,
    toRest: ((snapshot: Snapshot, version: number) => void) | null = null,
  ): MaybePromise<T> {
    let snapshot: Snapshot | null = null
    try {
      snapshot = new Snapshot(this.#root, signal)
      if (this.#isFollowing) this.#join(snapshot)
      const { version } = this.#catalog
      for (let i = 0; i < count; i++) {
        readOne(i, snapshot, version)
        if (!snapshot.isDue()) continue
        toRest?.(snapshot, version)
        return this.#readRest(snapshot, version, i + 1, count, readOne).then(() => result)
      }
      snapshot.done()
      return result
    } catch (error) {
      snapshot?.done()
      return Promise.reject(this.errorOf(error))
    }
  }

  async #readRest(
    snapshot: Snapshot,
    version: number,
    from: number,
    count: number,
    readOne: ReadOne,
  ): Promise<void> {
    try {
      await snapshot.rest()
      for (let i = from; i < count; i++) {
        readOne(i, snapshot, version)
        if (snapshot.isDue()) await snapshot.rest()
      }
    } catch (error) {
      throw this.errorOf(error)
    } finally {
      snapshot.done()
    }
  }

  /**
   * Has a read begin on the newest state; one that begins in the same turn of the event loop as others joins theirs, which they
   * go on with as long as they let nobody in.
   */
  #join(snapshot: Snapshot): void {
    if (this.#joined === 0 && !this.#isCaughtUp) this.catchUp()
    this.#joined++
    snapshot.onLeave = () => {
      this.#joined--
    }
  }

  /** Another process may have changed anything since the last read. Not to be called while a read is joined. */
  catchUp(): void {
    this.#root.resetReadTxn()
    this.#follower.catchUp()
    this.#catalog.refresh()
    this.#isCaughtUp = true
    DONE.then(this.#lookAgain)
  }

  /** The error that a caller gets for one that was met. */
  errorOf(error: unknown): unknown {
    if (isLmdbError(error)) {
      // The read transaction that met it is of no more use to anybody in this turn of the event loop.
      this.#root.resetReadTxn()
      this.#isCaughtUp = false
    }
    return this.#errors.ofRead(error)
  }
}

const DONE = Promise.resolve()
