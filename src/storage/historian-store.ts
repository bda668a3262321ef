import { setImmediate } from 'node:timers/promises'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { WriteBatch } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import { makeColumns, type PointColumns } from '../series/columns.ts'
import type { FindPoint, Integrals, Neighbours, RangeResult, SignalShape } from '../series/reads.ts'
import { addSummaries } from './add-summaries.ts'
import { BlockView } from './block.ts'
import { Catalog, type CatalogDraft, type CatalogStores } from './catalog.ts'
import { CommitFailed } from './changes.ts'
import { Damage } from './damage.ts'
import {
  isPanic,
  Meta,
  openDatabase,
  openEnvironment,
  type Root,
  reasonOf,
  type Store,
  unusable,
} from './environment.ts'
import { FoldTrouble, type TroubleLog } from './fold-trouble.ts'
import { FOLD_LIMITS, type FoldLimits } from './folder.ts'
import { HeadCapture } from './heads/head-capture.ts'
import { Heads } from './heads/heads.ts'
import { checkHistorian, type HistorianCheck } from './historian-check.ts'
import { JournalFollower } from './journal/follower.ts'
import { Journal } from './journal/journal.ts'
import { type LateOwnership, takeOwnershipWhenRoom } from './late-ownership.ts'
import { DATABASES, FORMAT_VERSION, META, SUMMARIES_VERSION } from './names.ts'
import { planDeletes, type Span } from './plan-deletes.ts'
import { countPoints, readInterpolated, readNeighbours, readPoint, readRange } from './point-reads.ts'
import { rebuildSearch } from './rebuild-search.ts'
import { type Search, type SearchPage, searchTags } from './search.ts'
import { readAggregates, readIntegrals } from './signal-reads.ts'
import { Snapshot, withSnapshot } from './snapshot.ts'
import { type BlockAccess, StoredBlocks, TagBlocks } from './tag-blocks.ts'
import type { TagRecord } from './tag-record.ts'
import { removeAllBlocks } from './tag-removal.ts'
import { VerifiedBlocks } from './verified-blocks.ts'
import { Writer } from './writer.ts'

export interface HistorianStoreOptions {
  /** Name of the historian, for errors; the folder remembers the one that it was made for. */
  readonly historian: string
  /** Whether this process is to change it: one process at a time may. */
  readonly owner: boolean
  /** When points move from the journal into blocks; FOLD_LIMITS when left out. */
  readonly fold?: Partial<FoldLimits>
  /** Told when folding fails, and when it goes on; nobody is when left out. */
  readonly log?: TroubleLog
}

/** A tag's metadata as it is stored. */
export type TagFields = Omit<TagRecord, 'id'>

/** Which raw point of a tag is asked for. */
interface StoredPointQuery {
  readonly tag: string
  readonly find: FindPoint
  readonly at: number
}

/** A stretch of a tag's time, [from, to). */
export interface TagSpan extends Span {
  readonly tag: string
}

/** The databases of a historian. */
export interface HistorianStores extends CatalogStores {
  /** See block.ts. */
  readonly points: Store
  /** See summary-page.ts. */
  readonly summaries: Store
  /** See journal/journal.ts. */
  readonly journal: Store
}

/**
 * An embedded historian: tags and points in one lmdb environment. docs/formats/embedded-v2.md describes it.
 *
 * Reads see one committed state for as long as they last. Changes are worked out on the newest state, one after the other,
 * committed in one lmdb transaction each or several writes together, and answered when the commit is durable.
 * Reading a tag that does not exist gives no points.
 *
 * Every method rejects with the signal's reason soon after it is aborted, except a change whose commit has begun, and with
 * STORAGE_CORRUPT when what is stored cannot be read; changes with WRITE_FAILED when the commit failed, and then nothing changed.
 */
