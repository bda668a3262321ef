import type {
  AggregateQuery,
  BoundingValues,
  CallContext,
  Capabilities,
  Historian,
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
  WriteBatch,
} from '../../historian/contract.ts'
import type { DriverEnvironment } from '../../historian/driver.ts'
import { withTimeLimit } from '../../historian/remote/time-limit.ts'
import type { AggregateColumns } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import { PUSHED_AGGREGATES, readAggregates } from './aggregate-reads.ts'
import { readBoundingValues } from './bounding-reads.ts'
import { InfluxClient } from './client.ts'
import type { InfluxConfig, MetadataSettings } from './config.ts'
import { deletePoints, deleteTags } from './deletes.ts'
import { notSupported } from './errors.ts'
import { countPoints } from './estimates.ts'
import { Layout, seriesProblem } from './layout.ts'
import { FileMetadata, MeasurementMetadata } from './mapped-metadata.ts'
import { OwnTags } from './own-tags.ts'
import { readPoints, readRanges } from './point-reads.ts'
import { PointStatus } from './point-status.ts'
import type { ScanSource } from './scan.ts'
import { SeriesTags } from './series-tags.ts'
import { fromClause } from './statements.ts'
import type { TagSource } from './tag-list.ts'
import { Tags } from './tags.ts'
import { Writer, type WriteTarget } from './writes.ts'

/** What a writable historian has besides. */
interface Changes {
  readonly writer: Writer
  readonly target: WriteTarget
}

/** The historian contract over InfluxQL and line protocol: what is here only puts the parts together. */
export class InfluxHistorian implements Historian {
  readonly name: string
  readonly type = 'influxdb'
  readonly capabilities: Capabilities
  /** Counts its statements, for tests and benchmarks. */
  readonly client: InfluxClient
  readonly #layout: Layout
  readonly #source: ScanSource
  readonly #tags: Tags
  readonly #timeoutSeconds: number
  readonly #changes: Changes | null

  constructor(config: InfluxConfig, { name, meter }: Pick<DriverEnvironment, 'name' | 'meter'>) {
    const { writable, retentionPolicy } = config
    this.name = name
    this.#timeoutSeconds = config.timeoutSeconds
    this.client = new InfluxClient(config, name, meter)
    const layout = new Layout(config)
    const status = new PointStatus(config)
    this.#layout = layout
    this.#source = { client: this.client, status, retentionPolicy }
    const own = ownTags(config, this.client)
    const kept = { measurement: own?.measurement ?? null, statusField: status.field }
    this.#tags = new Tags(
      {
        own,
        series: config.existing
          ? new SeriesTags(this.client, layout, {
              retentionPolicy,
              measurement: config.measurement,
              notTags: layout.namesField ? [config.statusField] : [],
              ownMeasurement: own?.measurement ?? null,
            })
          : null,
        metadata: metadataSource(config.metadata, this.client, retentionPolicy, name),
        isPossible: (tag) => {
          const series = layout.parse(tag)
          return series !== null && seriesProblem(series, kept) === null
        },
      },
      config.catalogSeconds,
    )
    if (writable && own !== null) {
      const target = {
        historian: name,
        client: this.client,
        layout,
        status,
        retentionPolicy,
        own,
        tags: this.#tags,
      }
      this.#changes = { target, writer: new Writer(target) }
    } else this.#changes = null
    // InfluxDB deletes whole points: with several fields in one, that would be points of other tags.
    const deletes = writable && !layout.namesField
    this.capabilities = {
      write: writable,
      deletePoints: deletes,
      deleteTags: deletes,
      renameTags: false,
      durability: 'server',
      atomicWrites: 'none',
      aggregates: PUSHED_AGGREGATES,
      interpolation: false,
      integrals: false,
      plots: false,
      gaps: false,
      signalGaps: false,
      comparisons: false,
    }
  }

  checkHealth(context: CallContext): Promise<void> {
    // Nothing to look through, but answered only by a server that knows database, retention policy and user.
    const nothing = `SELECT "value" ${fromClause('tidemark', this.#source.retentionPolicy)} WHERE time = 0 LIMIT 1`
    return this.#limited(context, (limited) => this.client.query('health', [{ text: nothing }], limited))
  }

  close(): Promise<void> {
    return this.client.close()
  }

  findTags(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    return this.#limited(context, (limited) => this.#tags.find(names, limited))
  }

  searchTags(query: TagQuery, context: CallContext): Promise<TagPage> {
    return this.#limited(context, (limited) => this.#tags.search(query, limited))
  }

  readPoints(queries: readonly PointQuery[], context: CallContext): Promise<PointColumns> {
    return this.#limited(context, (limited) => readPoints(this.#source, this.#layout, queries, limited))
  }

  readRanges(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]> {
    return this.#limited(context, (limited) => readRanges(this.#source, this.#layout, queries, limited))
  }

  readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly BoundingValues[]> {
    return this.#limited(context, (limited) =>
      readBoundingValues(this.#source, this.#layout, tags, times, limited),
    )
  }

  estimatePoints(ranges: readonly TagRange[], cap: number, context: CallContext): Promise<readonly number[]> {
    return this.#limited(context, (limited) => countPoints(this.#source, this.#layout, ranges, cap, limited))
  }

  readAggregates(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    return this.#limited(context, (limited) => readAggregates(this.#source, this.#layout, queries, limited))
  }

  async write(batch: WriteBatch, context: CallContext): Promise<void> {
    const { writer } = this.#changeable('write')
    await writer.write(batch, context)
  }

  async putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    context: CallContext,
  ): Promise<readonly PutOutcome[]> {
    const { writer } = this.#changeable('change tags')
    return writer.putTags(entries, mode, context)
  }

  async deletePoints(
    ranges: readonly TagRange[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    const { target } = this.#changeable('delete points', this.capabilities.deletePoints)
    return deletePoints(this.#source, target, ranges, dryRun, context)
  }

  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    const { target, writer } = this.#changeable('delete tags', this.capabilities.deleteTags)
    if (!dryRun) writer.doubt(names)
    const counts = await deleteTags(this.#source, target, names, dryRun, context)
    if (!dryRun) writer.forget(names)
    return counts
  }

  #changeable(operation: string, isAllowed = true): Changes {
    if (this.#changes === null || !isAllowed) throw notSupported(this.name, operation)
    return this.#changes
  }

  #limited<Result>(context: CallContext, work: (context: CallContext) => Promise<Result>): Promise<Result> {
    return withTimeLimit(this.name, this.#timeoutSeconds, context, work)
  }
}

function ownTags({ metadata, retentionPolicy }: InfluxConfig, client: InfluxClient): OwnTags | null {
  if (metadata.kind !== 'own') return null
  return new OwnTags(client, metadata.measurement, metadata.retentionPolicy ?? retentionPolicy)
}

function metadataSource(
  settings: MetadataSettings,
  client: InfluxClient,
  retentionPolicy: string | undefined,
  historian: string,
): TagSource | null {
  switch (settings.kind) {
    case 'own':
    case 'none':
      return null
    case 'measurement':
      return new MeasurementMetadata(client, settings, retentionPolicy)
    case 'file':
      return new FileMetadata(settings.path, historian)
  }
}
