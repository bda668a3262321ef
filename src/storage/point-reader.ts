import type { MaybePromise } from '../historian/maybe-promise.ts'
import { makeColumns, type PointColumns } from '../series/columns.ts'
import type { FindPoint } from '../series/reads.ts'
import { type Catalog, type FindTag, idsOf } from './catalog.ts'
import { HeadCapture } from './heads/head-capture.ts'
import type { Heads } from './heads/heads.ts'
import type { HistorianParts } from './historian-parts.ts'
import { readPoint } from './point-reads.ts'
import type { ReadSide } from './read-side.ts'
import type { Snapshot } from './snapshot.ts'
import { type BlockAccess, StoredBlocks, TagBlocks } from './tag-blocks.ts'

/** Which raw point of a tag is asked for. */
export interface StoredPointQuery {
  readonly tag: string
  readonly find: FindPoint
  readonly at: number
}

/** Reads points of tags: those of the blocks with those in memory merged in, in the state that a read sees. */
export class PointReader {
  readonly #reads: ReadSide
  readonly #catalog: Catalog
  readonly #access: BlockAccess
  readonly #heads: Heads

  constructor({ catalog, access, heads }: HistorianParts, reads: ReadSide) {
    this.#reads = reads
    this.#catalog = catalog
    this.#access = access
    this.#heads = heads
  }

  /** One raw point for each query; its time is NaN where there is none. */
  readPoints(queries: readonly StoredPointQuery[], signal: AbortSignal): MaybePromise<PointColumns> {
    const points = makeColumns(queries.length)
    // Made before others are let in, or when the first block is looked at: most of these reads need neither.
    let heads: HeadCapture | null = null
    const capture = (snapshot: Snapshot, version: number) => {
      heads ??= this.#capture(queries, this.#finder(snapshot, version), snapshot)
      return heads
    }
    const readOne = (i: number, snapshot: Snapshot, version: number) => {
      const { tag, find, at } = queries[i]!
      const record = this.#catalog.find(tag, snapshot.options, version)
      if (record === null) points.times[i] = Number.NaN
      else if (!this.#readNewest(record.id, find, at, points, i, snapshot)) {
        const blocks = this.#blocksOf(record.id, snapshot, capture(snapshot, version))
        if (!readPoint(blocks, find, at, points, i)) points.times[i] = Number.NaN
      }
    }
    return this.#reads.readEach(signal, queries.length, points, readOne, capture)
  }

  /** Answers from what is remembered of the tag's newest point, which most reads ask for; false when that is not the answer. */
  #readNewest(
    id: number,
    find: FindPoint,
    at: number,
    target: PointColumns,
    index: number,
    snapshot: Snapshot,
  ): boolean {
    if ((find !== 'before' && find !== 'before-or-at') || snapshot.hasRested) return false
    if (this.#catalog.isChanging) return false
    let head = this.#heads.get(id)
    if (head === undefined || !head.knowsNewest) {
      const blocks = new TagBlocks(new StoredBlocks(this.#access, snapshot, id), this.#heads.columns(id))
      const hasAny = readPoint(blocks, 'before-or-at', Number.MAX_SAFE_INTEGER - 1, NEWEST, 0)
      const time = hasAny ? NEWEST.times[0]! : Number.NEGATIVE_INFINITY
      this.#heads.rememberNewest(id, time, NEWEST.values[0]!, NEWEST.statuses[0]!)
      head = this.#heads.get(id)!
    }
    const time = head.newestTime
    if (!(find === 'before' ? time < at : time <= at)) return false
    target.times[index] = time === Number.NEGATIVE_INFINITY ? Number.NaN : time
    target.values[index] = head.newestValue
    target.statuses[index] = head.newestStatus
    return true
  }

  /** What a read of one tag gives, for each query in turn; a tag that does not exist has no blocks. */
  readTags<Query extends { readonly tag: string }, Result>(
    queries: readonly Query[],
    signal: AbortSignal,
    read: (blocks: TagBlocks, query: Query, snapshot: Snapshot) => Promise<Result>,
  ): Promise<readonly Result[]> {
    return this.#reads.read(signal, async (snapshot) => {
      const results: Result[] = []
      const find = this.#finder(snapshot)
      const heads = this.#capture(queries, find, snapshot)
      for (const query of queries) {
        const blocks = this.#blocksOf(find(query.tag)?.id ?? NO_TAG, snapshot, heads)
        results.push(await read(blocks, query, snapshot))
        if (snapshot.isDue()) await snapshot.rest()
      }
      return results
    })
  }

  #blocksOf(id: number, snapshot: Snapshot, heads: HeadCapture): TagBlocks {
    return new TagBlocks(new StoredBlocks(this.#access, snapshot, id), heads.columns(id))
  }

  #capture(queries: readonly { readonly tag: string }[], find: FindTag, snapshot: Snapshot): HeadCapture {
    const ids = () =>
      idsOf(
        queries.map(({ tag }) => tag),
        find,
      )
    return new HeadCapture(this.#heads, snapshot, ids)
  }

  /** Finds tags in the state that a read sees, also when others were let in and changed them. */
  #finder(snapshot: Snapshot, version = this.#catalog.version): FindTag {
    return (name) => this.#catalog.find(name, snapshot.options, version)
  }
}

/** Id of no tag. */
const NO_TAG = 0

/** Scratch for one point. */
const NEWEST = makeColumns(1)