export class HistorianStore {
  readonly historian: string
  readonly #root: Root
  readonly #stores: HistorianStores
  readonly #ownership: LateOwnership | null
  readonly #catalog: Catalog
  readonly #access: BlockAccess
  readonly #journal: Journal
  readonly #heads = new Heads()
  readonly #follower: JournalFollower
  readonly #trouble: FoldTrouble
  #isClosed = false
  /** `null` when another process may change what is read here: it was opened to read, or could not be owned yet. */
  #writer: Writer | null = null
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

  /** Use {@link openHistorianStore}. */
  constructor(
    historian: string,
    root: Root,
    stores: HistorianStores,
    ownership: LateOwnership | null,
    fold: FoldLimits,
    log: TroubleLog | null,
  ) {
    this.historian = historian
    this.#trouble = new FoldTrouble(historian, log)
    this.#root = root
    this.#stores = stores
    this.#ownership = ownership
    this.#catalog = new Catalog(stores)
    this.#access = {
      points: stores.points,
      summaries: stores.meta.get(META.summaries) === SUMMARIES_VERSION ? stores.summaries : null,
      view: new BlockView(),
      verified: new VerifiedBlocks(),
    }
    this.#journal = new Journal(stores.journal)
    this.#follower = new JournalFollower(this.#journal, this.#heads)
    if (ownership?.missing === null) this.#writer = this.#makeWriter(fold)
    else if (ownership !== null) this.#beginChangesLater(ownership, fold, log)
  }

  #beginChangesLater(ownership: LateOwnership, limits: FoldLimits, log: TroubleLog | null): void {
    const fields = { historian: this.historian, reason: ownership.missing }
    log?.error(fields, 'there is no room to become the owner of the data: they are only read until there is')
    ownership.onTaken(() => {
      this.#beginChanges(limits).then(
        () => log?.info({ historian: this.historian }, 'there is room again: changes are made'),
        (error: unknown) => log?.error({ err: error, historian: this.historian }, 'changes cannot be made'),
      )
    })
  }

  /** From a historian that is only read makes one that is changed, once it is owned. */
  async #beginChanges(limits: FoldLimits): Promise<void> {
    // Reads that began on what is in memory go on with it.
    while (this.#joined > 0) await setImmediate()
    if (this.#isClosed) return
    this.#catchUp()
    if (!isCurrent(this.#stores.meta)) throw new Error('another version has changed the data meanwhile')
    this.#writer = this.#makeWriter(limits)
  }

  #makeWriter(limits: FoldLimits): Writer {
    const state = this.#follower.catchUp()
    return new Writer({
      root: this.#root,
      points: this.#stores.points,
      summaries: this.#stores.summaries,
      catalog: this.#catalog,
      journal: this.#journal,
      heads: this.#heads,
      access: this.#access,
      limits,
      trouble: this.#trouble,
      state,
      damage: () => this.#follower.damage,
      checkOwned: () => this.#checkOwned(),
      tooMuchWaits: (reason) => this.#tooMuchWaits(reason),
      tagNotFound: (tag) => this.#tagNotFound(tag),
      changeError: (error) => this.#changeError(error),
    })
  }

  /** Finishes all changes that were asked for and frees everything. Nothing is called afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writer?.close()
    await this.#ownership?.release()
    await this.#root.close()
  }

  /** What somebody should look at although reads are answered; `null` for nothing. */
  get trouble(): string | null {
    const { reason } = this.#trouble
    return reason === null ? null : `${UNFOLDED}: ${reason}`
  }

  /** Rejects when the environment cannot be read, was taken over by another owner, or takes no more points. */
  async checkHealth(signal: AbortSignal): Promise<void> {
    await this.#read(signal, () => {
      if (this.#stores.meta.get(META.format) === undefined) throw new Damage('the format is missing')
      if (this.#follower.damage !== null) throw this.#follower.damage
      if (this.#ownership !== null && this.#writer === null) throw this.#notOwned()
      this.#checkOwned()
      const refusal = this.#writer?.refusal ?? null
      if (refusal !== null) throw refusal
    })
  }

  // ---- tags ----

  /** Each named tag, `null` for one that does not exist. */
  findTags(names: readonly string[], signal: AbortSignal): MaybePromise<readonly (TagRecord | null)[]> {
    const found: (TagRecord | null)[] = []
    return this.#readEach(signal, names.length, found, (i, snapshot, version) => {
      found.push(this.#catalog.find(names[i]!, snapshot.options, version))
    })
  }

  searchTags(search: Search, signal: AbortSignal): Promise<SearchPage> {
    return this.#read(signal, (snapshot) => searchTags(this.#catalog, search, snapshot))
  }

  // ---- points ----

  /** One raw point for each query; its time is NaN where there is none. */
  readPoints(queries: readonly StoredPointQuery[], signal: AbortSignal): MaybePromise<PointColumns> {
    const points = makeColumns(queries.length)
    // Made before others are let in, or when the first block is looked at: most of these reads need neither.
    let heads: HeadCapture | null = null
    const capture = (snapshot: Snapshot, version: number) => {
      heads ??= this.#capture(queries, this.#finder(snapshot, version), snapshot)
      return heads
    }
    const readOne = (i: number, snapshot: Snapshot, version: number) => {
      const { tag, find, at } = queries[i]!
      const record = this.#catalog.find(tag, snapshot.options, version)
      if (record === null) points.times[i] = Number.NaN
      else if (!this.#readNewest(record.id, find, at, points, i, snapshot)) {
        const blocks = this.#blocksOf(record.id, snapshot, capture(snapshot, version))
        if (!readPoint(blocks, find, at, points, i)) points.times[i] = Number.NaN
      }
    }
    return this.#readEach(signal, queries.length, points, readOne, capture)
  }

  /** Answers from what is remembered of the tag's newest point, which most reads ask for; false when that is not the answer. */
  #readNewest(
    id: number,
    find: FindPoint,
    at: number,
    target: PointColumns,
    index: number,
    snapshot: Snapshot,
  ): boolean {
    if ((find !== 'before' && find !== 'before-or-at') || snapshot.hasRested) return false
    if (this.#catalog.isChanging) return false
    let head = this.#heads.get(id)
    if (head === undefined || !head.knowsNewest) {
      const blocks = new TagBlocks(new StoredBlocks(this.#access, snapshot, id), this.#heads.columns(id))
      const hasAny = readPoint(blocks, 'before-or-at', Number.MAX_SAFE_INTEGER - 1, NEWEST, 0)
      const time = hasAny ? NEWEST.times[0]! : Number.NEGATIVE_INFINITY
      this.#heads.rememberNewest(id, time, NEWEST.values[0]!, NEWEST.statuses[0]!)
      head = this.#heads.get(id)!
    }
    const time = head.newestTime
    if (!(find === 'before' ? time < at : time <= at)) return false
    target.times[index] = time === Number.NEGATIVE_INFINITY ? Number.NaN : time
    target.values[index] = head.newestValue
    target.statuses[index] = head.newestStatus
    return true
  }

  /** The first `limit` points of each range in its order. */
  readRanges(
    queries: readonly (TagSpan & { readonly order: 'asc' | 'desc'; readonly limit: number })[],
    signal: AbortSignal,
  ): Promise<readonly RangeResult[]> {
    return this.#eachTag(queries, signal, (blocks, query, snapshot) => readRange(blocks, query, snapshot))
  }

  /** Per tag and time the last good point at or before and the first good one at or after it. */
  readNeighbours(
    tags: readonly string[],
    times: Float64Array,
    signal: AbortSignal,
  ): Promise<readonly Neighbours[]> {
    const queries = tags.map((tag) => ({ tag }))
    return this.#eachTag(queries, signal, (blocks, _query, snapshot) =>
      readNeighbours(blocks, times, snapshot),
    )
  }

  /** Number of points of each range; counting stops at `cap` or above. */
  countPoints(ranges: readonly TagSpan[], cap: number, signal: AbortSignal): Promise<readonly number[]> {
    return this.#eachTag(ranges, signal, (blocks, { from, to }, snapshot) =>
      countPoints(blocks, from, to, cap, snapshot),
    )
  }

  /** Aggregates of STORED_AGGREGATES over windows that join. */
  readAggregates(
    queries: readonly (SignalShape & {
      readonly tag: string
      readonly edges: Float64Array
      readonly aggregates: readonly AggregateName[]
    })[],
    signal: AbortSignal,
  ): Promise<readonly AggregateColumns[]> {
    return this.#eachTag(queries, signal, (blocks, query, snapshot) =>
      readAggregates(blocks, query.edges, query.aggregates, query, snapshot),
    )
  }

  /** Values of the signal at ascending times; NaN where it has none. */
  readInterpolated(
    queries: readonly (SignalShape & { readonly tag: string; readonly times: Float64Array })[],
    signal: AbortSignal,
  ): Promise<readonly Float64Array[]> {
    return this.#eachTag(queries, signal, (blocks, query, snapshot) =>
      readInterpolated(blocks, query.times, query, snapshot),
    )
  }

  /** Integrals of the signal over ascending spans that do not overlap. */
  readIntegrals(
    queries: readonly (SignalShape & {
      readonly tag: string
      readonly starts: Float64Array
      readonly ends: Float64Array
    })[],
    signal: AbortSignal,
  ): Promise<readonly Integrals[]> {
    return this.#eachTag(queries, signal, (blocks, query, snapshot) =>
      readIntegrals(blocks, query.starts, query.ends, query, snapshot),
    )
  }

  // ---- changes ----

  /** Stores points, all or none. TAG_NOT_FOUND for a missing tag unless tags are made. */
  async write(write: WriteBatch, signal: AbortSignal): Promise<void> {
    await this.#owned.write(write, signal)
  }

  /** Moves all points of the journal into blocks, which otherwise happens by and by. */
  async fold(): Promise<void> {
    await this.#owned.fold()
  }

  /** Makes and overwrites metadata; tells for each entry whether it was stored, or exists, or is missing. */
  async putTags(
    entries: readonly TagFields[],
    mode: 'create' | 'update' | 'upsert',
    signal: AbortSignal,
  ): Promise<readonly ('stored' | 'exists' | 'missing')[]> {
    return this.#owned.change(signal, NO_NEEDS, async ({ catalog, snapshot }) => {
      const outcomes: ('stored' | 'exists' | 'missing')[] = []
      for (const fields of entries) {
        const before = catalog.find(fields.name)
        if (before !== null && mode === 'create') outcomes.push('exists')
        else if (before === null && mode === 'update') outcomes.push('missing')
        else {
          if (before === null) catalog.create(fields)
          else catalog.change(before, { ...fields, id: before.id })
          outcomes.push('stored')
        }
        if (snapshot.isDue()) await snapshot.rest()
      }
      return outcomes
    })
  }

  /** Removes points and tells how many of each range; one in several ranges counts for the first. */
  async deletePoints(
    ranges: readonly TagSpan[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const needs = { tags: () => this.#idsOf(ranges.map(({ tag }) => tag)), damage: 'throw' as const }
    return this.#owned.change(signal, needs, async ({ changes, snapshot, removeSpans }) => {
      const counts = ranges.map(() => 0)
      const byTag = Map.groupBy(
        ranges.map((range, index) => ({ ...range, index })),
        ({ tag }) => tag,
      )
      for (const [tag, spans] of byTag) {
        const record = this.#catalog.find(tag)
        if (record === null) continue
        const blocks = new StoredBlocks(this.#access, snapshot, record.id)
        if (!dryRun) removeSpans(spans.map(({ from, to }) => ({ tag: record.id, from, to })))
        const found = await planDeletes(dryRun ? null : changes, blocks, record.id, spans, snapshot)
        spans.forEach(({ index }, place) => {
          counts[index] = found[place]!
        })
      }
      return counts
    })
  }

  /** Removes tags with their points and tells how many points each had. TAG_NOT_FOUND for a missing one. */
  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const needs = { tags: () => this.#idsOf(names), damage: 'leave-out' as const }
    return this.#owned.change(signal, needs, async ({ changes, catalog, snapshot, removeSpans }) => {
      const records = names.map((name) => this.#existing(catalog, name))
      const counts: number[] = []
      for (const record of records) {
        const target = dryRun ? null : changes
        counts.push(await removeAllBlocks(target, this.#access, record.id, snapshot))
        if (dryRun) continue
        catalog.remove(record)
        removeSpans([{ tag: record.id, from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }])
      }
      return counts
    })
  }

  /** Renames tags, all or none. TAG_NOT_FOUND for a missing one, TAG_EXISTS for a name that stays or becomes another's. */
  async renameTags(
    renames: readonly { readonly from: string; readonly to: string }[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#owned.change(signal, NO_NEEDS, async ({ catalog }) => {
      const found = renames.map(({ from, to }) => ({ record: this.#existing(catalog, from), to }))
      const leaving = new Set(renames.map(({ from }) => from))
      const taken = new Set<string>()
      for (const { to } of renames) {
        if (taken.has(to) || (!leaving.has(to) && catalog.find(to) !== null)) {
          throw new TidemarkError('TAG_EXISTS', { address: `${this.historian}/${to}` })
        }
        taken.add(to)
      }
      if (!dryRun) catalog.rename(found)
    })
  }

  /** Verifies every block, record and index entry of the newest state. */
  check(signal: AbortSignal): Promise<HistorianCheck> {
    return this.#read(signal, async (snapshot) => {
      const heads = this.#heads
      const tags = [...heads.foldingTags.union(heads.activeTags)]
      const captured = new HeadCapture(heads, snapshot, () => tags)
      const check = await checkHistorian(this.#stores, snapshot)
      let points = check.points
      for (const tag of tags) points += await this.#countBesideBlocks(tag, captured, snapshot)
      return { ...check, points }
    })
  }

  /** Points of a tag that stand in the journal and in no block. 0 when its blocks cannot be read, which the check has said. */
  async #countBesideBlocks(tag: number, heads: HeadCapture, snapshot: Snapshot): Promise<number> {
    const count = (blocks: TagBlocks) =>
      countPoints(
        blocks,
        Number.MIN_SAFE_INTEGER,
        Number.MAX_SAFE_INTEGER,
        Number.POSITIVE_INFINITY,
        snapshot,
      )
    try {
      const stored = new TagBlocks(new StoredBlocks(this.#access, snapshot, tag), null)
      return (await count(this.#blocksOf(tag, snapshot, heads))) - (await count(stored))
    } catch (error) {
      if (error instanceof Damage) return 0
      throw error
    }
  }

  // ---- how ----

  #checkOwned(): void {
    if (this.#ownership?.isHeld() !== false) return
    const reason = 'another process has taken its data over; end this one'
    throw new TidemarkError('WRITE_FAILED', { historian: this.historian, reason })
  }

  /** Who changes the historian; a store that was opened to read is never asked to. */
  get #owned(): Writer {
    if (this.#writer !== null) return this.#writer
    throw this.#ownership === null ? new TypeError('the historian was opened to read') : this.#notOwned()
  }

  #notOwned(): TidemarkError {
    const cause = this.#ownership?.missing ?? 'changes begin just now'
    const reason = `there was no room to become the owner of its data, which are only read until there is: ${cause}`
    return new TidemarkError('WRITE_FAILED', { historian: this.historian, reason })
  }

  #blocksOf(id: number, snapshot: Snapshot, heads: HeadCapture): TagBlocks {
    return new TagBlocks(new StoredBlocks(this.#access, snapshot, id), heads.columns(id))
  }

  #capture(queries: readonly { readonly tag: string }[], find: FindTag, snapshot: Snapshot): HeadCapture {
    const ids = () =>
      this.#idsOf(
        queries.map(({ tag }) => tag),
        find,
      )
    return new HeadCapture(this.#heads, snapshot, ids)
  }

  /** Finds tags in the state that a read sees, also when others were let in and changed them. */
  #finder(snapshot: Snapshot, version = this.#catalog.version): FindTag {
    return (name) => this.#catalog.find(name, snapshot.options, version)
  }

  /** Ids of those tags that exist. */
  #idsOf(names: readonly string[], find: FindTag = (name) => this.#catalog.find(name)): number[] {
    return [...new Set(names)].flatMap((name) => find(name)?.id ?? [])
  }

  #existing(catalog: CatalogDraft, tag: string): TagRecord {
    const record = catalog.find(tag)
    if (record === null) throw this.#tagNotFound(tag)
    return record
  }

  #tooMuchWaits(cause: string): TidemarkError {
    const reason = `${UNFOLDED} (${cause}), and too many wait there`
    return new TidemarkError('WRITE_FAILED', { historian: this.historian, reason })
  }

  #tagNotFound(tag: string): TidemarkError {
    const place = { tag: `${this.historian}/${tag}` }
    return new TidemarkError('TAG_NOT_FOUND', { historian: this.historian, tag }, { place })
  }

  async #read<T>(signal: AbortSignal, read: (snapshot: Snapshot) => T | Promise<T>): Promise<T> {
    try {
      return await withSnapshot(this.#root, signal, (snapshot) => {
        if (this.#writer === null) this.#join(snapshot)
        return read(snapshot)
      })
    } catch (error) {
      throw this.#readError(error)
    }
  }

  /**
   * As `#read`, for many small reads that mostly are done before others are to be let in: the result is there at once then.
   * @param readOne  reads one of them, given its index and the version of the catalog at the beginning
   * @param toRest   called before others are let in for the first time
   */
  #readEach<T>(
    signal: AbortSignal,
    count: number,
    result: T,
    readOne: ReadOne,
    toRest: ((snapshot: Snapshot, version: number) => void) | null = null,
  ): MaybePromise<T> {
    let snapshot: Snapshot | null = null
    try {
      snapshot = new Snapshot(this.#root, signal)
      if (this.#writer === null) this.#join(snapshot)
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
      return Promise.reject(this.#readError(error))
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
      throw this.#readError(error)
    } finally {
      snapshot.done()
    }
  }

  /**
   * Has a read begin on the newest state; one that begins in the same turn of the event loop as others joins theirs, which they
   * go on with as long as they let nobody in.
   */
  #join(snapshot: Snapshot): void {
    if (this.#joined === 0 && !this.#isCaughtUp) this.#catchUp()
    this.#joined++
    snapshot.onLeave = () => {
      this.#joined--
    }
  }

  /** Another process may have changed anything since the last read. */
  #catchUp(): void {
    this.#root.resetReadTxn()
    this.#follower.catchUp()
    this.#catalog.refresh()
    this.#isCaughtUp = true
    DONE.then(this.#lookAgain)
  }

  #eachTag<Query extends { readonly tag: string }, Result>(
    queries: readonly Query[],
    signal: AbortSignal,
    read: (blocks: TagBlocks, query: Query, snapshot: Snapshot) => Promise<Result>,
  ): Promise<readonly Result[]> {
    return this.#read(signal, async (snapshot) => {
      const results: Result[] = []
      const find = this.#finder(snapshot)
      const heads = this.#capture(queries, find, snapshot)
      for (const query of queries) {
        const blocks = this.#blocksOf(find(query.tag)?.id ?? NO_TAG, snapshot, heads)
        results.push(await read(blocks, query, snapshot))
        if (snapshot.isDue()) await snapshot.rest()
      }
      return results
    })
  }

  #readError(error: unknown): unknown {
    if (error instanceof Damage) return this.#corrupt(error.message, error)
    if (isPanic(error)) {
      const reason = reasonOf(error)
      return new TidemarkError(
        'HISTORIAN_UNAVAILABLE',
        { historian: this.historian, reason },
        { cause: error },
      )
    }
    if (isLmdbError(error)) {
      // The read transaction that met it is of no more use to anybody in this turn of the event loop.
      this.#root.resetReadTxn()
      this.#isCaughtUp = false
      return this.#corrupt(reasonOf(error), error)
    }
    return error
  }

  #changeError(error: unknown): unknown {
    if (!(error instanceof CommitFailed)) return this.#readError(error)
    const reason = reasonOf(error.cause)
    return new TidemarkError('WRITE_FAILED', { historian: this.historian, reason }, { cause: error.cause })
  }

  #corrupt(reason: string, cause: unknown): TidemarkError {
    return new TidemarkError('STORAGE_CORRUPT', { historian: this.historian, reason }, { cause })
  }
}

