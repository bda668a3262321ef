import type {
  AggregateQuery,
  CallContext,
  Capabilities,
  Historian,
  IntegralQuery,
  InterpolationQuery,
  Neighbours,
  PointQuery,
  PutMode,
  PutOutcome,
  RangeQuery,
  RangeResult,
  TagEntry,
  TagMetadata,
  TagPage,
  TagQuery,
  TagRange,
  TagRename,
  WriteBatch,
} from '../../historian/contract.ts'
import { defineDriver, type HistorianOwner } from '../../historian/driver.ts'
import type { MaybePromise } from '../../historian/maybe-promise.ts'
import { literalPrefix } from '../../historian/tag-pattern.ts'
import type { AggregateColumns } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { Integrals } from '../../series/reads.ts'
import type { HistorianStore } from '../../storage/historian-store.ts'
import { openHistorianStore } from '../../storage/open-historian.ts'
import { STORED_AGGREGATES } from '../../storage/signal-reads.ts'
import { MAX_TEXT_UNITS, type TagRecord } from '../../storage/tag-record.ts'
import { embeddedConfigSchema } from './config.ts'
import { readOnly, textTooLong } from './errors.ts'

/** The embedded historian: points in a folder of the data directory, no server needed. */
export const embedded = defineDriver({
  type: 'embedded',
  configSchema: embeddedConfigSchema,
  isLocal: true,
  ownFolder: ({ path }) => path ?? null,
  open: async ({ writable, path }, { name, directory, owner, log }) =>
    new EmbeddedHistorian(
      await openHistorianStore(path ?? directory, {
        historian: name,
        owner: writable && owner === undefined,
        log,
      }),
      writable,
      owner ?? null,
    ),
})

/** The historian contract over src/storage: what is here only translates. */
export class EmbeddedHistorian implements Historian {
  readonly name: string
  readonly type = 'embedded'
  readonly capabilities: Capabilities
  readonly #store: HistorianStore
  readonly #owner: HistorianOwner | null

  /** @param owner  makes the changes when the store was opened to read; `null` otherwise */
  constructor(store: HistorianStore, writable: boolean, owner: HistorianOwner | null = null) {
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
    }
  }

  async checkHealth({ signal }: CallContext): Promise<void> {
    await this.#store.checkHealth(signal)
    if (this.#owner !== null && this.capabilities.write) await this.#owner.change('checkHealth', [], signal)
  }

  async trouble({ signal }: CallContext): Promise<string | null> {
    if (this.#owner === null || !this.capabilities.write) return this.#store.trouble
    return (await this.#owner.change('trouble', [], signal)) as string | null
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  findTags(names: readonly string[], { signal }: CallContext): MaybePromise<readonly (TagMetadata | null)[]> {
    const records = this.#store.findTags(names, signal)
    return records instanceof Promise ? records.then(metadataOfAll) : metadataOfAll(records)
  }

  async searchTags({ pattern, after, limit }: TagQuery, { signal }: CallContext): Promise<TagPage> {
    const { tags, more } = await this.#store.searchTags(
      {
        matches: pattern === null ? null : (name, description) => pattern.matches(name, description),
        foldedPrefix: pattern === null ? '' : literalPrefix(pattern.text),
        after,
        limit,
      },
      signal,
    )
    return { tags: tags.map((record) => ({ name: record.name, metadata: metadataOf(record) })), more }
  }

  readPoints(queries: readonly PointQuery[], { signal }: CallContext): MaybePromise<PointColumns> {
    return this.#store.readPoints(queries, signal)
  }

  readRanges(queries: readonly RangeQuery[], { signal }: CallContext): Promise<readonly RangeResult[]> {
    return this.#store.readRanges(queries, signal)
  }

  readNeighbours(
    tags: readonly string[],
    times: Float64Array,
    { signal }: CallContext,
  ): Promise<readonly Neighbours[]> {
    return this.#store.readNeighbours(tags, times, signal)
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
    { signal }: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    return this.#store.readAggregates(queries, signal)
  }

  readInterpolated(
    queries: readonly InterpolationQuery[],
    { signal }: CallContext,
  ): Promise<readonly Float64Array[]> {
    return this.#store.readInterpolated(queries, signal)
  }

  readIntegrals(queries: readonly IntegralQuery[], { signal }: CallContext): Promise<readonly Integrals[]> {
    return this.#store.readIntegrals(queries, signal)
  }

  async write(batch: WriteBatch, { signal }: CallContext): Promise<void> {
    this.#checkWritable('write')
    if (this.#owner === null) await this.#store.write(batch, signal)
    else await this.#owner.change('write', [batch], signal)
  }

  async putTags(
    entries: readonly TagEntry[],
    mode: PutMode,
    { signal }: CallContext,
  ): Promise<readonly PutOutcome[]> {
    this.#checkWritable('change tags')
    const records = entries.map(({ name, metadata: { description, units, stepped } }) => {
      if ((description?.length ?? 0) > MAX_TEXT_UNITS) throw textTooLong(this.name, name, 'description')
      if ((units?.length ?? 0) > MAX_TEXT_UNITS) throw textTooLong(this.name, name, 'units')
      return { name, description, units, stepped }
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

  #checkWritable(operation: string): void {
    if (!this.capabilities.write) throw readOnly(this.name, operation)
  }
}

function metadataOfAll(records: readonly (TagRecord | null)[]): readonly (TagMetadata | null)[] {
  return records.map((record) => (record === null ? null : metadataOf(record)))
}

function metadataOf({ description, units, stepped }: TagRecord): TagMetadata {
  return { description, units, stepped }
}
