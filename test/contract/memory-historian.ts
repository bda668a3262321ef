import { setImmediate } from 'node:timers/promises'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import type {
  BoundingValues,
  CallContext,
  Capabilities,
  Historian,
  PointQuery,
  PutMode,
  PutOutcome,
  RangeQuery,
  RangeResult,
  TagEntry,
  TagMetadata,
  TagPage,
  TagPut,
  TagQuery,
  TagRange,
  TagRename,
  WriteBatch,
} from '../../src/historian/contract.ts'
import type { MaybePromise } from '../../src/historian/maybe-promise.ts'
import { metadataAfter } from '../../src/historian/tag-metadata.ts'
import { pointsOfTag } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../src/series/columns.ts'
import { compareNames } from '../../src/series/tag-names.ts'

interface Point {
  readonly time: number
  readonly value: number
  readonly status: number
}

interface StoredTag {
  metadata: TagMetadata
  points: Map<number, Point>
}

const NO_METADATA: TagMetadata = { description: null, units: null, stepped: false }

/**
 * A historian in memory, as plain as can be and without a single push-down: the reference that other historians and
 * the engine are compared with. It sorts on every read; use it for thousands of points, not millions.
 */
export class MemoryHistorian implements Historian {
  readonly name: string
  readonly type = 'memory'
  readonly capabilities: Capabilities
  /** Whether tags and points are given at once, as a driver may, and not in promises. */
  isPrompt = false
  #tags = new Map<string, StoredTag>()

  constructor(name: string, options: { readonly writable?: boolean } = {}) {
    this.name = name
    const write = options.writable ?? true
    this.capabilities = {
      write,
      deletePoints: write,
      deleteTags: write,
      renameTags: write,
      // Nothing survives the process; the tests of durability leave this historian out.
      durability: 'server',
      atomicWrites: 'request',
      aggregates: [],
      interpolation: false,
      integrals: false,
      plots: false,
      gaps: false,
      signalGaps: false,
      comparisons: false,
    }
  }

  async checkHealth({ signal }: CallContext): Promise<void> {
    signal.throwIfAborted()
  }

  async close(): Promise<void> {}

  findTags(names: readonly string[], context: CallContext): MaybePromise<readonly (TagMetadata | null)[]> {
    return this.#given(context, () => names.map((name) => this.#tags.get(name)?.metadata ?? null))
  }

