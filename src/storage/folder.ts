import { makeColumns, type PointColumns, sliceColumns } from '../series/columns.ts'
import { MAX_BLOCK_POINTS } from './block.ts'
import type { Changes } from './changes.ts'
import { Damage } from './damage.ts'
import { MOST_IN_CELLS } from './heads/head.ts'
import type { Heads } from './heads/heads.ts'
import type { Journal, JournalState } from './journal/journal.ts'
import { encodePoints, type JournalRemoval } from './journal/record.ts'
import { planPoints } from './plan-points.ts'
import type { Snapshot } from './snapshot.ts'
import { type BlockAccess, StoredBlocks } from './tag-blocks.ts'

/** When an epoch of the journal is folded. */
export interface FoldLimits {
  /**
   * Points in it: bounds the memory that they take. 18 bytes each for a tag that has a hundred, 136 bytes for a single one. One epoch
   * and a little more at a time, as the next one takes what the folding of one gives back.
   */
  readonly points: number
  /** Records in it, each the points of one request. */
  readonly records: number
  /** Time since its first record, in milliseconds: what nobody adds to does not stay in memory. */
  readonly ageMs: number
  /**
   * What is left when many points came and nothing more comes for a while: aggregates over them have no summaries before they are
   * folded. Left out, only age counts.
   */
  readonly rest?: { readonly points: number; readonly afterMs: number }
}

export const FOLD_LIMITS: FoldLimits = {
  points: 1_000_000,
  records: 100_000,
  ageMs: 300_000,
  rest: { points: 20_000, afterMs: 2_000 },
}

/** Journal records that are removed in one commit at most. */
const REMOVED_RECORDS = 1_000

/** What one step of folding does. */
export interface FoldStep {
  /** The state of the journal after the step. */
  readonly state: JournalState
  /** To be called when the step is committed. */
  done(): void
}

/**
 * Moves points from the journal into blocks, in steps that each are part of one commit. The order makes every moment safe to be
 * killed in: blocks take the points first; when they hold all of an epoch, the state says so; only then its records go, oldest
 * first. Points that stand in both places are the same.
 */
export class Folder {
  readonly #heads: Heads
  readonly #journal: Journal
  readonly #access: BlockAccess
  readonly #limits: FoldLimits
  /** Tags that wait, in reverse order of their ids: neighbours lie close together on disk. */
  #waiting: number[] = []
  #isRemoving = true
  /** Whether the active epoch is to be folded whatever its size. */
  #isWanted = false
  /** Why tags cannot be folded: their blocks are damaged. */
  readonly damaged = new Map<number, Damage>()

  constructor(heads: Heads, journal: Journal, access: BlockAccess, limits: FoldLimits) {
    this.#heads = heads
    this.#journal = journal
    this.#access = access
    this.#limits = limits
  }

  /** To be called when removals of a record are committed: nothing is wrong any more with tags that lost all that they had. */
  removed({ spans }: JournalRemoval): void {
    for (const { tag, from, to } of spans) {
      if (from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY) this.damaged.delete(tag)
    }
  }

  /** Asks for the points that are in memory now to be folded soon. */
  want(): void {
    this.#isWanted = true
  }

  /** Goes on with an epoch whose folding was cut off by the end of the process. */
  resume(): void {
    this.#waiting = [...this.#heads.foldingTags].sort((a, b) => b - a)
  }

  /** Whether a step has something to do. */
  isDue(state: JournalState): boolean {
    return this.isFolding(state) || this.#isRemoving || this.#isEpochFull(state)
  }

  /** Whether an epoch is being folded. */
  isFolding({ first, epoch }: JournalState): boolean {
    return first < epoch
  }

  /** Whether so much waits that writes should do more than their share. */
  get isLate(): boolean {
    return this.#heads.activePoints > 2 * this.#limits.points
  }

  /** Whether so much waits that nothing more may, while folding fails: it is all in memory. */
  isOverfull({ next }: JournalState): boolean {
    const { points, records } = this.#limits
    return this.#heads.activePoints >= MOST_EPOCHS * points || next >= MOST_EPOCHS * records
  }

