import { TidemarkError } from '../errors/tidemark-error.ts'
import type { WriteBatch } from '../historian/contract.ts'
import { CatalogDraft } from './catalog.ts'
import { ChangeQueue } from './change-queue.ts'
import { Changes } from './changes.ts'
import { Damage } from './damage.ts'
import type { Draft, Needs } from './draft.ts'
import { folderOf } from './environment.ts'
import { type FoldReasons, FoldSchedule } from './fold-schedule.ts'
import { Folder, type FoldStep } from './folder.ts'
import type { HistorianParts } from './historian-parts.ts'
import type { JournalState } from './journal/journal.ts'
import { encodePoints, encodeRemoval, type JournalPoints, type JournalRecord } from './journal/record.ts'
import { planRecords } from './plan-records.ts'
import { Room } from './room.ts'
import { Snapshot } from './snapshot.ts'

/** A change of the queue: writes can share a commit, anything else has one of its own. */
type Change =
  | { readonly kind: 'write'; readonly write: WriteBatch }
  | { readonly kind: 'fold' }
  | {
      readonly kind: 'other'
      readonly needs: Needs
      plan(draft: Draft): Promise<void>
      readonly signal: AbortSignal
    }

/** What the writer works with. */
export interface WriterParts extends HistorianParts, FoldReasons {
  /** Where the journal stands, as far as `heads` has it. */
  readonly state: JournalState
  /** Throws when another process took the historian over: what it wrote is not seen here, and would be written over. */
  checkOwned(): void
  /** The error that a caller gets for one that was met. */
  errorOf(error: unknown): unknown
}

/** Writes are committed together up to so many points, which bounds the memory and the time of a commit. */
const POINTS_PER_COMMIT = 500_000
/** Points that are folded in one step when nothing else is to be done. */
const IDLE_STEP_POINTS = 50_000

/**
 * The one that changes a historian: one change after the other, each worked out on the newest state, committed in one lmdb
 * transaction and answered when the commit is durable. Writes that wait for the same commit share it, and cost one journal record
 * each; what is in the journal is folded into blocks meanwhile, a step with every commit.
 */
export class Writer {
  readonly #parts: WriterParts
  readonly #changes: Changes
  readonly #queue: ChangeQueue<Change>
  readonly #folder: Folder
  readonly #schedule: FoldSchedule
  readonly #room: Room
  #state: JournalState

