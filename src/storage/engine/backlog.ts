import type { Generation, Memtable } from '../memtable/memtable.ts'
import type { FlushLimits } from './engine-limits.ts'

/** What a change brings into memory: points, and tags that they need; changes of tags; or removals of either. */
export type ChangeKind = 'points' | 'tags' | 'removal'

/** Points of a write that does not wait for room as soon as others do. */
const SMALL_WRITE = 1_000

/** Where large writes wait for a flush that is under way, in multiples of what is flushed at a time. */
const LARGE_WAIT = 2

/** So many full memtables may wait while flushing is behind, or fails: it is all in memory. */
const MOST_WAITING = 3

/** The same of removals: on a full disk they make room where nothing else does. */
const MOST_REMOVALS = 4

/** How much of what is in memory waits for a flush, as multiples of what is flushed at a time. */
export class Backlog {
  readonly #state: { readonly memtable: Memtable }
  readonly #limits: FlushLimits

  constructor(state: { readonly memtable: Memtable }, limits: FlushLimits) {
    this.#state = state
    this.#limits = limits
  }

  /** Whether there is enough for a flush. */
  get isFull(): boolean {
    return this.#points(0) >= 1 || this.#changes(0) >= 1
  }

  /** Whether half of what is flushed at a time is here again. */
  get isHalfFull(): boolean {
    return this.#points(0) >= 0.5 || this.#changes(0) >= 0.5
  }

  /**
   * Whether a change has to wait as long as flushing is behind.
   * @param points  of the change: few of them hardly fill the memory
   */
  isBehind(kind: ChangeKind, points: number): boolean {
    if (this.#changes(0) >= mostOf(kind)) return true
    return kind === 'points' && this.#points(0) >= (points <= SMALL_WRITE ? MOST_WAITING : LARGE_WAIT)
  }

  /**
   * Whether no more of a kind may come while flushing fails. Removals and changes of tags bring no points, and are
   * bounded by themselves.
   */
  isOverfull(kind: ChangeKind): boolean {
    const { immutablePoints } = this.#state.memtable
    if (this.#changes(this.#changesOf(this.#state.memtable.immutable)) >= mostOf(kind)) return true
    return kind === 'points' && this.#points(immutablePoints / this.#limits.points) >= MOST_WAITING
  }

  /** @param flushing  what is being flushed: above what it is as a rule, as after starts amid failures, it counts */
  #points(flushing: number): number {
    return this.#state.memtable.points / this.#limits.points + Math.max(0, flushing - 1)
  }

  #changes(flushing: number): number {
    return this.#changesOf(this.#state.memtable.active) + Math.max(0, flushing - 1)
  }

  /** Of changes of tags and removals the bytes, and of all changes the records. */
  #changesOf(generation: Generation | null): number {
    if (generation === null) return 0
    const { records, changeBytes = Number.POSITIVE_INFINITY } = this.#limits
    const count = generation.last + 1 - generation.first
    return Math.max(count / records, generation.changeBytes / changeBytes)
  }
}

const mostOf = (kind: ChangeKind) => (kind === 'removal' ? MOST_REMOVALS : MOST_WAITING)