  /**
   * How long a step may take. As long as little waits, answers come first; but the more there is, the longer: what arrives must not
   * outrun the folding however many write at once, since all of it is in memory.
   */
  get #stepMs(): number {
    const epochs = this.#heads.activePoints / this.#limits.points
    return STEP_MS * STEP_GROWTH ** Math.max(0, epochs - 1)
  }

  #isEpochFull(state: JournalState): boolean {
    const { points, records } = this.#limits
    // Records can be left although their points stand in blocks, or were removed. What cannot be folded must not fill an epoch
    // again and again.
    if (state.next - this.damaged.size >= records) return true
    if (this.#heads.activeTags.size === 0) return false
    return this.#isWanted || this.#heads.activePoints - this.#damagedPoints() >= points
  }

  /** Active points of tags that cannot be folded. */
  #damagedPoints(): number {
    let points = 0
    for (const tag of this.damaged.keys()) points += this.#heads.get(tag)?.active?.arrived ?? 0
    return points
  }

  /**
   * Works out a step of about so many points; it may be fewer, when that takes long.
   * @returns `null` when there is nothing to do
   */
  plan(changes: Changes, state: JournalState, snapshot: Snapshot, points: number): FoldStep | null {
    if (this.isFolding(state)) return this.#planTags(changes, state, snapshot, points)
    // First of all: where the next epoch is always full already, records would never go, and the file would grow and grow.
    if (this.#isRemoving) {
      const isAll = this.#journal.removeFolded(changes, state.first, REMOVED_RECORDS)
      return {
        state,
        done: () => {
          this.#isRemoving = !isAll
        },
      }
    }
    if (!this.#isEpochFull(state)) return null
    const next = { ...state, epoch: state.epoch + 1, next: 0 }
    this.#journal.putState(changes, next)
    return {
      state: next,
      done: () => {
        this.#isWanted = false
        this.#heads.seal()
        this.resume()
      },
    }
  }

  #planTags(changes: Changes, state: JournalState, snapshot: Snapshot, points: number): FoldStep {
    const done: (() => void)[] = []
    const since = performance.now()
    const stepMs = this.#stepMs
    // A tag comes once in a step: what is planned for it is not seen by a second part.
    const longest = Math.max(MAX_BLOCK_POINTS, Math.min(Math.floor(points), LONGEST_PART))
    let next = state
    // Nothing is changed here before the step is committed: a commit that fails is planned again.
    let waiting = this.#waiting.length
    for (let left = points; waiting > 0 && left > 0; ) {
      const tag = this.#waiting[waiting - 1]!
      const folding = this.#heads.get(tag)?.folding?.lend(SPACE)
      const count = folding?.times.length ?? 0
      if (count > longest && done.length > 0) break
      const part = count > longest ? sliceColumns(folding!, 0, longest) : folding
      left -= count
      if (count > 0 && !this.#planTag(changes, snapshot, tag, part!)) {
        // Its blocks cannot be read: what cannot be folded is written to the journal again.
        waiting--
        const record = recordOf(tag, this.#heads.columns(tag)!)
        next = this.#journal.append(changes, next, encodePoints(changes.arena, record))
        done.push(() => this.#heads.takeBack(tag))
      } else if (part === folding) {
        waiting--
        done.push(() => this.#heads.dropFolding(tag))
      } else {
        const until = part!.times.at(-1)!
        done.push(() => this.#heads.dropFoldingUntil(tag, until))
        break
      }
      if (performance.now() - since > stepMs) break
    }
    done.push(() => {
      this.#waiting.length = waiting
    })
    if (waiting === 0) {
      next = { ...next, first: next.epoch }
      done.push(() => {
        this.#heads.endFolding()
        this.#isRemoving = true
      })
    }
    if (next !== state) this.#journal.putState(changes, next)
    return {
      state: next,
      done: () => {
        for (const step of done) step()
      },
    }
  }

  /** False when the tag's blocks are damaged. */
  #planTag(changes: Changes, snapshot: Snapshot, tag: number, points: PointColumns): boolean {
    const mark = changes.mark()
    try {
      planPoints(changes, new StoredBlocks(this.#access, snapshot, tag), tag, points)
      this.damaged.delete(tag)
      return true
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      changes.undo(mark)
      this.damaged.set(tag, error)
      return false
    }
  }

  /**
   * Works out the folding of all that is in memory of some tags, so that blocks alone say what they have; others are let in between.
   * Rejects with Damage for a tag whose blocks cannot be read, or leaves it out.
   * @returns what is to be called when it is committed
   */
  async planWhole(
    changes: Changes,
    snapshot: Snapshot,
    tags: readonly number[],
    damage: 'throw' | 'leave-out',
  ): Promise<() => void> {
    const folded: number[] = []
    for (const tag of tags) {
      const points = this.#heads.columns(tag)
      if (points === null) continue
      if (this.#planTag(changes, snapshot, tag, points)) folded.push(tag)
      else if (damage === 'throw') throw this.damaged.get(tag)!
      if (snapshot.isDue()) await snapshot.rest()
    }
    return () => {
      for (const tag of folded) this.#heads.dropAll(tag)
    }
  }
}

/** So much of an epoch may wait behind the one that cannot be folded; more than ever waits behind one that can. */
const MOST_EPOCHS = 3
/** The points of a tag while they are packed. */
const SPACE = makeColumns(MOST_IN_CELLS)
/** Points of one tag that are packed in one step at most: some 5 ms. */
const LONGEST_PART = 131_072
/** A step that took longer than this ends, so that answers do not wait for it. */
const STEP_MS = 3
/** For each further epoch that waits behind the one that is being folded, a step may take so many times as long. */
const STEP_GROWTH = 16

function recordOf(tag: number, points: PointColumns) {
  return { tags: Uint32Array.of(tag), offsets: Uint32Array.of(0, points.times.length), points }
}
