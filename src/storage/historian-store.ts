import type { WriteBatch } from '../historian/contract.ts'
import type { MaybePromise } from '../historian/maybe-promise.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { PointColumns } from '../series/columns.ts'
import type { Integrals, Neighbours, RangeResult, SignalShape } from '../series/reads.ts'
import { BesideBlocks } from './beside-blocks.ts'
import { Damage } from './damage.ts'
import type { TroubleLog } from './fold-trouble.ts'
import type { FoldLimits } from './folder.ts'
import { checkHistorian, type HistorianCheck } from './historian-check.ts'
import type { HistorianParts } from './historian-parts.ts'
import type { LateOwnership } from './late-ownership.ts'
import { META } from './names.ts'
import {
  NO_NEEDS,
  needsOfSpans,
  needsOfTags,
  planPuts,
  planRenames,
  planSpanDeletes,
  planTagDeletes,
  type TagFields,
  type TagSpan,
} from './plan-changes.ts'
import { PointReader, type StoredPointQuery } from './point-reader.ts'
import { countPoints, readInterpolated, readNeighbours, readRange } from './point-reads.ts'
import { ReadSide } from './read-side.ts'
import { type Search, type SearchPage, searchTags } from './search.ts'
import { readAggregates, readIntegrals } from './signal-reads.ts'
import type { TagRecord } from './tag-record.ts'
import { WriteSide } from './write-side.ts'

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
  readonly #parts: HistorianParts
  readonly #reads: ReadSide
  readonly #points: PointReader
  readonly #writes: WriteSide

  /** Use `openHistorianStore`. */
  constructor(
    parts: HistorianParts,
    ownership: LateOwnership | null,
    fold: FoldLimits,
    log: TroubleLog | null,
  ) {
    this.historian = parts.historian
    this.#parts = parts
    this.#reads = new ReadSide(parts)
    this.#points = new PointReader(parts, this.#reads)
    this.#writes = new WriteSide(parts, this.#reads, ownership, fold, log)
  }

  /** Finishes all changes that were asked for and frees everything. Nothing is called afterwards. */
  async close(): Promise<void> {
    await this.#writes.close()
    await this.#parts.root.close()
  }

  /** What somebody should look at although reads are answered; `null` for nothing. */
  get trouble(): string | null {
    return this.#writes.trouble
  }

  /** Rejects when the environment cannot be read, was taken over by another owner, or takes no more points. */
  async checkHealth(signal: AbortSignal): Promise<void> {
    await this.#reads.read(signal, () => {
      if (this.#parts.stores.meta.get(META.format) === undefined) throw new Damage('the format is missing')
      if (this.#reads.damage !== null) throw this.#reads.damage
      this.#writes.check()
    })
  }

  /** Verifies every block, record and index entry of the newest state. */
  check(signal: AbortSignal): Promise<HistorianCheck> {
    return this.#reads.read(signal, async (snapshot) => {
      const beside = new BesideBlocks(this.#parts, snapshot)
      const check = await checkHistorian(this.#parts.stores, snapshot)
      return { ...check, points: check.points + (await beside.count()) }
    })
  }

  // ---- tags ----

  /** Each named tag, `null` for one that does not exist. */
  findTags(names: readonly string[], signal: AbortSignal): MaybePromise<readonly (TagRecord | null)[]> {
    const { catalog } = this.#parts
    const found: (TagRecord | null)[] = []
    return this.#reads.readEach(signal, names.length, found, (i, snapshot, version) => {
      found.push(catalog.find(names[i]!, snapshot.options, version))
    })
  }

  searchTags(search: Search, signal: AbortSignal): Promise<SearchPage> {
    return this.#reads.read(signal, (snapshot) => searchTags(this.#parts.catalog, search, snapshot))
  }

  // ---- points ----

  /** One raw point for each query; its time is NaN where there is none. */
  readPoints(queries: readonly StoredPointQuery[], signal: AbortSignal): MaybePromise<PointColumns> {
    return this.#points.readPoints(queries, signal)
  }

  /** The first `limit` points of each range in its order. */
  readRanges(
    queries: readonly (TagSpan & { readonly order: 'asc' | 'desc'; readonly limit: number })[],
    signal: AbortSignal,
  ): Promise<readonly RangeResult[]> {
    return this.#points.readTags(queries, signal, (blocks, query, snapshot) =>
      readRange(blocks, query, snapshot),
    )
  }

  /** Per tag and time the last good point at or before and the first good one at or after it. */
  readNeighbours(
    tags: readonly string[],
    times: Float64Array,
    signal: AbortSignal,
  ): Promise<readonly Neighbours[]> {
    const queries = tags.map((tag) => ({ tag }))
    return this.#points.readTags(queries, signal, (blocks, _query, snapshot) =>
      readNeighbours(blocks, times, snapshot),
    )
  }

  /** Number of points of each range; counting stops at `cap` or above. */
  countPoints(ranges: readonly TagSpan[], cap: number, signal: AbortSignal): Promise<readonly number[]> {
    return this.#points.readTags(ranges, signal, (blocks, { from, to }, snapshot) =>
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
    return this.#points.readTags(queries, signal, (blocks, query, snapshot) =>
      readAggregates(blocks, query.edges, query.aggregates, query, snapshot),
    )
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

  // ---- changes ----

  /** Stores points, all or none. TAG_NOT_FOUND for a missing tag unless tags are made. */
  async write(write: WriteBatch, signal: AbortSignal): Promise<void> {
    await this.#writes.writer.write(write, signal)
  }

  /** Moves all points of the journal into blocks, which otherwise happens by and by. */
  async fold(): Promise<void> {
    await this.#writes.writer.fold()
  }

  /** Makes and overwrites metadata; tells for each entry whether it was stored, or exists, or is missing. */
  async putTags(
    entries: readonly TagFields[],
    mode: 'create' | 'update' | 'upsert',
    signal: AbortSignal,
  ): Promise<readonly ('stored' | 'exists' | 'missing')[]> {
    return this.#writes.writer.change(signal, NO_NEEDS, (draft) => planPuts(draft, entries, mode))
  }

  /** Removes points and tells how many of each range; one in several ranges counts for the first. */
  async deletePoints(
    ranges: readonly TagSpan[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    return this.#writes.writer.change(signal, needsOfSpans(this.#parts, ranges), (draft) =>
      planSpanDeletes(draft, this.#parts, ranges, dryRun),
    )
  }

  /** Removes tags with their points and tells how many points each had. TAG_NOT_FOUND for a missing one. */
  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    return this.#writes.writer.change(signal, needsOfTags(this.#parts, names), (draft) =>
      planTagDeletes(draft, this.#parts, names, dryRun),
    )
  }

  /** Renames tags, all or none. TAG_NOT_FOUND for a missing one, TAG_EXISTS for a name that stays or becomes another's. */
  async renameTags(
    renames: readonly { readonly from: string; readonly to: string }[],
    dryRun: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#writes.writer.change(signal, NO_NEEDS, (draft) =>
      planRenames(draft, this.#parts, renames, dryRun),
    )
  }
}
