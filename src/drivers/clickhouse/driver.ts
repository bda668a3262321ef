import { TidemarkError } from '../../errors/tidemark-error.ts'
import type {
  AggregateQuery,
  BoundingValues,
  CallContext,
  Capabilities,
  CountedRange,
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
  WriteBatch,
} from '../../historian/contract.ts'
import type { DriverEnvironment, DriverLog } from '../../historian/driver.ts'
import { makeChange, type RemoteChange } from '../../historian/remote/change.ts'
import { withTimeLimit } from '../../historian/remote/time-limit.ts'
import { unavailable } from '../../historian/remote/unavailable.ts'
import { CooperativeScheduler } from '../../scheduling/cooperative-scheduler.ts'
import type { AggregateColumns } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { GapPage } from '../../series/gaps.ts'
import { interpolate } from '../../series/interpolate.ts'
import type { Integrals } from '../../series/reads.ts'
import { instantFromUs } from '../../time/instant.ts'
import { BoundingReads } from './bounding-reads.ts'
import { ComparedReads } from './compared-reads.ts'
import type { ClickhouseConfig } from './config.ts'
import { Deletions } from './deletions.ts'
import { isOutdated, readOnly } from './errors.ts'
import { GapReads } from './gap-reads.ts'
import { PlotReads } from './plot-reads.ts'
import { PointTable } from './point-table.ts'
import { PointWriter } from './point-writer.ts'
import { RangeReads } from './range-reads.ts'
import { sameWindows } from './same-windows.ts'
import { SegmentReads } from './segment-reads.ts'
import type { QuerySettings } from './server-settings.ts'
import { Servers } from './servers.ts'
import { SERVER_AGGREGATES, SignalReads } from './signal-reads.ts'
import { Tables } from './tables.ts'
import { TagTable } from './tag-table.ts'
import { VersionClock } from './version-clock.ts'
import { OtherProcesses } from './version-marks.ts'

/** All times that a point can have. */
const EVER = { from: instantFromUs(-9e15), to: instantFromUs(9e15) }

/** The historian contract; what is here checks, measures out and hands on. */
export class ClickhouseHistorian implements Historian {
  readonly name: string
  readonly type = 'clickhouse'
  readonly capabilities: Capabilities
  readonly #log: DriverLog
  readonly #timeoutSeconds: number
  readonly #servers: Servers
  readonly #tables: Tables
  readonly #tags: TagTable
  readonly #ranges: RangeReads
  readonly #compared: ComparedReads
  readonly #boundingValues: BoundingReads
  readonly #signals: SignalReads
  readonly #plots: PlotReads
  readonly #gaps: GapReads
  readonly #writer: PointWriter
  readonly #deletions: Deletions
  #lastSilent = ''

  /** @param clock of this process; another one is given by tests */
  constructor(
    config: ClickhouseConfig,
    { name, log, meter }: DriverEnvironment,
    clock: VersionClock = new VersionClock(),
  ) {
    this.name = name
    this.#log = log
    this.capabilities = capabilitiesOf(config)
    const settings = insertSettings(config)
    this.#servers = new Servers(name, config, meter)
    this.#tables = new Tables(name, config, this.#servers, log)
    const { timeoutSeconds } = config
    this.#timeoutSeconds = timeoutSeconds
    // Tags are never partitioned.
    const isWhole = config.cluster === undefined
    const tagInserts = { settings, isWhole, hasPartitions: false, timeoutSeconds }
    const others = new OtherProcesses(this.#servers, this.#tables, clock)
    this.#tags = new TagTable(name, this.#servers, this.#tables, others, clock, tagInserts)
    const points = new PointTable(this.#servers, this.#tables, config.cluster === undefined)
    this.#ranges = new RangeReads(points)
    this.#boundingValues = new BoundingReads(points)
    const segments = new SegmentReads(points)
    this.#compared = new ComparedReads(points, segments, this.#ranges)
    this.#signals = new SignalReads(segments, this.#ranges, this.#boundingValues)
    this.#plots = new PlotReads(segments)
    this.#gaps = new GapReads(segments)
    const hasPartitions = config.partitionBy !== 'none'
    this.#writer = new PointWriter(name, this.#servers, this.#tables, clock, {
      settings,
      isWhole: isWhole && !hasPartitions,
      hasPartitions,
      timeoutSeconds,
    })
    this.#deletions = new Deletions(points, others, clock, settings)
  }

