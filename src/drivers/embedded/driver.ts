import type {
  AggregateQuery,
  BoundingValues,
  CallContext,
  Capabilities,
  GapsQuery,
  Historian,
  IntegralQuery,
  InterpolationQuery,
  PlotPoints,
  PlotQuery,
  PointQuery,
  PutMode,
  PutOutcome,
  RangeQuery,
  RangeResult,
  TagMetadata,
  TagPage,
  TagPut,
  TagQuery,
  TagRange,
  TagRename,
  TooOldPoints,
  WriteBatch,
} from '../../historian/contract.ts'
import { type DriverEnvironment, defineDriver, type HistorianOwner } from '../../historian/driver.ts'
import type { MaybePromise } from '../../historian/maybe-promise.ts'
import type { HistorianMeasures } from '../../historian/measures.ts'
import { tagMetadata } from '../../historian/tag-metadata.ts'
import { literalPrefix, narrowest } from '../../historian/tag-pattern.ts'
import { CooperativeScheduler } from '../../scheduling/cooperative-scheduler.ts'
import { mapEach } from '../../scheduling/each.ts'
import type { AggregateColumns } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { GapPage } from '../../series/gaps.ts'
import type { Integrals } from '../../series/reads.ts'
import { foldCase } from '../../series/tag-names.ts'
import { MAX_TEXT_UNITS, type TagRecord } from '../../storage/catalog/tag-record.ts'
import type { ArchiveSettings } from '../../storage/engine/archiving.ts'
import { unlinkAfter } from '../../storage/engine/engine-limits.ts'
import type { FileStore } from '../../storage/engine/file-store.ts'
import { openFileStore } from '../../storage/engine/open-file-store.ts'
import { STORED_AGGREGATES } from '../../storage/reads/signal-reads.ts'
import { type EmbeddedConfig, embeddedConfigSchema } from './config.ts'
import { readOnly, textTooLong } from './errors.ts'

/** The embedded historian: points in a folder of the data directory, no server needed. */
export const embedded = defineDriver({
  type: 'embedded',
  configSchema: embeddedConfigSchema,
  isLocal: true,
  ownFolder: ({ path }) => path ?? null,
  retention: ({ retention }) => retention,
  archiveFolder: ({ archive }) => archive ?? null,
  open: async (config, { name, directory, before, owner, ended, reached, deadlineSeconds, log }) => {
    const { writable, path, retention } = config
    const archive = archiveOf(config)
    return new EmbeddedHistorian(
      await openFileStore(path ?? directory, {
        historian: name,
        owner: writable && owner === undefined,
        create: owner === undefined,
        before: before ?? null,
        ...(owner !== undefined && { movedOn: (version: number) => owner.movedOn?.(version) }),
        retention: { rules: retention },
        log,
        ...(reached !== undefined && { reached }),
        ...(deadlineSeconds !== undefined && { limits: { unlinkAfterMs: unlinkAfter(deadlineSeconds) } }),
        ...(archive === null ? {} : { archive }),
      }),
      writable,
      owner ?? null,
      archive !== null || retention.length > 0,
      ended,
    )
  },
})

function archiveOf({
  archive,
  archiveSeconds,
  archiveKeepMegabytes,
}: EmbeddedConfig): ArchiveSettings | null {
  if (archive === undefined) return null
  return { folder: archive, everyMs: archiveSeconds * 1_000, keepBytes: archiveKeepMegabytes * 2 ** 20 }
}

/** The historian contract over src/storage: what is here only translates. */
export class EmbeddedHistorian implements Historian {
  readonly name: string
  readonly type = 'embedded'
  readonly capabilities: Capabilities
  readonly #store: FileStore
  readonly #owner: HistorianOwner | null
  readonly #isMeasuredByOwner: boolean
  readonly #ended: DriverEnvironment['ended']

  /**
   * @param owner              makes the changes when the store was opened to read; `null` otherwise
   * @param isMeasuredByOwner  whether there are measures that only its owner knows: of archive and retention
   */
  constructor(
    store: FileStore,
    writable: boolean,
    owner: HistorianOwner | null = null,
    isMeasuredByOwner = false,
    ended: DriverEnvironment['ended'] = undefined,
  ) {
    this.#ended = ended
    this.#isMeasuredByOwner = isMeasuredByOwner
    this.name = store.historian
    this.#store = store
    this.#owner = owner
    this.capabilities = {
      write: writable,
      deletePoints: writable,
      deleteTags: writable,
      renameTags: writable,
      durability: 'fsync',
      atomicWrites: 'request',
      aggregates: STORED_AGGREGATES,
      interpolation: true,
      integrals: true,
      plots: true,
      gaps: true,
      signalGaps: true,
      comparisons: true,
    }
  }

  get id(): string {
    return this.#store.identity.id
  }

  get token(): number {
    return this.#store.identity.token
  }