/**
 * Opens an embedded historian in its folder, making it when missing.
 * Throws DATA_DIR_IN_USE when it is to be owned and another process owns it, DATA_DIR_NEWER for a format that this version does
 * not know, DATA_DIR_UNUSABLE when the file system refuses or the folder is that of another historian.
 */
export async function openHistorianStore(
  folder: string,
  { historian, owner, fold, log }: HistorianStoreOptions,
): Promise<HistorianStore> {
  const root = openEnvironment(folder)
  let ownership: LateOwnership | null = null
  try {
    const metaStore = openDatabase(root, DATABASES.meta)
    const meta = new Meta(metaStore)
    meta.checkFormat(root, FORMAT_VERSION, folder)
    const stores = {
      meta,
      metaStore,
      tags: openDatabase(root, DATABASES.tags),
      names: openDatabase(root, DATABASES.names),
      search: openDatabase(root, DATABASES.search),
      points: openDatabase(root, DATABASES.points),
      summaries: openDatabase(root, DATABASES.summaries),
      journal: openDatabase(root, DATABASES.journal),
    }
    checkName(root, meta, folder, historian)
    if (owner) {
      ownership = takeOwnershipWhenRoom(root, meta, folder, folder)
      // What is not as this version has it must be made so first, which takes room.
      if (ownership.missing !== null && !isCurrent(meta)) throw unusable(folder, ownership.missing)
      // Earlier versions would not see the points of the journal.
      if (meta.getNumber(META.format) < FORMAT_VERSION) {
        root.transactionSync(() => meta.put(META.format, FORMAT_VERSION))
      }
      await rebuildSearch(stores)
      await addSummaries(stores)
    }
    return new HistorianStore(historian, root, stores, ownership, { ...FOLD_LIMITS, ...fold }, log ?? null)
  } catch (error) {
    // What stood in the way may stand in the way of this, too.
    await ownership?.release().catch(() => {})
    await root.close()
    throw error instanceof TidemarkError ? error : unusable(folder, reasonOf(error), error)
  }
}