  constructor(parts: WriterParts) {
    this.#parts = parts
    this.#state = parts.state
    this.#changes = new Changes(parts.stores.points, parts.stores.summaries)
    this.#folder = new Folder(parts.heads, parts.journal, parts.access, parts.limits)
    this.#folder.resume()
    this.#room = new Room(folderOf(parts.root))
    this.#queue = new ChangeQueue<Change>(shareCommit, (group) => this.#commit(group))
    this.#schedule = new FoldSchedule(
      parts,
      this.#folder,
      () => this.#folder.isDue(this.#state),
      () => this.#queue.add({ kind: 'fold' }, NEVER),
    )
    this.#schedule.goOn()
  }

  /** Finishes what was asked for. */
  async close(): Promise<void> {
    this.#schedule.close()
    await this.#queue.idle()
  }

  /** The error that writes get now; `null` when they are taken. */
  get refusal(): Error | null {
    const { reason } = this.#parts.trouble
    return reason !== null && this.#folder.isOverfull(this.#state)
      ? this.#parts.errors.tooMuchWaits(reason)
      : null
  }

  /** Stores points, all or none. */
  write(write: WriteBatch, signal: AbortSignal): Promise<void> {
    const { refusal } = this
    return refusal === null ? this.#queue.add({ kind: 'write', write }, signal) : Promise.reject(refusal)
  }

  /** Makes any other change, alone. */
  async change<T>(signal: AbortSignal, needs: Needs, plan: (draft: Draft) => Promise<T>): Promise<T> {
    let result: T | undefined
    const change = {
      kind: 'other' as const,
      needs,
      plan: async (draft: Draft) => {
        result = await plan(draft)
      },
      signal,
    }
    await this.#queue.add(change, signal)
    return result as T
  }

  /** Folds all points that are in memory now into blocks. Others that arrive meanwhile do not keep it from ending. */
  async fold(): Promise<void> {
    this.#folder.want()
    const { epoch } = this.#state
    // The epoch behind that of the points can be full, too, before the last records are gone; the one behind that is not waited for.
    while (this.#folder.isDue(this.#state) && this.#state.first <= epoch + 1) {
      await this.#queue.add({ kind: 'fold' }, NEVER)
    }
  }

  /** Works out and commits a group of the queue; gives what each of it failed with. */
  async #commit(group: readonly Change[]): Promise<readonly (unknown | null)[]> {
    const first = group[0]!
    const damage = this.#parts.damage()
    if (damage !== null) return group.map(() => this.#parts.errorOf(damage))
    if (first.kind === 'other') {
      try {
        await this.#foldTags(first.needs)
      } catch (error) {
        return [this.#parts.errorOf(error)]
      }
    }
    const outcomes = await this.#tryCommit(group)
    if (group.length === 1 || !outcomes.every((outcome) => outcome instanceof Damage)) {
      return outcomes.map((outcome) => (outcome === null ? null : this.#parts.errorOf(outcome)))
    }
    // Nothing was committed. One of them met damage, which must not fail the others.
    const alone: (unknown | null)[] = []
    for (const change of group) alone.push(...(await this.#commit([change])))
    return alone
  }

  /** With the group's share of folding; without it while that fails, which must not fail the writes. */
  async #tryCommit(group: readonly Change[]): Promise<readonly (unknown | null)[]> {
    const { trouble } = this.#parts
    const isFold = group[0]!.kind === 'fold'
    if (!isFold && trouble.reason !== null) return this.#attempt(group, false)
    const outcomes = await this.#attempt(group, true)
    return isFold || trouble.reason === null ? outcomes : this.#attempt(group, false)
  }

  async #attempt(group: readonly Change[], folds: boolean): Promise<readonly (unknown | null)[]> {
    const { root, catalog, heads, trouble } = this.#parts
    const changes = this.#changes
    const first = group[0]!
    const snapshot = new Snapshot(root, first.kind === 'other' ? first.signal : NEVER)
    const draft = new CatalogDraft(catalog)
    let isFolding = false
    try {
      catalog.refresh()
      const records: JournalRecord[] = []
      const outcomes = await this.#plan(group, draft, snapshot, records)
      // First the step: points that it writes to the journal again are older than the records.
      isFolding = folds
      const step = folds ? this.#planFold(first, records, this.#state, snapshot) : null
      isFolding = step !== null
      const state = this.#append(records, step?.state ?? this.#state)
      draft.addTo(changes)
      snapshot.done()
      this.#parts.checkOwned()
      // Any other change may be what makes room.
      if (first.kind === 'write' && step === null) this.#room.check()
      catalog.isChanging = first.kind === 'other'
      await changes.apply()
      this.#room.committed()
      // What is in memory must never be ahead of the state that a read sees of lmdb.
      root.resetReadTxn()
      this.#state = state
      if (step !== null) {
        step.done()
        trouble.succeeded(!this.#folder.isFolding(state))
      }
      for (const record of records) {
        heads.apply(record)
        if (record.kind === 'removal') this.#folder.removed(record)
      }
      return outcomes
    } catch (error) {
      // What says that this process is not the owner any more is no matter of folding.
      if (isFolding && !(error instanceof TidemarkError)) {
        trouble.failed(error)
        root.resetReadTxn()
      } else this.#room.failed(error)
      return group.map(() => error)
    } finally {
      snapshot.done()
      changes.reset()
      catalog.isChanging = false
      if (!draft.isEmpty) catalog.forget(draft.names)
      this.#schedule.goOn()
    }
  }

  async #plan(
    group: readonly Change[],
    catalog: CatalogDraft,
    snapshot: Snapshot,
    records: JournalRecord[],
  ): Promise<readonly (unknown | null)[]> {
    const first = group[0]!
    if (first.kind === 'fold') return [null]
    if (first.kind === 'other') {
      const removeSpans: Draft['removeSpans'] = (spans) => {
        if (spans.length > 0) records.push({ kind: 'removal', spans })
      }
      await first.plan({ changes: this.#changes, catalog, snapshot, removeSpans })
      return [null]
    }
    const writes = group.flatMap((change) => (change.kind === 'write' ? [change.write] : []))
    const { damaged } = this.#folder
    const refused = damaged.size === 0 ? null : (id: number) => damaged.get(id) ?? null
    const planned = await planRecords(writes, { catalog, snapshot }, this.#parts.errors, refused)
    for (const { record } of planned) {
      if (record !== null && record.points.times.length > 0) records.push({ kind: 'points', ...record })
    }
    return planned.map(({ error }) => error)
  }

  #append(records: readonly JournalRecord[], from: JournalState): JournalState {
    const { journal } = this.#parts
    const changes = this.#changes
    let state = from
    for (const record of records) {
      const bytes =
        record.kind === 'points' ? encodePoints(changes.arena, record) : encodeRemoval(changes.arena, record)
      state = journal.append(changes, state, bytes)
    }
    if (records.length > 0) journal.putState(changes, state)
    return state
  }

  /** Folds its share with every commit of writes, so that folding keeps up with them whatever their rate. */
  #planFold(
    first: Change,
    records: readonly JournalRecord[],
    state: JournalState,
    snapshot: Snapshot,
  ): FoldStep | null {
    if (first.kind === 'other') return null
    const folder = this.#folder
    if (first.kind === 'fold') {
      const points = Math.min(IDLE_STEP_POINTS, this.#parts.trouble.points)
      return folder.plan(this.#changes, state, snapshot, points)
    }
    if (!folder.isFolding(state)) return null
    let points = 0
    for (const record of records) points += (record as JournalPoints).points.times.length
    return folder.plan(this.#changes, state, snapshot, points * (folder.isLate ? 4 : 1.5))
  }

  /** Has all points of some tags stand in blocks, in a commit of its own. */
  async #foldTags({ tags, damage }: Needs): Promise<void> {
    const { root, heads } = this.#parts
    const inMemory = tags().filter((tag) => heads.columns(tag) !== null)
    if (inMemory.length === 0) return
    const snapshot = new Snapshot(root, NEVER)
    try {
      const done = await this.#folder.planWhole(this.#changes, snapshot, inMemory, damage)
      snapshot.done()
      this.#parts.checkOwned()
      await this.#changes.apply()
      root.resetReadTxn()
      done()
    } finally {
      snapshot.done()
      this.#changes.reset()
    }
  }
}

/** Whether a change may be committed together with those before it. */
function shareCommit(group: readonly Change[], next: Change): boolean {
  let points = 0
  for (const change of [...group, next]) {
    if (change.kind !== 'write') return false
    points += change.write.points.times.length
  }
  return points <= POINTS_PER_COMMIT
}

/** Writes that share a commit go on whatever becomes of one caller. */
const NEVER = new AbortController().signal
