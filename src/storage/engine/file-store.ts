import { isCorrupt } from '../../errors/tidemark-error.ts'
import type { RangeQuery, TooOldPoints, WriteBatch } from '../../historian/contract.ts'
import type { MaybePromise } from '../../historian/maybe-promise.ts'
import type { HistorianMeasures } from '../../historian/measures.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { GapPage, GapSearch } from '../../series/gaps.ts'
import type { PlotGaps } from '../../series/plot.ts'
import type {
  BoundingValues,
  Comparisons,
  Integrals,
  PlotPoints,
  RangeResult,
  SignalShape,
} from '../../series/reads.ts'
import type { TagRecord } from '../catalog/tag-record.ts'
import type { Version } from '../manifest/version.ts'
import { countCompared, readCompared } from '../reads/compared-reads.ts'
import { readGaps } from '../reads/gap-reads.ts'
import { readPlot } from '../reads/plot-reads.ts'
import { countPoints, readBoundingValues, readInterpolated, readRange } from '../reads/point-reads.ts'
import { readAggregates, readIntegrals } from '../reads/signal-reads.ts'
import type { RetentionRule } from '../retention/rules.ts'
import type { Search, SearchPage } from '../search/search.ts'
import { searchTags } from '../search/search-tags.ts'
import { checkStore, type HistorianCheck } from './check-store.ts'
import { isDamage } from './committer.ts'
import { countDeletedPoints, countDeletedTags } from './dry-runs.ts'
import type { EngineState } from './engine-state.ts'
import { IntactBlocks, readIntactRange } from './intact-blocks.ts'
import type { LateOwner, Owned } from './late-owner.ts'
import { measureStore } from './measure-store.ts'
import type { Owner } from './owner.ts'
import { planSpanDeletes, planTagDeletes } from './plan-changes.ts'
import { planPuts, planRenames, type TagFieldsPut } from './plan-tags.ts'
import { PointReader, type StoredPointQuery } from './point-reader.ts'
import { previewRetention, type RetentionPreview } from './preview-retention.ts'
import { type Following, ReadSide } from './read-side.ts'
import { blocksOf, intactBlocksOf } from './tag-sources.ts'
import type { TagSpan } from './tag-spans.ts'

/** A range of a tag, of which points may be left out that make no difference to comparisons. */
type ComparedSpan = TagSpan & { readonly compared?: Comparisons }
/** A page of it. */
type PageQuery = ComparedSpan & Pick<RangeQuery, 'order' | 'limit' | 'partial'>

/** How often a process that reads looks at what the owner published, when nobody reads. */
const FOLLOW_MS = 1_000
const NEVER_ABORTED = new AbortController().signal

/**
 * An embedded historian on files (docs/storage.md). Reads see one state for as long as they last, changes are made one
 * after the other and answered when they are durable. Every method rejects with the signal's reason soon after it is
 * aborted, except a change whose group is being written; with STORAGE_CORRUPT when what is stored cannot be read;
 * changes with WRITE_FAILED when nothing was changed, and with WRITE_OUTCOME_UNKNOWN when that is not known.
 */
export class FileStore {
  readonly historian: string
  #state: EngineState
  #reads: ReadSide
  #points: PointReader
  #owner: Owner | null
  readonly #following: Following | null
  readonly #late: LateOwner | null
  #looking: NodeJS.Timeout | null = null

  /**
   * Use `openFileStore`.
   * @param owner      what changes it; `null` where another process does, whom `following` follows
   * @param late       becomes the owner as soon as there is room; `null` when it is, or is to read
   */
  constructor(
    state: EngineState,
    owner: Owner | null,
    following: Following | null,
    late: LateOwner | null = null,
  ) {
    this.historian = state.historian
    this.#state = state
    this.#owner = owner
    this.#following = following
    this.#late = late
    this.#reads = new ReadSide(state, following)
    this.#points = new PointReader(state, this.#reads)
    late?.wait((owned) => this.#become(owned))
    if (following === null) return
    // Also when nothing is read: a file that goes has its space back only when nobody has it open.
    this.#looking = setInterval(() => this.#follow(), FOLLOW_MS).unref()
  }

  /** The id is made with the historian, and by the first owner of a copy; the token grows with each owner. */
  get identity(): Pick<Version, 'id' | 'token'> {
    return this.#state.parts.current.version
  }

  /** Goes on as the owner; reads that began go on with what they have, which is closed when they end. */
  #become({ state, owner }: Owned): void {
    if (this.#looking !== null) clearInterval(this.#looking)
    this.#reads.end()
    this.#state = state
    this.#owner = owner
    this.#reads = new ReadSide(state, null)
    this.#points = new PointReader(state, this.#reads)
  }

  /** Catches up with the owner; what fails is reported to the next read. */
  #follow(): void {
    this.#reads.read(NEVER_ABORTED, () => {}).catch(() => {})
  }