/** Whether a historian is as this version writes it. */
function isCurrent(meta: Meta): boolean {
  return (
    meta.get(META.format) === FORMAT_VERSION &&
    meta.get(META.unicode) === process.versions.unicode &&
    meta.get(META.summaries) === SUMMARIES_VERSION
  )
}

/** Two names that differ only in case are one folder on some systems: then the second is told. */
function checkName(root: Root, meta: Meta, folder: string, historian: string): void {
  const found = meta.get(META.historian)
  if (found === undefined) root.transactionSync(() => meta.put(META.historian, historian))
  else if (found !== historian) {
    throw unusable(folder, `it holds the historian ${String(found)}, not ${historian}`)
  }
}

/** Errors of lmdb itself tell what it found in its file. */
function isLmdbError(error: unknown): boolean {
  return error instanceof Error && /MDB_/.test(error.message)
}

type ReadOne = (index: number, snapshot: Snapshot, version: number) => void

const UNFOLDED = 'points cannot be moved from its journal into blocks'

type FindTag = (name: string) => TagRecord | null

const DONE = Promise.resolve()

/** Id of no tag. */
const NO_TAG = 0

/** Of a change that is not about points. */
const NO_NEEDS = { tags: () => [], damage: 'throw' as const }

/** Scratch for one point. */
const NEWEST = makeColumns(1)
