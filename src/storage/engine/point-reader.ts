import type { MaybePromise } from '../../historian/maybe-promise.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import type { FindPoint } from '../../series/reads.ts'
import { RecentTags } from '../catalog/recent-tags.ts'
import { isUnreadable } from '../damage.ts'
import type { RetentionState } from '../manifest/retention-state.ts'
import { type CapturedTag, layersOf } from '../memtable/captured-points.ts'
import { readPoint } from '../reads/point-reads.ts'
import { NO_WATERMARK } from '../retention/tag-watermarks.ts'
import type { EngineSnapshot } from './engine-snapshot.ts'
import type { EngineState } from './engine-state.ts'
import type { LayeredBlocks } from './layered-blocks.ts'
import type { ReadSide } from './read-side.ts'
import { blocksOf, type TagMemory, type TagParts } from './tag-sources.ts'

/** Which raw point of a tag is asked for. */
export interface StoredPointQuery {
  readonly tag: string
  readonly find: FindPoint
  readonly at: number
}

/** Opens the points of a tag in a state. */
type OpenBlocks<Query, Blocks> = (tag: number, set: TagParts, memory: TagMemory, query: Query) => Blocks

/** Tags that are read together, by their place. */
export interface OpenTags {
  has(index: number): boolean
  /** TAG_NOT_FOUND of one that is not there. */
  missing(index: number): Error
  /** The points of one that is there. Throws Damage when they cannot be read. */
  blocksOf(index: number): LayeredBlocks
}

/** Id of no tag. */
const NO_TAG = 0
const NOTHING: TagMemory = { layers: [], tombstones: [], watermark: NO_WATERMARK }
/** Later than any point. */
const EVER = Number.MAX_SAFE_INTEGER - 1
/** Scratch for one point. */
const NEWEST = makeColumns(1)

/** The tags of a read by their place, and what is in memory of them in the state that it sees. */
class ReadTags {
  readonly #state: EngineState
  readonly #recent: RecentTags
  readonly #names: readonly { readonly tag: string }[]
  readonly #retention: RetentionState | null
  #ids: Uint32Array | null = null
  #captured: Map<number, CapturedTag> | null = null
  #pin: { unpin(): void } | null = null

  constructor(
    state: EngineState,
    recent: RecentTags,
    names: readonly { readonly tag: string }[],
    snapshot: EngineSnapshot,
  ) {
    this.#state = state
    this.#recent = recent
    this.#names = names
    this.#retention = snapshot.set.version.retention
  }

  /** NO_TAG for one that does not exist. */
  id(index: number): number {
    return this.#ids === null ? this.#recent.idOf(this.#names[index]!.tag) : this.#ids[index]!
  }

