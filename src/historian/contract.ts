import type { TidemarkError } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { PointColumns } from '../series/columns.ts'
import type { GapPage, GapSearch } from '../series/gaps.ts'
import type { OptionalMetadata, OptionalMetadataChange } from '../series/optional-metadata.ts'
import type {
  BoundingValues,
  Comparisons,
  FindPoint,
  Integrals,
  PlotPoints,
  RangeResult,
  SignalShape,
} from '../series/reads.ts'
import type { Instant } from '../time/instant.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { HistorianMeasures } from './measures.ts'

export type {
  BoundingValues,
  FindPoint,
  Integrals,
  PlotPoints,
  RangeResult,
  SignalShape,
} from '../series/reads.ts'

/**
 * What a historian is to the rest of Tidemark: the one interface that every driver implements.
 *
 * Points travel in columns (src/series/columns.ts). Every method that fetches takes many tags or times at once, so that
 * a multi call costs a driver one round trip per kind of read and not one per label. A method is given only tags of
 * this historian, by name. Reading a tag that does not exist gives no points; whether a tag exists is looked up with
 * `findTags`.
 *
 * Every driver promises: points in time order, one per timestamp, the last write wins; value, status and microsecond
 * survive a round trip; names are data, whatever they hold; a read sees all of a write or nothing of it as far as
 * `atomicWrites` says; a write that was answered is there after a kill as far as `durability` says; when `signal` is
 * aborted the method rejects soon with the signal's reason and work at the source stops. Errors are TidemarkError:
 * HISTORIAN_UNAVAILABLE when the source cannot be reached, WRITE_OUTCOME_UNKNOWN when a change may have been made and
 * was not acknowledged, WRITE_PARTIAL when a part of it was made for certain (remote/change.ts makes both),
 * STORAGE_CORRUPT when what is stored cannot be read. test/contract/ is the same promise as tests.
 *
 * A driver that has an answer at hand may give it in place of a promise where a method says so; errors are always
 * rejections.
 */
export interface Historian {
  /** As configured; the first part of a tag address. */
  readonly name: string
  /** Kind of historian: 'embedded', later 'postgres' and others. */
  readonly type: string
  readonly capabilities: Capabilities
  /** Of one whose data stand on this machine: tells it from all others, also those of its name; survives restarts. */
  readonly id?: string
  /** Of one with an id: grows with each process that owned it, so that an earlier state has a lower one. */
  readonly token?: number

  /** Rejects with the reason when the historian cannot answer now; for /health/ready. */
  checkHealth(context: CallContext): Promise<void>
  /**
   * What somebody should look at although the historian answers, `null` for nothing; for /health/ready. Left out by
   * historians that have no such thing.
   */
  trouble?(context: CallContext): Promise<string | null>
  /**
   * What is worth watching, in numbers; must cost next to nothing. Left out by historians that know none; for /metrics.
   */
  measure?(context: CallContext): MaybePromise<HistorianMeasures>
  /**
   * Of one whose directory other processes of the service read: which version one of them reads, by its number; 0 for
   * one that is about to open some, `null` for one that has ended.
   */
  readerAt?(reader: number, version: number | null): void
  /** Finishes what was accepted and frees what is held. Nothing is called afterwards. */
  close(): Promise<void>

  // ---- tags ----

  /** Metadata of each named tag, `null` for one that does not exist, in the requested order. */
  findTags(names: readonly string[], context: CallContext): MaybePromise<readonly (TagMetadata | null)[]>
  /** For each named tag 1 where it exists, and 0 where it does not. Absent: `findTags` is asked. */
  hasTags?(names: readonly string[], context: CallContext): MaybePromise<Uint8Array>
  /** A page of the tags that match, ordered by name in code point order (the order of their UTF-8 bytes). */
  searchTags(query: TagQuery, context: CallContext): Promise<TagPage>

  // ---- reads ----

  /**
   * One raw point for each query, BAD ones too; `times` is NaN where there is none. Order of the queries, not of time.
   */
  readPoints(queries: readonly PointQuery[], context: CallContext): MaybePromise<PointColumns>
  /**
   * The raw points of each range. A query with `partial` is answered without what is damaged; any other rejects with
   * STORAGE_CORRUPT then.
   */
  readRanges(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]>
  /**
   * For each tag, for each of many times, the last good point at or before it and the first good one at or after it.
   * BAD points are skipped at the source: they never cross this contract here.
   * @param times ascending, distinct
   */
  readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly BoundingValues[]>
  /**
   * An upper bound of the number of points in each range, exact where that is cheap and never more than a few times
   * what is there; counting may stop at `cap`, and any result of `cap` or more means "at least cap".
   */
  estimatePoints(
    ranges: readonly CountedRange[],
    cap: number,
    context: CallContext,
  ): Promise<readonly number[]>