  /** Rejects while what is stored cannot be read; servers that are silent while others answer go to the log. */
  async checkHealth(context: CallContext): Promise<void> {
    context.signal.throwIfAborted()
    const states = await this.#servers.probe(context)
    const silent = states.filter(({ reason }) => reason !== null)
    const named = silent.map(({ host, reason }) => `${host}: ${reason}`).join('; ')
    if (silent.length === states.length) throw unavailable(this.name, `no server of it answers (${named})`)
    if (named !== this.#lastSilent) {
      this.#lastSilent = named
      if (named === '')
        this.#log.info({ historian: this.name }, 'all servers of a ClickHouse historian answer')
      else
        this.#log.warn(
          { historian: this.name, silent: named },
          'some servers of a ClickHouse historian do not answer',
        )
    }
    try {
      // Every shard is asked.
      await this.#read(context, (limited) => this.#tags.find([''], limited))
    } catch (error) {
      if (named === '' || !(error instanceof TidemarkError)) throw error
      throw unavailable(
        this.name,
        `${error.message.replace(/^.*could not be reached: /, '')} (${named})`,
        error.cause,
      )
    }
  }

  async close(): Promise<void> {
    await this.#tags.close()
    await this.#writer.close()
    await this.#servers.close()
  }

  findTags(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    return this.#read(context, (limited) => this.#tags.find(names, limited))
  }

  searchTags(query: TagQuery, context: CallContext): Promise<TagPage> {
    return this.#read(context, (limited) => this.#tags.search(query, limited))
  }

  readPoints(queries: readonly PointQuery[], context: CallContext): Promise<PointColumns> {
    return this.#read(context, (limited) => this.#boundingValues.points(queries, limited))
  }

  readRanges(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]> {
    return this.#read(context, (limited) => this.#compared.read(queries, limited))
  }

  readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly BoundingValues[]> {
    return this.#read(context, (limited) => this.#boundingValues.boundingValues(tags, times, limited))
  }

  estimatePoints(
    ranges: readonly CountedRange[],
    _cap: number,
    context: CallContext,
  ): Promise<readonly number[]> {
    return this.#read(context, (limited) => this.#compared.count(ranges, limited))
  }

  readAggregates(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    return this.#read(context, (limited) => this.#signals.aggregates(queries, limited))
  }

  /** One look for the bounding values of all tags with the same times. */
  async readInterpolated(
    queries: readonly InterpolationQuery[],
    context: CallContext,
  ): Promise<readonly Float64Array[]> {
    const found: Float64Array[] = []
    await this.#read(context, async (limited) => {
      for (const members of sameWindows(queries, ({ times }) => times)) {
        const { times } = queries[members[0]!]!
        const tags = members.map((index) => queries[index]!.tag)
        const boundingValues = await this.#boundingValues.boundingValues(tags, times, limited)
        members.forEach((index, i) => {
          found[index] = interpolate(boundingValues[i]!, times, queries[index]!)
        })
      }
    })
    return found
  }

  readIntegrals(queries: readonly IntegralQuery[], context: CallContext): Promise<readonly Integrals[]> {
    return this.#read(context, (limited) => this.#signals.integrals(queries, limited))
  }

  readPlots(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]> {
    return this.#read(context, (limited) => this.#plots.read(queries, limited))
  }

  readGaps(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]> {
    return this.#read(context, (limited) => this.#gaps.read(queries, limited))
  }

  async write(batch: WriteBatch, context: CallContext): Promise<void> {
    this.#checkWritable('write')
    await this.#change(context, async (change) => {
      await this.#tags.ensure(batch.tags, batch.createTags, change)
      await this.#writer.write(batch, change)
    })
  }

  async putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    context: CallContext,
  ): Promise<readonly PutOutcome[]> {
    this.#checkWritable('change tags')
    return this.#change(context, (change) => this.#tags.put(entries, mode, change))
  }

  async deletePoints(
    ranges: readonly TagRange[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable('delete points')
    return this.#change(context, (change) =>
      this.#writer.alone(() => this.#deletions.delete(ranges, dryRun, change)),
    )
  }

  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable('delete tags')
    return this.#change(context, async (change) => {
      await this.#tags.checkExist(names, change)
      // Points before tags: whatever fails in between leaves a tag that can be deleted again.
      const ranges = names.map((tag) => ({ tag, ...EVER }))
      const counts = await this.#writer.alone(() => this.#deletions.delete(ranges, dryRun, change))
      if (!dryRun) await this.#tags.delete(names, change)
      return counts
    })
  }

  #read<Result>(context: CallContext, call: (limited: CallContext) => Promise<Result>): Promise<Result> {
    return withTimeLimit(this.name, this.#timeoutSeconds, context, (limited) => this.#run(limited, call))
  }

  #change<Result>({ signal }: CallContext, call: (change: RemoteChange) => Promise<Result>): Promise<Result> {
    const options = { historian: this.name, seconds: this.#timeoutSeconds, signal }
    return makeChange(options, (change) => this.#run(change, call))
  }

  /** Runs a call once the tables are there; after a table was not there they are looked at anew. */
  async #run<Context extends CallContext, Result>(
    context: Context,
    call: (context: Context) => Promise<Result>,
  ): Promise<Result> {
    context.signal.throwIfAborted()
    try {
      await this.#tables.ready(context)
      await new CooperativeScheduler(context.signal).yieldIfDue()
      return await call(context)
    } catch (error) {
      if (isOutdated(error)) this.#tables.forget()
      throw error
    }
  }

  #checkWritable(operation: string): void {
    if (!this.capabilities.write) throw readOnly(this.name, operation)
  }
}

