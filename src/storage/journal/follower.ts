import { Damage } from '../damage.ts'
import type { ReadOptions } from '../environment.ts'
import type { Heads } from '../heads/heads.ts'
import { JOURNAL_BEGINNING, type Journal, type JournalState } from './journal.ts'

/**
 * Keeps the points in memory those of the journal, by reading the records after the last one that it has seen: at the start, and
 * beside another process that writes before every read.
 */
export class JournalFollower {
  readonly #journal: Journal
  readonly #heads: Heads
  /** Where `heads` is; `null` when nothing was read yet. */
  #state: JournalState | null = null
  /** What is wrong first of all; whatever can be read was applied. */
  damage: Damage | null = null
  /** The epoch that it is in. */
  #damagedEpoch = 0

  constructor(journal: Journal, heads: Heads) {
    this.#journal = journal
    this.#heads = heads
  }

  /**
   * Catches up with a state of the environment, and gives that of the journal. A record that is missing or cannot be read is left
   * out, and `damage` says so.
   */
  catchUp(options?: ReadOptions): JournalState {
    let state: JournalState
    try {
      state = this.#journal.state(options)
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      return this.#applyAll(error, options)
    }
    const seen = this.#state
    if (seen !== null && seen.epoch === state.epoch && seen.next === state.next) {
      if (seen.first !== state.first) this.#endFolding(state)
    } else if (seen === null || seen.epoch < state.first) {
      // Records of epochs that are folded may be gone, and with them what they said of newest points.
      this.#heads.clear()
      this.#forgetDamage(state)
      this.#apply({ first: state.first, epoch: state.first, next: 0 }, state, options)
    } else {
      if (seen.first < state.first) this.#endFolding(state)
      this.#apply(seen, state, options)
    }
    this.#state = state
    return state
  }

  /** Applies the records between two states. */
  #apply(seen: JournalState, state: JournalState, options: ReadOptions | undefined): void {
    let { epoch, next } = seen
    this.#journal.eachFrom(
      { epoch, number: next },
      (record, place) => {
        if (place.epoch > epoch) {
          if (place.epoch <= state.epoch) this.#heads.seal()
          epoch = place.epoch
          next = 0
        }
        if (place.number !== next) {
          this.#damaged(epoch, new Damage(`journal record ${epoch}.${next}: it is missing`))
        }
        if (record instanceof Damage) this.#damaged(epoch, record)
        else this.#heads.apply(record)
        next = place.number + 1
      },
      options,
    )
    if (state.epoch > epoch) {
      this.#heads.seal()
      epoch = state.epoch
      next = 0
    }
    if (epoch > state.epoch || next > state.next) {
      this.#damaged(epoch, new Damage('the state of the journal does not fit its records'))
    } else if (next < state.next) {
      this.#damaged(epoch, new Damage(`journal record ${epoch}.${next}: it is missing`))
    }
  }

  /**
   * Without a state: all records are applied, those of folded epochs among them. What is left of an epoch is its end, so that the
   * points are right; but they are not told apart by epochs, and so nothing can be folded.
   */
  #applyAll(damage: Damage, options: ReadOptions | undefined): JournalState {
    this.#heads.clear()
    this.#damaged(Number.POSITIVE_INFINITY, damage)
    this.#state = null
    this.#journal.eachFrom(
      { epoch: 1, number: 0 },
      (record) => {
        if (!(record instanceof Damage)) this.#heads.apply(record)
      },
      options,
    )
    return JOURNAL_BEGINNING
  }

  #endFolding(state: JournalState): void {
    this.#heads.endFolding()
    this.#forgetDamage(state)
  }

  #damaged(epoch: number, damage: Damage): void {
    if (this.damage !== null) return
    this.damage = damage
    this.#damagedEpoch = epoch
  }

  /** Another process that had the points in memory may have folded them. */
  #forgetDamage({ first }: JournalState): void {
    if (this.#damagedEpoch < first || this.#damagedEpoch === Number.POSITIVE_INFINITY) this.damage = null
  }
}