  /** Finishes all changes and frees everything. Gives the number of the last record, `null` where it was only read. */
  async close(): Promise<number | null> {
    if (this.#looking !== null) clearInterval(this.#looking)
    try {
      await this.#late?.close()
      await this.#owner?.close()
    } finally {
      this.#following?.close()
      this.#state.parts.close()
    }
    return this.#owner === null ? null : this.#state.memtable.nextSequence - 1
  }

  /** What somebody should look at although reads are answered; `null` for nothing. */
  get trouble(): string | null {
    const damaged = this.#state.parts.current.parts.find(({ damage }) => damage !== null)
    if (damaged !== undefined) return `part ${damaged.info.name} is damaged: ${damaged.damage!.message}`
    return this.#owner?.trouble ?? null
  }

  /** Rejects when the historian cannot be read, has another owner, or takes no more points. */
  async checkHealth(signal: AbortSignal): Promise<void> {
    await this.#reads.read(signal, () => {
      if (this.#state.damage !== null) throw this.#state.damage
      if (this.#late !== null && this.#owner === null) {
        throw this.#state.errors.notOwned(this.#late.reason)
      }
      this.#owner?.check()
    })
  }

  /** What is known without a look at any file: points that were deleted count until their part is merged. */
  measure(): HistorianMeasures {
    return measureStore(this.#state, this.#owner)
  }

  /** Verifies all files of the newest state. */
  check(signal: AbortSignal): Promise<HistorianCheck> {
    return this.#reads.read(signal, (snapshot) => checkStore(this.#state, snapshot))
  }

  /** What rules of retention would remove at a time, in microseconds since 1970. */
  previewRetention(
    rules: readonly RetentionRule[],
    nowUs: number,
    signal: AbortSignal,
  ): Promise<RetentionPreview> {
    return this.#reads.read(signal, (snapshot) => previewRetention(this.#state, snapshot, rules, nowUs))
  }

  // ---- tags ----

  /** Each named tag, `null` for one that does not exist. */
  findTags(names: readonly string[], signal: AbortSignal): MaybePromise<readonly (TagRecord | null)[]> {
    const found: (TagRecord | null)[] = []
    const { tags } = this.#points
    return this.#reads.readEach(signal, names.length, found, (i) => {
      found.push(tags.find(names[i]!))
    })
  }

  /** For each named tag 1 where it exists, and 0 where it does not: of very many tags no records are made. */
  hasTags(names: readonly string[], signal: AbortSignal): MaybePromise<Uint8Array> {
    const found = new Uint8Array(names.length)
    return this.#reads.readEach(signal, names.length, found, (i) => {
      if (this.#state.catalog.idOf(names[i]!) !== 0) found[i] = 1
    })
  }

  searchTags(search: Search, signal: AbortSignal): Promise<SearchPage> {
    return this.#reads.read(signal, (snapshot) => searchTags(this.#state.catalog, search, snapshot))
  }

  // ---- points ----

  /** One raw point for each query; its time is NaN where there is none. */
  readPoints(queries: readonly StoredPointQuery[], signal: AbortSignal): MaybePromise<PointColumns> {
    return this.#points.readPoints(queries, signal)
  }

  /** What all reads leave out because of damage, as a sentence; `null` for nothing. */
  get leftOut(): string | null {
    const { damage, errors } = this.#state
    return damage === null ? null : errors.leftOut(damage.message)
  }

  /** The first `limit` points of each range in its order, with `partial` without what is damaged. */
  readRanges(queries: readonly PageQuery[], signal: AbortSignal): Promise<readonly RangeResult[]> {
    return this.#points.readTagsAs(
      queries,
      signal,
      (tag, set, memory, query) =>
        query.partial === true ? intactBlocksOf(tag, set, memory, query) : blocksOf(tag, set, memory),
      (blocks, query, pace) => {
        if (blocks instanceof IntactBlocks) return readIntactRange(blocks, query, pace)
        return query.compared === undefined || query.order === 'desc'
          ? readRange(blocks, query, pace)
          : readCompared(blocks, query, query.compared, pace)
      },
    )
  }

  /** Per tag and time the last good point at or before and the first good one at or after it. */
  readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    signal: AbortSignal,
  ): Promise<readonly BoundingValues[]> {
    const queries = tags.map((tag) => ({ tag }))
    return this.#points.readTags(queries, signal, (blocks, _query, snapshot) =>
      readBoundingValues(blocks, times, snapshot),
    )
  }

  /**
   * Number of points of each range that can be read, without what is damaged; counting stops at `cap` or above.
   */
  async countPoints(
    ranges: readonly ComparedSpan[],
    cap: number,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    try {
      return await this.#points.readTags(ranges, signal, (blocks, { from, to, compared }, pace) =>
        compared === undefined
          ? countPoints(blocks, from, to, cap, pace)
          : countCompared(blocks, from, to, compared, cap, pace),
      )
    } catch (error) {
      if (!isCorrupt(error)) throw error
      return this.#points.readTagsAs(ranges, signal, intactBlocksOf, (blocks, { from, to }, pace) =>
        countPoints(blocks, from, to, cap, pace),
      )
    }
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
    return this.#points.readTags(queries, signal, (blocks, query, snapshot) =>
      readAggregates(blocks, query.edges, query.aggregates, query, snapshot),
    )
  }

  /** Points of charts: those that src/series/plot.ts chooses of each column between two edges. */
  readPlots(
    queries: readonly (PlotGaps & { readonly tag: string; readonly edges: Float64Array })[],
    signal: AbortSignal,
  ): Promise<readonly PlotPoints[]> {
    return this.#points.readTags(queries, signal, (blocks, query, snapshot) =>
      readPlot(blocks, query.edges, query, snapshot),
    )
  }

  /** Times without a good point that are longer than asked, the ends of the range included. */
  readGaps(
    queries: readonly (GapSearch & { readonly tag: string })[],
    signal: AbortSignal,
  ): Promise<readonly GapPage[]> {
    return this.#points.readTags(queries, signal, readGaps)
  }

  /** Values of the signal at ascending times; NaN where it has none. */
  readInterpolated(
    queries: readonly (SignalShape & { readonly tag: string; readonly times: Float64Array })[],
    signal: AbortSignal,
  ): Promise<readonly Float64Array[]> {
    return this.#points.readTags(queries, signal, (blocks, query, snapshot) =>
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
    return this.#points.readTags(queries, signal, (blocks, query, snapshot) =>
      readIntegrals(blocks, query.starts, query.ends, query, snapshot),
    )
  }

  /**
   * Notes which version another process reads, by its number: 0 for one that is about to open some, `null` for none any
   * more. Files go when all of these have moved on.
   */
  readerAt(reader: number, version: number | null): void {
    const taker = this.#owner ?? this.#late
    taker?.readerAt(reader, version)
  }

  // ---- changes ----

  /**
   * Stores points, all or none, but for those at or before the watermarks of their tags, which it gives. TAG_NOT_FOUND
   * for a missing tag unless tags are made.
   */
  async write(write: WriteBatch, signal: AbortSignal): Promise<TooOldPoints | null> {
    const { committer, retention } = this.#changing
    const wasSettled = retention === null || retention.isSettled
    const tooOld = await committer.write(write, signal, !wasSettled)
    if (tooOld === null || wasSettled) return tooOld
    // They may be too old by rules of which the configuration knows no more; nothing is stored yet.
    await retention.run()
    return committer.write(write, signal)
  }

  /** Writes all points in memory to parts, which otherwise happens by and by, and merges what is to be merged. */
  async flush(): Promise<void> {
    await this.#changing.flush()
  }

  /** Moves watermarks by the clock now, which otherwise happens once a minute, and removes what lies behind them. */
  async retain(): Promise<void> {
    await this.#changing.retain()
  }

  /** Makes and overwrites metadata; reports for each entry whether it was stored, or exists, or is missing. */
  async putTags(
    entries: readonly TagFieldsPut[],
    mode: 'create' | 'update' | 'upsert',
    signal: AbortSignal,
  ): Promise<readonly ('stored' | 'exists' | 'missing')[]> {
    return this.#changing.committer.change('tags', signal, ({ catalog, pace }) =>
      planPuts(catalog, pace, entries, mode),
    )
  }

  /** Removes points and returns how many of each range; one in several ranges counts for the first. */
  async deletePoints(
    ranges: readonly TagSpan[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const owner = this.#changing
    if (dryRun) return countDeletedPoints(owner, this.#points, ranges, signal)
    return owner.committer.change('removal', signal, (draft) => planSpanDeletes(draft, ranges))
  }

  /** Removes tags with their points and returns how many points each had. TAG_NOT_FOUND for a missing one. */
  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const owner = this.#changing
    if (dryRun) return countDeletedTags(owner, this.#points, names, signal)
    return owner.committer.change('removal', signal, (draft) => planTagDeletes(draft, names, isDamage))
  }

  /**
   * Renames tags, all or none. TAG_NOT_FOUND for a missing one, TAG_EXISTS for a name that stays or becomes another's.
   */
  async renameTags(
    renames: readonly { readonly from: string; readonly to: string }[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const owner = this.#changing
    // A name has another watermark by other rules.
    await owner.retention?.settled()
    return owner.committer.change(dryRun ? null : 'tags', signal, (draft) =>
      planRenames(draft, renames, dryRun),
    )
  }

  get #changing(): Owner {
    if (this.#owner !== null) return this.#owner
    const { damage, errors } = this.#state
    if (damage !== null) throw errors.ofRead(damage)
    if (this.#late === null) throw new TypeError('the historian was opened to read')
    throw errors.notOwned(this.#late.reason)
  }
}