function capabilitiesOf({ writable, cluster, writeQuorum, partitionBy }: ClickhouseConfig): Capabilities {
  return {
    write: writable,
    deletePoints: writable,
    deleteTags: writable,
    // It would take all points of the tag to be written anew, and a failure amid them would leave both.
    renameTags: false,
    durability: cluster !== undefined && writeQuorum > 1 ? 'replicated' : 'server',
    // A tag lives on one shard, and what one insert brings to a partition of it appears at once.
    atomicWrites: partitionBy === 'none' ? 'tag' : 'none',
    aggregates: SERVER_AGGREGATES,
    interpolation: true,
    integrals: true,
    plots: true,
    gaps: true,
    signalGaps: true,
    comparisons: true,
  }
}

function insertSettings({ cluster, writeQuorum, queryTimeoutSeconds }: ClickhouseConfig): QuerySettings {
  const settings = {
    // Each insert is stored before it is acknowledged, and as the one block that it was sent as.
    async_insert: 0,
    // Equal rows are one point in any case. The server's own memory of blocks would take a block for stored that it
    // dropped again when its quorum failed.
    insert_deduplicate: 0,
    deduplicate_insert: 'disable',
    deduplicate_insert_select: 'disable',
  }
  if (cluster === undefined) return settings
  return {
    ...settings,
    // Acknowledged when the shards have it, not when the server that was asked will pass it on.
    distributed_foreground_insert: 1,
    ...(writeQuorum > 1 && {
      insert_quorum: writeQuorum,
      insert_quorum_timeout: Math.ceil(Math.min(queryTimeoutSeconds, QUORUM_SECONDS) * 1_000),
    }),
  }
}

/** How long a server waits for the other replicas. */
const QUORUM_SECONDS = 10
