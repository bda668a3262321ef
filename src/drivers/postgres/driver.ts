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
  WriteBatch,
} from '../../historian/contract.ts'
import type { DriverEnvironment } from '../../historian/driver.ts'
import type { AggregateColumns } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { GapPage } from '../../series/gaps.ts'
import type { Integrals } from '../../series/reads.ts'
import { readAggregates, SERVER_AGGREGATES } from './aggregates.ts'
import type { PostgresConfig } from './config.ts'
import { readOnly } from './errors.ts'
import { openExisting } from './existing/layout.ts'
import { readGaps } from './gaps.ts'
import { readIntegrals } from './integrals.ts'
import type { Layout } from './layout.ts'
import type { ManagedChanges } from './managed/changes.ts'
import { openManaged } from './managed/open.ts'
import { readPlots } from './plots.ts'
import { countPoints, readBoundingValues, readInterpolated, readPoints } from './point-reads.ts'
import { readRanges } from './ranges.ts'
import { Server } from './server.ts'

/** Opens one with tables of its own, or over some that are there already. Connects to nothing yet. */
export function openPostgres(
  config: PostgresConfig,
  { name, log, meter }: DriverEnvironment,
): PostgresHistorian {
  const { existing, writable } = config
  const server = new Server({
    historian: name,
    config,
    readOnly: existing !== undefined || !writable,
    meter,
    log,
  })
  const layout =
    existing === undefined ? openManaged(server, config, name) : openExisting(server, existing, name)
  return new PostgresHistorian(name, server, layout)
}

/** The historian contract over SQL: a facade, each method calls the module that does it. */
export class PostgresHistorian implements Historian {
  readonly name: string
  readonly type = 'postgres'
  readonly capabilities: Capabilities
  readonly #server: Server
  readonly #layout: Layout

  constructor(name: string, server: Server, layout: Layout) {
    this.name = name
    this.#server = server
    this.#layout = layout
    const write = layout.changes !== null
    this.capabilities = {
      write,
      deletePoints: write,
      deleteTags: write,
      renameTags: write,
      durability: 'fsync',
      atomicWrites: 'request',
      aggregates: SERVER_AGGREGATES,
      interpolation: true,
      integrals: true,
      plots: true,
      gaps: true,
      signalGaps: true,
      comparisons: false,
    }
  }

  checkHealth(context: CallContext): Promise<void> {
    return this.#layout.check(context)
  }

  trouble(context: CallContext): Promise<string | null> {
    return this.#layout.trouble(context)
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  async findTags(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    await this.#layout.ready(context)
    return this.#server.read('metadata', context, (session) => this.#layout.findTags(session, names))
  }

  async searchTags(query: TagQuery, context: CallContext): Promise<TagPage> {
    await this.#layout.ready(context)
    return this.#server.read('search', context, (session) => this.#layout.searchTags(session, query))
  }

  async readPoints(queries: readonly PointQuery[], context: CallContext): Promise<PointColumns> {
    return readPoints(this.#server, await this.#layout.ready(context), queries, context)
  }

  async readRanges(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]> {
    return readRanges(this.#server, await this.#layout.ready(context), queries, context)
  }

  async readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly BoundingValues[]> {
    const queries = tags.map((tag) => ({ tag, times, use: 'both' as const }))
    return readBoundingValues(this.#server, await this.#layout.ready(context), queries, context)
  }

  async estimatePoints(
    ranges: readonly TagRange[],
    cap: number,
    context: CallContext,
  ): Promise<readonly number[]> {
    return countPoints(this.#server, await this.#layout.ready(context), ranges, cap, context)
  }

  async readAggregates(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    return readAggregates(this.#server, await this.#layout.ready(context), queries, context)
  }

  async readInterpolated(
    queries: readonly InterpolationQuery[],
    context: CallContext,
  ): Promise<readonly Float64Array[]> {
    return readInterpolated(this.#server, await this.#layout.ready(context), queries, context)
  }

  async readIntegrals(
    queries: readonly IntegralQuery[],
    context: CallContext,
  ): Promise<readonly Integrals[]> {
    return readIntegrals(this.#server, await this.#layout.ready(context), queries, context)
  }

  async readPlots(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]> {
    return readPlots(this.#server, await this.#layout.ready(context), queries, context)
  }

  async readGaps(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]> {
    return readGaps(this.#server, await this.#layout.ready(context), queries, context)
  }

  async write(batch: WriteBatch, context: CallContext): Promise<void> {
    const changes = await this.#changes('write', context)
    await changes.write(batch, context)
  }

  async putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    context: CallContext,
  ): Promise<readonly PutOutcome[]> {
    const changes = await this.#changes('change tags', context)
    return changes.putTags(entries, mode, context)
  }

  async deletePoints(
    ranges: readonly TagRange[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    const changes = await this.#changes('delete points', context)
    return changes.deletePoints(ranges, dryRun, context)
  }

  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    const changes = await this.#changes('delete tags', context)
    return changes.deleteTags(names, dryRun, context)
  }

  async renameTags(renames: readonly TagRename[], dryRun: boolean, context: CallContext): Promise<void> {
    const changes = await this.#changes('rename tags', context)
    await changes.renameTags(renames, dryRun, context)
  }

  async #changes(operation: string, context: CallContext): Promise<ManagedChanges> {
    const { changes } = this.#layout
    if (changes === null) throw readOnly(this.name, operation)
    await this.#layout.ready(context)
    return changes
  }
}