  /** @param index  of a query with the tag */
  memory(id: number, index: number): TagMemory {
    const watermark = this.#watermark(id, this.#names[index]!.tag)
    if (this.#captured === null) return memoryOf(this.#state, id, watermark)
    const captured = this.#captured.get(id)
    if (captured === undefined) return watermark === NO_WATERMARK ? NOTHING : { ...NOTHING, watermark }
    const { immutable, active, tombstones } = captured
    return { layers: layersOf(immutable, active), tombstones, watermark }
  }

  #watermark(id: number, name: string): number {
    if (this.#retention === null) return NO_WATERMARK
    const { catalog, watermarks } = this.#state
    // Since others were let in the tag may have another name, which is not the one that this state has.
    const isNamed = this.#captured === null || catalog.idOf(name) === id
    return isNamed
      ? watermarks.of(this.#retention, catalog, id, name)
      : watermarks.ofName(this.#retention, name)
  }

  /**
   * All in one turn of the event loop, in which points of very many tags are not copied; rules of retention are matched
   * later, by the names as they are now.
   */
  capture(): void {
    const ids = Uint32Array.from(this.#names, ({ tag }) => this.#recent.idOf(tag))
    const { memtable } = this.#state
    const captured = new Map<number, CapturedTag>()
    this.#pin = memtable.pin()
    for (const id of ids) {
      if (id === NO_TAG || captured.has(id)) continue
      const found = memtable.capture(id)
      if (found !== null) captured.set(id, found)
    }
    this.#ids = ids
    this.#captured = captured
  }

  release(): void {
    this.#pin?.unpin()
    this.#pin = null
    this.#captured = null
  }
}

function memoryOf({ memtable }: EngineState, id: number, watermark: number): TagMemory {
  const layers = memtable.layers(id)
  const tombstones = memtable.tombstones(id)
  return layers.length === 0 && tombstones.length === 0 && watermark === NO_WATERMARK
    ? NOTHING
    : { layers, tombstones, watermark }
}

/** Reads points of tags in the state that a read sees. */
export class PointReader {
  /** Tags of the state. */
  readonly tags: RecentTags
  readonly #state: EngineState
  readonly #reads: ReadSide

  constructor(state: EngineState, reads: ReadSide) {
    this.tags = new RecentTags(state)
    this.#state = state
    this.#reads = reads
  }

  /** One raw point for each query; its time is NaN where there is none. */
  readPoints(queries: readonly StoredPointQuery[], signal: AbortSignal): MaybePromise<PointColumns> {
    const points = makeColumns(queries.length)
    let tags: ReadTags | null = null
    const tagsOf = (snapshot: EngineSnapshot) => {
      if (tags === null) {
        tags = new ReadTags(this.#state, this.tags, queries, snapshot)
        snapshot.memory = tags
      }
      return tags
    }
    const readOne = (i: number, snapshot: EngineSnapshot) => {
      const { find, at } = queries[i]!
      const known = tagsOf(snapshot)
      const id = known.id(i)
      if (id === NO_TAG) points.times[i] = Number.NaN
      else if (!this.#readNewest(id, find, at, points, i, snapshot)) {
        const blocks = blocksOf(id, snapshot.set, known.memory(id, i))
        if (!readPoint(blocks, find, at, points, i)) points.times[i] = Number.NaN
      }
    }
    return this.#reads.readEach(signal, queries.length, points, readOne, (snapshot) => void tagsOf(snapshot))
  }

  /**
   * Reads something of each tag, in the order of the queries; `null` blocks never: a tag that does not exist has no
   * points.
   */
  readTags<Query extends { readonly tag: string }, Result>(
    queries: readonly Query[],
    signal: AbortSignal,
    read: (blocks: LayeredBlocks, query: Query, snapshot: EngineSnapshot) => Promise<Result>,
  ): Promise<readonly Result[]> {
    return this.readTagsAs(queries, signal, blocksOf, read)
  }

  /** The same of blocks that are opened otherwise. */
  readTagsAs<Query extends { readonly tag: string }, Blocks, Result>(
    queries: readonly Query[],
    signal: AbortSignal,
    open: OpenBlocks<Query, Blocks>,
    read: (blocks: Blocks, query: Query, snapshot: EngineSnapshot) => Promise<Result>,
  ): Promise<readonly Result[]> {
    return this.#reads.read(signal, async (snapshot) => {
      const tags = new ReadTags(this.#state, this.tags, queries, snapshot)
      // That of one tag is taken before anything is waited for.
      if (queries.length > 1) snapshot.memory = tags
      const results: Result[] = []
      for (const [i, query] of queries.entries()) {
        const id = tags.id(i)
        const blocks =
          id === NO_TAG
            ? open(id, NO_PARTS, NOTHING, query)
            : open(id, snapshot.set, tags.memory(id, i), query)
        results.push(await read(blocks, query, snapshot))
        if (snapshot.isDue()) await snapshot.pause()
      }
      return results
    })
  }

  /** Works on the points of several tags in one state. */
  readTogether<Result>(
    names: readonly { readonly tag: string }[],
    signal: AbortSignal,
    work: (tags: OpenTags, snapshot: EngineSnapshot) => Promise<Result>,
  ): Promise<Result> {
    return this.#reads.read(signal, (snapshot) => {
      const tags = new ReadTags(this.#state, this.tags, names, snapshot)
      snapshot.memory = tags
      return work(
        {
          has: (index) => tags.id(index) !== NO_TAG,
          missing: (index) => this.#state.errors.tagNotFound(names[index]!.tag),
          blocksOf: (index) => blocksOf(tags.id(index), snapshot.set, tags.memory(tags.id(index), index)),
        },
        snapshot,
      )
    })
  }

  /**
   * Answers from what is remembered of the tag's newest point, which most reads ask for; false when that is not the
   * answer.
   */
  #readNewest(
    id: number,
    find: StoredPointQuery['find'],
    at: number,
    target: PointColumns,
    index: number,
    snapshot: EngineSnapshot,
  ): boolean {
    if ((find !== 'before' && find !== 'before-or-at') || snapshot.hasYielded) return false
    const { newest } = this.#state.memtable
    if (!newest.has(id)) {
      try {
        // The newest point stays whatever the watermark is.
        const blocks = blocksOf(id, snapshot.set, memoryOf(this.#state, id, NO_WATERMARK))
        const has = readPoint(blocks, 'before-or-at', EVER, NEWEST, 0)
        const time = has ? NEWEST.times[0]! : Number.NEGATIVE_INFINITY
        newest.remember(id, time, NEWEST.values[0]!, NEWEST.statuses[0]!)
      } catch (error) {
        // What is asked for may lie before what is damaged.
        if (isUnreadable(error)) return false
        throw error
      }
    }
    const time = newest.time(id)
    if (time === Number.NEGATIVE_INFINITY) {
      target.times[index] = Number.NaN
      return true
    }
    if (find === 'before' ? time >= at : time > at) return false
    newest.copy(id, target, index)
    return true
  }
}

const NO_PARTS: TagParts = { parts: [], tombstones: () => [], lostTombstones: null }
