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
  TagRename,
  WriteBatch,
} from '../../historian/contract.ts'
import type { DriverEnvironment } from '../../historian/driver.ts'
import { makeChange } from '../../historian/remote/change.ts'
import { withTimeLimit } from '../../historian/remote/time-limit.ts'
import type { AggregateColumns } from '../../series/aggregate-names.ts'
import type { PointColumns } from '../../series/columns.ts'
import type { GapPage } from '../../series/gaps.ts'
import type { Integrals } from '../../series/reads.ts'
import { type Addresses, readAggregates, UPSTREAM_AGGREGATES } from './aggregates.ts'
import { readBoundingValues } from './bounding-values.ts'
import {
  changeSender,
  checkWritten,
  countsOf,
  putTags,
  type SendChange,
  trialSender,
  writeBody,
} from './changes.ts'
import { readPlots } from './charts.ts'
import type { TidemarkConfig } from './config.ts'
import { countPoints, deletePoints } from './counts.ts'
import { type Discovered, discover } from './discovery.ts'
import { cannotWrite } from './errors.ts'
import { readGaps } from './gaps.ts'
import { Instance } from './instance.ts'
import { readIntegrals } from './integrals.ts'
import { readInterpolated } from './interpolation.ts'
import { findTags } from './metadata.ts'
import { readPoints } from './points.ts'
import { readRanges } from './ranges.ts'
import { searchTags } from './search.ts'
import { TagMemory } from './tag-memory.ts'
import { goodPointsOf, heldPointsOf } from './wire.ts'

/** Points that are asked for in one call at most, whatever the other instance allows: what comes is held in memory. */
const MOST_CALL_POINTS = 100_000
/** Until the other instance has said what it allows. */
const FIRST_CALL_POINTS = 10_000
/** What was discovered is looked at again after this time, and after a failure no sooner than the second. */
const DISCOVERY_MS = 300_000
const DISCOVERY_AGAIN_MS = 2_000

/**
 * The historian contract over the interface of another instance: a facade, each method calls the module that does it.
 */
export class TidemarkHistorian implements Historian {
  readonly name: string
  readonly type = 'tidemark'
  readonly #config: TidemarkConfig
  readonly #instance: Instance
  readonly #environment: DriverEnvironment
  readonly #memory: TagMemory
  readonly #closing = new AbortController()
  readonly #addresses: Addresses
  #discovered: Discovered | null = null
  #nextDiscovery = 0
  #discovery: Promise<void> | null = null