  async checkHealth({ signal }: CallContext): Promise<void> {
    await this.#store.checkHealth(signal)
    if (this.#owner !== null && this.capabilities.write) await this.#owner.change('checkHealth', [], signal)
  }

  async trouble({ signal }: CallContext): Promise<string | null> {
    if (this.#owner === null || !this.capabilities.write) return this.#store.trouble
    return (await this.#owner.change('trouble', [], signal)) as string | null
  }

  async measure({ signal }: CallContext): Promise<HistorianMeasures> {
    const measures = this.#store.measure()
    if (this.#owner === null || !this.#isMeasuredByOwner || !this.capabilities.write) return measures
    const ofOwner = (await this.#owner.change('measure', [], signal)) as HistorianMeasures | null
    return ofOwner === null
      ? measures
      : { ...measures, archiveLagSeconds: ofOwner.archiveLagSeconds, retention: ofOwner.retention }
  }

  readerAt(reader: number, version: number | null): void {
    this.#store.readerAt(reader, version)
  }

  async close(): Promise<void> {
    const { id, token } = this
    const lastSequence = await this.#store.close()
    if (lastSequence !== null) await this.#ended?.({ id, token, lastSequence })
  }

  findTags(names: readonly string[], { signal }: CallContext): MaybePromise<readonly (TagMetadata | null)[]> {
    const records = this.#store.findTags(names, signal)
    if (!(records instanceof Promise)) return records.map(metadataOfAny)
    return records.then((found) => mapEach(found, new CooperativeScheduler(signal), metadataOfAny))
  }

  hasTags(names: readonly string[], { signal }: CallContext): MaybePromise<Uint8Array> {
    return this.#store.hasTags(names, signal)
  }

  async searchTags({ pattern, after, limit }: TagQuery, { signal }: CallContext): Promise<TagPage> {
    const { tags, more } = await this.#store.searchTags(
      {
        matches: pattern === null ? null : (name, description) => pattern.matches(name, description),
        foldedPrefix: pattern === null ? '' : literalPrefix(narrowest(pattern)),
        ...(pattern === null ? {} : { foldedPattern: foldCase(narrowest(pattern)) }),
        after,
        limit,
      },
      signal,
    )
    return { tags: tags.map((record) => ({ name: record.name, metadata: metadataOf(record) })), more }
  }

  readPoints(queries: readonly PointQuery[], context: CallContext): MaybePromise<PointColumns> {
    const points = this.#store.readPoints(queries, context.signal)
    if (points instanceof Promise) return this.#warned(points, context)
    this.#warn(context)
    return points
  }

  readRanges(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]> {
    return this.#warned(this.#store.readRanges(queries, context.signal), context)
  }

  readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly BoundingValues[]> {
    return this.#warned(this.#store.readBoundingValues(tags, times, context.signal), context)
  }

  estimatePoints(
    ranges: readonly TagRange[],
    cap: number,
    { signal }: CallContext,
  ): Promise<readonly number[]> {
    return this.#store.countPoints(ranges, cap, signal)
  }

  readAggregates(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    return this.#warned(this.#store.readAggregates(queries, context.signal), context)
  }

  readInterpolated(
    queries: readonly InterpolationQuery[],
    context: CallContext,
  ): Promise<readonly Float64Array[]> {
    return this.#warned(this.#store.readInterpolated(queries, context.signal), context)
  }

  readIntegrals(queries: readonly IntegralQuery[], context: CallContext): Promise<readonly Integrals[]> {
    return this.#warned(this.#store.readIntegrals(queries, context.signal), context)
  }

  readPlots(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]> {
    return this.#warned(this.#store.readPlots(queries, context.signal), context)
  }

  readGaps(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]> {
    return this.#warned(this.#store.readGaps(queries, context.signal), context)
  }

  async write(batch: WriteBatch, { signal }: CallContext): Promise<TooOldPoints | null> {
    this.#checkWritable('write')
    if (this.#owner === null) return this.#store.write(batch, signal)
    return (await this.#owner.change('write', [batch], signal)) as TooOldPoints | null
  }

  async putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    { signal }: CallContext,
  ): Promise<readonly PutOutcome[]> {
    this.#checkWritable('change tags')
    const records = await mapEach(entries, new CooperativeScheduler(signal), ({ name, metadata }) => {
      const { description, units } = metadata
      if ((description?.length ?? 0) > MAX_TEXT_UNITS) throw textTooLong(this.name, name, 'description')
      if ((units?.length ?? 0) > MAX_TEXT_UNITS) throw textTooLong(this.name, name, 'units')
      return { name, ...metadata }
    })
    if (this.#owner === null) return this.#store.putTags(records, mode, signal)
    return (await this.#owner.change('putTags', [entries, mode], signal)) as readonly PutOutcome[]
  }

  async deletePoints(
    ranges: readonly TagRange[],
    dryRun: boolean,
    { signal }: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable('delete points')
    if (this.#owner === null) return this.#store.deletePoints(ranges, dryRun, signal)
    return (await this.#owner.change('deletePoints', [ranges, dryRun], signal)) as readonly number[]
  }

  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    { signal }: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable('delete tags')
    if (this.#owner === null) return this.#store.deleteTags(names, dryRun, signal)
    return (await this.#owner.change('deleteTags', [names, dryRun], signal)) as readonly number[]
  }

  async renameTags(renames: readonly TagRename[], dryRun: boolean, { signal }: CallContext): Promise<void> {
    this.#checkWritable('rename tags')
    if (this.#owner === null) await this.#store.renameTags(renames, dryRun, signal)
    else await this.#owner.change('renameTags', [renames, dryRun], signal)
  }

  async #warned<Result>(read: Promise<Result>, context: CallContext): Promise<Result> {
    const result = await read
    this.#warn(context)
    return result
  }

  /** After the read: what other processes wrote, and is damaged, is found by it. */
  #warn({ warn }: CallContext): void {
    const { leftOut } = this.#store
    if (leftOut !== null) warn?.(leftOut)
  }

  #checkWritable(operation: string): void {
    if (!this.capabilities.write) throw readOnly(this.name, operation)
  }
}

function metadataOfAny(record: TagRecord | null): TagMetadata | null {
  return record === null ? null : metadataOf(record)
}

function metadataOf(record: TagRecord): TagMetadata {
  return tagMetadata(record, record)
}