  #given<Result>({ signal }: CallContext, read: () => Result): MaybePromise<Result> {
    if (signal.aborted) return Promise.reject(signal.reason)
    return this.isPrompt ? read() : Promise.resolve(read())
  }

  async searchTags(query: TagQuery, { signal }: CallContext): Promise<TagPage> {
    signal.throwIfAborted()
    const found: TagEntry[] = []
    for (const name of [...this.#tags.keys()].sort(compareNames)) {
      const { metadata } = this.#tags.get(name)!
      if (query.after !== null && compareNames(name, query.after) <= 0) continue
      if (query.pattern !== null && !query.pattern.matches(name, metadata.description)) continue
      found.push({ name, metadata })
    }
    return { tags: found.slice(0, query.limit), more: found.length > query.limit }
  }

  readPoints(queries: readonly PointQuery[], context: CallContext): MaybePromise<PointColumns> {
    return this.#given(context, () =>
      columnsOf(queries.map((query) => findPoint(this.#sorted(query.tag), query) ?? NO_POINT)),
    )
  }

  async readRanges(queries: readonly RangeQuery[], { signal }: CallContext): Promise<readonly RangeResult[]> {
    signal.throwIfAborted()
    return queries.map((query) => {
      const points = this.#inRange(query)
      if (query.order === 'desc') points.reverse()
      return { points: columnsOf(points.slice(0, query.limit)), more: points.length > query.limit }
    })
  }

  async readBoundingValues(
    tags: readonly string[],
    times: Float64Array,
    { signal }: CallContext,
  ): Promise<readonly BoundingValues[]> {
    signal.throwIfAborted()
    return tags.map((tag) => {
      const good = this.#sorted(tag).filter((point) => point.status !== STATUS_BAD)
      const before = Array.from(times, (at) => good.findLast((point) => point.time <= at) ?? NO_POINT)
      const after = Array.from(times, (at) => good.find((point) => point.time >= at) ?? NO_POINT)
      return {
        beforeTimes: Float64Array.from(before, (point) => point.time),
        beforeValues: Float64Array.from(before, (point) => point.value),
        afterTimes: Float64Array.from(after, (point) => point.time),
        afterValues: Float64Array.from(after, (point) => point.value),
      }
    })
  }

  async estimatePoints(
    ranges: readonly TagRange[],
    cap: number,
    { signal }: CallContext,
  ): Promise<readonly number[]> {
    signal.throwIfAborted()
    const counts: number[] = []
    for (const range of ranges) {
      counts.push(Math.min(this.#inRange(range).length, cap))
      if (counts.length % 50 === 0) await setImmediate()
      signal.throwIfAborted()
    }
    return counts
  }

  async write(batch: WriteBatch, { signal }: CallContext): Promise<void> {
    this.#checkWritable('write', signal)
    if (!batch.createTags) for (const tag of batch.tags) this.#existing(tag)
    for (const [index, tag] of batch.tags.entries()) {
      const points = pointsOfTag(batch, index)
      let stored = this.#tags.get(tag)
      if (stored === undefined) {
        stored = { metadata: NO_METADATA, points: new Map() }
        this.#tags.set(tag, stored)
      }
      for (let at = 0; at < points.times.length; at++) {
        const time = points.times[at]!
        stored.points.set(time, { time, value: points.values[at]!, status: points.statuses[at]! })
      }
    }
  }

  async putTags(
    entries: readonly TagPut[],
    mode: PutMode,
    { signal }: CallContext,
  ): Promise<readonly PutOutcome[]> {
    this.#checkWritable('change tags', signal)
    return entries.map(({ name, metadata: put }) => {
      const stored = this.#tags.get(name)
      if (stored !== undefined && mode === 'create') return 'exists'
      if (stored === undefined && mode === 'update') return 'missing'
      const metadata = metadataAfter(stored?.metadata ?? null, put)
      if (stored === undefined) this.#tags.set(name, { metadata, points: new Map() })
      else stored.metadata = metadata
      return 'stored'
    })
  }

  async deletePoints(
    ranges: readonly TagRange[],
    dryRun: boolean,
    { signal }: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable('delete points', signal)
    const doomed = new Map<string, Set<number>>()
    return ranges.map((range) => {
      const times = doomed.getOrInsertComputed(range.tag, () => new Set())
      const before = times.size
      for (const { time } of this.#inRange(range)) {
        times.add(time)
        if (!dryRun) this.#tags.get(range.tag)!.points.delete(time)
      }
      return times.size - before
    })
  }

  async deleteTags(
    names: readonly string[],
    dryRun: boolean,
    { signal }: CallContext,
  ): Promise<readonly number[]> {
    this.#checkWritable('delete tags', signal)
    const counts = names.map((name) => this.#existing(name).points.size)
    if (!dryRun) for (const name of names) this.#tags.delete(name)
    return counts
  }

  async renameTags(renames: readonly TagRename[], dryRun: boolean, { signal }: CallContext): Promise<void> {
    this.#checkWritable('rename tags', signal)
    const after = new Map(this.#tags)
    for (const { from } of renames) {
      this.#existing(from)
      after.delete(from)
    }
    for (const { from, to } of renames) {
      if (after.has(to)) throw new TidemarkError('TAG_EXISTS', { address: `${this.name}/${to}` })
      after.set(to, this.#tags.get(from)!)
    }
    if (!dryRun) this.#tags = after
  }

  #existing(tag: string): StoredTag {
    const stored = this.#tags.get(tag)
    if (stored === undefined) throw new TidemarkError('TAG_NOT_FOUND', { historian: this.name, tag })
    return stored
  }

  #sorted(tag: string): Point[] {
    return [...(this.#tags.get(tag)?.points.values() ?? [])].sort((a, b) => a.time - b.time)
  }

  #inRange({ tag, from, to }: TagRange): Point[] {
    return this.#sorted(tag).filter(({ time }) => time >= from && time < to)
  }

  #checkWritable(operation: string, signal: AbortSignal): void {
    signal.throwIfAborted()
    if (!this.capabilities.write)
      throw new TidemarkError('NOT_SUPPORTED', { historian: this.name, operation })
  }
}

const NO_POINT: Point = { time: Number.NaN, value: Number.NaN, status: STATUS_BAD }

function findPoint(points: readonly Point[], { find, at }: PointQuery): Point | undefined {
  switch (find) {
    case 'before':
      return points.findLast((point) => point.time < at)
    case 'before-or-at':
      return points.findLast((point) => point.time <= at)
    case 'after':
      return points.find((point) => point.time > at)
    case 'after-or-at':
      return points.find((point) => point.time >= at)
  }
}

function columnsOf(points: readonly Point[]): PointColumns {
  const columns = makeColumns(points.length)
  points.forEach((point, at) => {
    columns.times[at] = point.time
    columns.values[at] = point.value
    columns.statuses[at] = point.status
  })
  return columns
}