  constructor(config: TidemarkConfig, environment: DriverEnvironment) {
    this.name = environment.name
    this.#config = config
    this.#environment = environment
    this.#instance = new Instance(config, environment)
    this.#memory = new TagMemory(config.metadataSeconds)
    const stored = (tag: string) => `${config.historian}/${tag}`
    this.#addresses = {
      stored,
      good: (tag) => goodPointsOf(config.historian, tag),
      signal: ({ tag, stepped }) => (stepped ? heldPointsOf(config.historian, tag) : stored(tag)),
    }
    void this.#discover()
  }

  get capabilities(): Capabilities {
    // What is configured holds until the other instance says otherwise: it may be down, and nothing is known yet.
    const write = this.#config.writable && (this.#discovered?.writable ?? true)
    return {
      write,
      deletePoints: write,
      deleteTags: write,
      renameTags: write,
      durability: this.#discovered?.durability ?? 'server',
      atomicWrites: this.#discovered?.atomicWrites ?? 'none',
      aggregates: UPSTREAM_AGGREGATES,
      interpolation: true,
      integrals: true,
      plots: true,
      gaps: true,
      signalGaps: true,
      comparisons: true,
    }
  }

  async checkHealth(context: CallContext): Promise<void> {
    // Of this historian alone: asking the other instance for its own health would have it ask all of its historians,
    // and with them perhaps this instance.
    await this.#read(context, async (limited) => {
      await findTags(this.#instance, [`${this.#config.historian}/?`], 'health', limited)
      await this.#discover()
    })
  }

  async close(): Promise<void> {
    this.#closing.abort(new TidemarkError('SHUTTING_DOWN'))
    await this.#discovery
    await this.#instance.close()
  }

  async findTags(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    context.signal.throwIfAborted()
    const found = names.map((name) => this.#memory.get(name))
    const unknown = names.filter((_, index) => found[index] === null)
    if (unknown.length === 0) return found
    const remember = this.#memory.asking()
    const addresses = unknown.map(this.#addresses.stored)
    const answers = await this.#read(context, (limited) =>
      findTags(this.#instance, addresses, 'metadata', limited),
    )
    const asked = new Map(unknown.map((name, index) => [name, answers[index]!]))
    for (const [name, metadata] of asked) if (metadata !== null) remember(name, metadata)
    return names.map((name, index) => found[index] ?? asked.get(name) ?? null)
  }

  searchTags(query: TagQuery, context: CallContext): Promise<TagPage> {
    return this.#read(context, (limited) =>
      searchTags(this.#instance, this.#config.historian, query, limited),
    )
  }

  readPoints(queries: readonly PointQuery[], context: CallContext): Promise<PointColumns> {
    return this.#read(context, (limited) =>
      readPoints(this.#instance, queries, this.#addresses.stored, limited),
    )
  }

  readRanges(queries: readonly RangeQuery[], context: CallContext): Promise<readonly RangeResult[]> {
    return this.#read(context, (limited) =>
      readRanges(this.#instance, queries, this.#addresses.stored, this.#callPoints, limited),
    )
  }

  readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    context: CallContext,
  ): Promise<readonly BoundingValues[]> {
    return this.#read(context, (limited) =>
      readBoundingValues(this.#instance, tags, times, this.#addresses.good, this.#goodPoints, limited),
    )
  }

  estimatePoints(
    ranges: readonly CountedRange[],
    cap: number,
    context: CallContext,
  ): Promise<readonly number[]> {
    return this.#read(context, (limited) =>
      countPoints(this.#instance, ranges, this.#addresses.stored, this.#callPoints, cap, limited),
    )
  }

  readAggregates(
    queries: readonly AggregateQuery[],
    context: CallContext,
  ): Promise<readonly AggregateColumns[]> {
    return this.#read(context, (limited) => readAggregates(this.#instance, queries, this.#addresses, limited))
  }

  readInterpolated(
    queries: readonly InterpolationQuery[],
    context: CallContext,
  ): Promise<readonly Float64Array[]> {
    return this.#read(context, (limited) => {
      const boundingValuesOf = (tags: readonly string[], times: Float64Array) =>
        readBoundingValues(this.#instance, tags, times, this.#addresses.good, this.#goodPoints, limited)
      return readInterpolated(this.#instance, queries, this.#addresses, boundingValuesOf, limited)
    })
  }

  readIntegrals(queries: readonly IntegralQuery[], context: CallContext): Promise<readonly Integrals[]> {
    return this.#read(context, (limited) => readIntegrals(this.#instance, queries, this.#addresses, limited))
  }

  readPlots(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]> {
    return this.#read(context, (limited) => readPlots(this.#instance, queries, this.#addresses, limited))
  }

  readGaps(queries: readonly GapsQuery[], context: CallContext): Promise<readonly GapPage[]> {
    const { stored } = this.#addresses
    return this.#read(context, (limited) =>
      readGaps(this.#instance, queries, stored, this.#callPoints, limited),
    )
  }

  async write(batch: WriteBatch, context: CallContext): Promise<void> {
    context.signal.throwIfAborted()
    this.#checkWritable()
    const body = writeBody(batch, this.#addresses.stored)
    await this.#change(context, (send) =>
      send({ kind: 'write', path: '/historian/write/points', body }, checkWritten(this.name)),
    )
  }

  async putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    context: CallContext,
  ): Promise<readonly PutOutcome[]> {
    this.#checkWritable()
    return this.#change(context, (send) => putTags(this.name, entries, mode, this.#addresses.stored, send))
  }

  async deletePoints(
    ranges: readonly TagRange[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable()
    const { stored } = this.#addresses
    return this.#correct(dryRun, context, (send, limited) =>
      deletePoints(this.#instance, ranges, dryRun, stored, this.#callPoints, send, limited),
    )
  }

  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    context: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable()
    const addresses = names.map(this.#addresses.stored)
    const body = JSON.stringify({ tags: addresses, dryRun })
    return this.#correct(dryRun, context, (send) =>
      send({ kind: 'correct', path: '/historian/metadata/delete', body }, (answer) =>
        countsOf(this.name, answer.body.deleted, addresses),
      ),
    )
  }

  async renameTags(renames: readonly TagRename[], dryRun: boolean, context: CallContext): Promise<void> {
    this.#checkWritable()
    const { stored } = this.#addresses
    const pairs = Object.fromEntries(renames.map(({ from, to }) => [stored(from), stored(to)]))
    const body = JSON.stringify({ renames: pairs, dryRun })
    await this.#correct(dryRun, context, (send) =>
      send({ kind: 'correct', path: '/historian/metadata/rename', body }, () => {}),
    )
  }

  /** Name here of an address there. */
  readonly #nameOf = (address: string) => address.slice(this.#config.historian.length + 1)

  get #callPoints(): number {
    return Math.min(this.#discovered?.callPoints ?? FIRST_CALL_POINTS, MOST_CALL_POINTS)
  }

  /** Looking for good points costs the other instance more than it gives: it allows for BAD ones between them. */
  get #goodPoints(): number {
    return Math.max(2, Math.floor(this.#callPoints / 2))
  }

  #checkWritable(): void {
    if (!this.#config.writable) throw cannotWrite(this.name, 'it is configured read-only')
  }

  #read<Result>(context: CallContext, work: (context: CallContext) => Promise<Result>): Promise<Result> {
    void this.#discover()
    return withTimeLimit(this.name, this.#config.timeoutSeconds, context, work)
  }

  async #change<Result>(
    context: CallContext,
    work: (send: SendChange, context: CallContext) => Promise<Result>,
  ): Promise<Result> {
    const { signal } = context
    const options = { historian: this.name, seconds: this.#config.timeoutSeconds, signal }
    try {
      return await makeChange(options, (change) =>
        work(changeSender(this.#instance, change, this.#nameOf), change),
      )
    } finally {
      this.#memory.forget()
    }
  }

  /** A change, or with `dryRun` a read that says what it would change. */
  #correct<Result>(
    dryRun: boolean,
    context: CallContext,
    work: (send: SendChange, context: CallContext) => Promise<Result>,
  ): Promise<Result> {
    if (!dryRun) return this.#change(context, work)
    return this.#read(context, (limited) => work(trialSender(this.#instance, limited, this.#nameOf), limited))
  }

  /** Looks at what the other instance offers, unless that was done a short while ago. Never rejects. */
  #discover(): Promise<void> {
    if (this.#discovery !== null) return this.#discovery
    if (performance.now() < this.#nextDiscovery || this.#closing.signal.aborted) return Promise.resolve()
    const { timeoutSeconds, historian, writable } = this.#config
    const context = { signal: this.#closing.signal }
    this.#discovery = withTimeLimit(this.name, timeoutSeconds, context, (limited) =>
      discover(this.#instance, historian, writable, limited),
    )
      .then(
        (discovered) => {
          this.#discovered = discovered
          this.#nextDiscovery = performance.now() + DISCOVERY_MS
        },
        (error: unknown) => {
          if (this.#nextDiscovery === 0) {
            this.#environment.log.warn(
              { historian: this.name, err: error },
              'a historian cannot be reached yet',
            )
          }
          this.#nextDiscovery = performance.now() + DISCOVERY_AGAIN_MS
        },
      )
      .finally(() => {
        this.#discovery = null
      })
    return this.#discovery
  }
}