  // ---- optional push-downs: the same values as from raw points, computed at the source ----

  /** Aggregates named in `capabilities.aggregates`, over windows that join. Absent: the engine reads raw points. */
  readAggregates?(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]>
  /** Interpolated values at given times. Absent: the engine interpolates between bounding values. */
  readInterpolated?(
    queries: readonly InterpolationQuery[],
    context: CallContext,
  ): Promise<readonly Float64Array[]>
  /** Integrals of the signal over spans. Absent: the engine streams raw points. */
  readIntegrals?(queries: readonly IntegralQuery[], context: CallContext): Promise<readonly Integrals[]>
  /**
   * Points of charts: of each column the first, least, greatest and last good raw point (of equal ones the earliest),
   * all where there are fewer than four, and a BAD point without a value at the time of the column's first BAD one,
   * whatever else. Absent: the engine reads raw points.
   */
  readPlots?(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]>

  /**
   * Times without a good point that are longer than asked, the ends of the range included. Absent: the engine reads raw
   * points.
   */
  readGaps?(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]>

  // ---- changes; called only when capabilities.write is true ----

  /**
   * All of the batch or nothing, as far as `atomicWrites` says; resolves when it is as durable as `durability` says.
   * The columns of the points are lent until then: once it has resolved they take other points. When it rejects they
   * stay as they are.
   * @returns  points that were not taken, as the historian keeps none of their tag that are as old; all others were
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a driver without retention has nothing to say
  write(batch: WriteBatch, context: CallContext): Promise<TooOldPoints | null | void>
  /**
   * Creates and overwrites metadata, all of it or nothing but for entries whose outcome says that they were left alone.
   * `maxGap` and `states` that an entry leaves out stay as they are, null clears them.
   */
  putTags(entries: readonly TagPut[], mode: PutMode, context: CallContext): Promise<readonly PutOutcome[]>
  /**
   * Removes points and answers how many of each range; with `dryRun` only counts. Overlapping ranges count a point
   * once, for the first.
   */
  deletePoints?(
    ranges: readonly TagRange[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]>
  /**
   * Removes tags with all their points and answers how many points each had. A missing tag: TAG_NOT_FOUND, nothing
   * removed.
   */
  deleteTags?(names: readonly string[], dryRun: boolean, context: CallContext): Promise<readonly number[]>
  /**
   * Renames tags, all or none: TAG_NOT_FOUND for a missing old name, TAG_EXISTS for a new name that is taken and not
   * itself renamed away.
   */
  renameTags?(renames: readonly TagRename[], dryRun: boolean, context: CallContext): Promise<void>
}

/** What a driver can do. Every field is required, so that no two places disagree about a default. */
export interface Capabilities {
  /** Whether points and metadata can be changed: the driver can, and the configuration allows it. */
  readonly write: boolean
  readonly deletePoints: boolean
  readonly deleteTags: boolean
  readonly renameTags: boolean
  /**
   * What an acknowledged write survives: `fsync` power loss here, `replicated` the loss of a machine, `server` what the
   * server says.
   */
  readonly durability: 'fsync' | 'replicated' | 'server'
  /** What becomes visible as a whole: the request, the points of one tag, or nothing in particular. */
  readonly atomicWrites: 'request' | 'tag' | 'none'
  /** Aggregates that `readAggregates` computes. */
  readonly aggregates: readonly AggregateName[]
  readonly interpolation: boolean
  readonly integrals: boolean
  readonly plots: boolean
  readonly gaps: boolean
  /**
   * Whether push-downs of the signal (interpolation, integrals, aggregates over it) heed its `maxGapUs`. Otherwise they
   * are called without one only, and the engine works such signals out from points.
   */
  readonly signalGaps: boolean
  /** Whether `readRanges` and `estimatePoints` take ranges with `compared`. */
  readonly comparisons: boolean
}

/** What every call carries. */
export interface CallContext {
  /** Aborted when the deadline has passed or the client went away; its reason is the TidemarkError to reject with. */
  readonly signal: AbortSignal
  /**
   * Takes a sentence about a read that is answered although it leaves something out, for `warnings` of the answer; the
   * same one more than once is one. Left out where nobody wants them. Most drivers have nothing to say.
   */
  readonly warn?: (sentence: string) => void
}

export interface TagMetadata extends OptionalMetadata {
  readonly description: string | null
  readonly units: string | null
  /** Held until the next point (true) or linear between points (false); true where there are `states`. */
  readonly stepped: boolean
}

/**
 * Metadata to be stored. `stepped` is stored as given, so that a tag whose `states` are cleared has it as it was put
 * last.
 */
export interface MetadataPut extends OptionalMetadataChange {
  readonly description: string | null
  readonly units: string | null
  readonly stepped: boolean
}

export interface TagEntry {
  readonly name: string
  readonly metadata: TagMetadata
}

export interface TagPut {
  readonly name: string
  readonly metadata: MetadataPut
}

export interface TagRename {
  readonly from: string
  readonly to: string
}

/** `create` makes missing tags, `update` changes existing ones, `upsert` does both. */
export type PutMode = 'create' | 'update' | 'upsert'
/**
 * For each entry: stored, or left alone because it exists (create), because it is missing (update), or because the
 * historian has no place for its name or texts, as the error says.
 */
export type PutOutcome = 'stored' | 'exists' | 'missing' | TidemarkError

export interface TagQuery {
  /** `null` for all tags. */
  readonly pattern: TagPattern | null
  /** Only names after this one, in name order; `null` from the start. */
  readonly after: string | null
  /** At least 1. */
  readonly limit: number
}

/**
 * A search pattern, matched against name and description without regard to case (src/historian/tag-pattern.ts).
 * A driver may use any of it to narrow its scan, and `matches` decides.
 */
export interface TagPattern {
  /** As it was written. */
  readonly text: string
  /**
   * Texts with `*` and `?`, each of which matches the whole name or the whole description of every tag that matches,
   * for a scan to be narrowed by.
   */
  readonly narrow: readonly string[]
  matches(name: string, description: string | null): boolean
}

export interface TagPage {
  readonly tags: readonly TagEntry[]
  /** Whether there are matching tags after these. */
  readonly more: boolean
}

/** `[from, to)`. */
export interface TagRange {
  readonly tag: string
  readonly from: Instant
  readonly to: Instant
}

/** A range whose points are counted: the points that `readRanges` gives for the same `compared`. */
export type CountedRange = ComparedRange

export interface PointQuery {
  readonly tag: string
  readonly find: FindPoint
  readonly at: Instant
}

/**
 * Points may be left out, and others put in between, as long as the signal of good points compares with each threshold
 * as it does with all points, at all times; BAD points may be left out only where they are between such. Only where
 * `capabilities.comparisons` says so, and ascending.
 */
interface ComparedRange extends TagRange {
  readonly compared?: Comparisons
}

/** Points of `[from, to)` in `order`, at most `limit` of them (at least 1). */
export interface RangeQuery extends ComparedRange {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Whether points may be left out that stored data are too damaged for: `missing` of the result says which. */
  readonly partial?: true
}

/** `holdUntil` is the call's `now` for aggregates of points in their order, too: the last one counts until there. */
export interface AggregateQuery extends SignalShape {
  readonly tag: string
  /** n + 1 ascending instants for n windows [edge, next edge). */
  readonly edges: Float64Array
  /** Not empty; only names of `capabilities.aggregates`. */
  readonly aggregates: readonly AggregateName[]
}

export interface InterpolationQuery extends SignalShape {
  readonly tag: string
  /** Ascending, distinct. Results are NaN where there is no value. */
  readonly times: Float64Array
}

/** Spans [start, end] that do not overlap, ascending. */
export interface IntegralQuery extends SignalShape {
  readonly tag: string
  readonly starts: Float64Array
  readonly ends: Float64Array
}

export interface GapsQuery extends GapSearch {
  readonly tag: string
}

export interface PlotQuery {
  readonly tag: string
  readonly stepped: boolean
  /**
   * Only where `signalGaps` is declared: with it there are breaks, too, between good points of the range that are
   * further apart: so much after the first where stepped, else a microsecond after it.
   */
  readonly maxGapUs?: number
  /** n + 1 ascending, distinct instants for n columns [edge, next edge). */
  readonly edges: Float64Array
}

/** Points of a batch that retention would have removed already. */
export interface TooOldPoints {
  /** Of all of them, at least 1. */
  readonly count: number
  /** Of the first of them, 1,000 at most, the index in the batch's columns, ascending. */
  readonly indexes: Uint32Array
  /** Of each of those the oldest time that its tag's points may have, in microseconds since 1970. */
  readonly oldest: Float64Array
}

/**
 * Points of many tags in one set of columns, so that a point for each of 10,000 tags costs three arrays and not 30,000.
 * write-batch.ts makes one and takes it apart.
 */
export interface WriteBatch {
  /**
   * A name may come more than once; its points then count as if they came one after the other. Never changed: a later
   * batch of the same tags may have the same array.
   */
  readonly tags: readonly string[]
  /**
   * One more than `tags`, ascending from 0: the points of `tags[i]` have the index from `offsets[i]` to before
   * `offsets[i + 1]`; may be none.
   */
  readonly offsets: Uint32Array
  /** Of each tag in any order, the same time more than once allowed: the last one wins. Values finite. */
  readonly points: PointColumns
  /**
   * Whether missing tags are made (no description, no units, not stepped). Otherwise a missing one is TAG_NOT_FOUND and
   * nothing is written.
   */
  readonly createTags: boolean
}
