import { Damage } from '../damage.ts'
import type { ReadOptions } from '../environment.ts'
import type { Heads } from '../heads/heads.ts'
import type { Journal, JournalState } from './journal.ts'

/**
 * Keeps the points in memory those of the journal, by reading the records after the last one that it has seen: at the start, and
 * beside another process that writes before every read.
 */
export class JournalFollower {
  readonly #journal: Journal
  readonly #heads: Heads
  /** Where `heads` is; `null` when nothing was read yet. */
  #state: JournalState | null = null
  /** The first record that could not be read; the others were applied. */
  damage: Damage | null = null

  constructor(journal: Journal, heads: Heads) {
    this.#journal = journal
    this.#heads = heads
  }

  /**
   * Catches up with a state of the environment, and gives that of the journal. A record that cannot be read is left out, and
   * `damage` says so. Throws Damage when the state of the journal cannot be read.
   */
  catchUp(options?: ReadOptions): JournalState {
    const state = this.#journal.state(options)
    const seen = this.#state
    if (seen !== null && seen.epoch === state.epoch && seen.next === state.next) {
      if (seen.first !== state.first) this.#heads.endFolding()
      this.#state = state
      return state
    }
    let place: JournalState
    if (seen === null || seen.epoch < state.first) {
      // Records of epochs that are folded may be gone, and with them what they said of newest points.
      this.#heads.clear()
      place = { first: state.first, epoch: state.first, next: 0 }
    } else {
      if (seen.first < state.first) this.#heads.endFolding()
      place = { ...seen, first: state.first }
    }
    this.#journal.eachFrom(
      { epoch: place.epoch, number: place.next },
      (record, { epoch, number }) => {
        if (epoch > place.epoch) this.#heads.seal()
        if (record instanceof Damage) this.damage ??= record
        else this.#heads.apply(record)
        place = { ...place, epoch, next: number + 1 }
      },
      options,
    )
    if (state.epoch > place.epoch) this.#heads.seal()
    this.#state = state
    return state
  }
}
