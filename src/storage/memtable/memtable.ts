import type { PointColumns } from '../../series/columns.ts'
import type { PointBatch } from '../blocks/point-batch.ts'
import { joinSpans, type Span } from '../blocks/spans.ts'
import type { Tombstone } from '../parts/part.ts'
import { concatTombstones } from '../parts/tombstones-of-tags.ts'
import type { RemovedSpans } from '../wal/removed-spans.ts'
import type { WalRecord } from '../wal/wal-record.ts'
import type { SummedColumns } from './block-summaries.ts'
import { type CapturedTag, layersOf } from './captured-points.ts'
import { CellSlabs } from './cells.ts'
import { NewestPoints } from './newest-points.ts'
import { KEPT_SLABS, SlabPool } from './point-log.ts'
import { LongMemory, PointMemory } from './point-memory.ts'
import { isPrepared, PointTable, type PreparedPoints } from './point-table.ts'
import { LARGE_WRITE } from './prepared-points.ts'
import type { PinnedRuns } from './tag-points.ts'
import { TimeRange } from './time-range.ts'
import { TombstoneLog } from './tombstone-log.ts'

/** What a generation is besides its points. */
export interface Generation {
  /** Numbers of its records; `first` is above `last` as long as it has none. */
  readonly first: number
  readonly last: number
  /** Changes of the catalog, in order. */
  readonly catalog: readonly Uint8Array[]
  readonly tombstones: Iterable<Tombstone> & { readonly length: number }
  /** Bytes of memory that both take. */
  readonly changeBytes: number
}

/** What an array of bytes takes beside them, about. */
const ARRAY_BYTES = 200

class OpenGeneration implements Generation {
  readonly first: number
  last: number
  readonly catalog: Uint8Array[] = []
  readonly tombstones = new TombstoneLog()
  #catalogBytes = 0

  constructor(first: number) {
    this.first = first
    this.last = first - 1
  }

  get changeBytes(): number {
    return this.#catalogBytes + this.tombstones.bytes
  }

  addCatalog(changes: Uint8Array): void {
    this.catalog.push(changes)
    this.#catalogBytes += changes.length + ARRAY_BYTES
  }
}

/**
 * What the WAL says and parts and catalog's file do not: points by tag, what they take away from parts, and the changes
 * of the catalog. Two generations at most: one that is being flushed, and one that takes what comes.
 */
export class Memtable {
  /** Of all tags that were asked about, in parts and here. */
  readonly newest = new NewestPoints()
  readonly #pool: SlabPool
  readonly #cellSlabs = new CellSlabs()
  readonly #longMemory = new LongMemory()
  #activePoints: PointTable
  #immutablePoints: PointTable | null = null
  #active: OpenGeneration
  #immutable: OpenGeneration | null = null
  /** Of all points that ever came. */
  readonly #times = new TimeRange()
  /** When the first record of the active generation came; NaN without one. */
  #since = Number.NaN

  /**
   * @param nextSequence  number of the next record
   * @param keptSlabs     slabs of 1.3 MB that are kept from one generation for the next one
   */
  constructor(nextSequence: number, keptSlabs = KEPT_SLABS) {
    this.#pool = new SlabPool(keptSlabs)
    this.#activePoints = this.#newTable()
    this.#active = new OpenGeneration(nextSequence)
  }

  get active(): Generation {
    return this.#active
  }

  /** The one that is being flushed; `null` without one. */
  get immutable(): Generation | null {
    return this.#immutable
  }

  get nextSequence(): number {
    return this.#active.last + 1
  }

  /** Records of the active generation. */
  get records(): number {
    return this.#active.last + 1 - this.#active.first
  }

  /** How long ago the first record of the active generation came, in milliseconds; 0 without one. */
  ageMs(now: number): number {
    return Number.isNaN(this.#since) ? 0 : now - this.#since
  }

  /** Points of the active generation, those replaced since among them. */
  get points(): number {
    return this.#activePoints.points
  }

  /** Points of both generations, those replaced since among them. */
  get allPoints(): number {
    return this.#activePoints.points + (this.#immutablePoints?.points ?? 0)
  }

  /**
   * All points of a tag, each columns in time order and one per time; of the same time those of the last columns count.
   * Not to be changed; stays as it is when more arrive.
   */
  layers(tag: number): readonly SummedColumns[] {
    return layersOf(this.#immutablePoints?.columns(tag) ?? null, this.#activePoints.columns(tag))
  }

  /**
   * Has points that `capture` gives stay as they are, until `unpin` of what is returned, which is to be called once:
   * until then the memory of what is flushed is not given back.
   */
  pin(): { unpin(): void } {
    const tables = [this.#activePoints, this.#immutablePoints].filter((table) => table !== null)
    for (const table of tables) table.pinLog()
    return {
      unpin() {
        for (const table of tables) table.unpinLog()
      },
    }
  }

  /**
   * What there is of a tag now, its points to be looked at by `layersOf` while they are pinned; `null` for nothing.
   * Those of the very many tags that have few are not copied.
   */
  capture(tag: number): CapturedTag | null {
    const immutable = this.#immutablePoints?.capture(tag) ?? null
    const active = this.#activePoints.capture(tag)
    const tombstones = this.tombstones(tag)
    return immutable === null && active === null && tombstones.length === 0
      ? null
      : { immutable, active, tombstones }
  }

  /** Points of the generation that is being flushed, those replaced since among them. */
  get immutablePoints(): number {
    return this.#immutablePoints?.points ?? 0
  }

  /** Ids of the tags with points of the immutable generation, ascending. */
  *immutableTags(): Generator<number> {
    if (this.#immutablePoints !== null) yield* this.#immutablePoints.tags()
  }

  /**
   * Work to be done in steps before `immutableColumns`, which then is done soon; `null` for none. The caller may yield
   * between any two of them.
   */
  sortImmutable(tag: number): Generator<void, void> | null {
    return this.#immutablePoints!.sortInSteps(tag)
  }

  /** The points of a tag of the immutable generation, as they are now. */
  immutableColumns(tag: number): PointColumns | null {
    return this.#immutablePoints!.columns(tag)
  }

  /**
   * Adds the points of a tag of the immutable generation to a batch as an entry, unless it has none any more.
   * @returns false when the batch has no room for them: then nothing was added
   */
  copyImmutable(tag: number, batch: PointBatch): boolean {
    return this.#immutablePoints!.copyTo(tag, batch)
  }

  /** The points, as they are now, of one for which an empty batch has no room; later columns count first. */
  pinImmutable(tag: number): PinnedRuns {
    return this.#immutablePoints!.pin(tag)
  }

  /** What covers points of a tag in parts; stays as it is when more comes. */
  tombstones(tag: number): readonly Tombstone[] {
    const newer = this.#active.tombstones.of(tag)
    return this.#immutable === null ? newer : concatTombstones(this.#immutable.tombstones.of(tag), newer)
  }

  /**
   * Does most of the work of applying records together beforehand, in steps between which the caller may yield to the
   * event loop; nobody sees it. `null` where that takes no time.
   */
  prepare(records: readonly Pick<WalRecord, 'points'>[]): Generator<void, PreparedPoints> | null {
    const writes = records.flatMap(({ points }) => points ?? [])
    const count = writes.reduce((sum, { points }) => sum + points.times.length, 0)
    return count < LARGE_WRITE ? null : this.#activePoints.prepare(writes)
  }

  /** Takes the next records, those of `prepare` if that was called; nothing else may have been applied since. */
  applyAll(records: readonly WalRecord[], now: number, prepared: PreparedPoints | null): void {
    const taken = prepared !== null && this.#activePoints.take(prepared) ? prepared : null
    // Going through all points once more takes long: a read finds the newest one, and the others lie between two.
    for (const [tag, points] of taken?.tags ?? []) {
      this.newest.forget(tag)
      this.#times.join(points)
    }
    if (taken !== null && taken.few !== null) this.#times.join(taken.few.times)
    for (const record of records) this.#apply(record, now, taken)
  }

  /**
   * Takes the next record; its changes of the catalog are somebody else's to apply. @param now  of a clock that is
   * never put back, in ms
   */
  apply(record: WalRecord, now: number): void {
    this.#apply(record, now, null)
  }

  #apply({ sequence, catalog, removed, points }: WalRecord, now: number, taken: PreparedPoints | null): void {
    const active = this.#active
    if (active.last < active.first) this.#since = now
    active.last = sequence
    if (catalog !== null) active.addCatalog(catalog)
    for (let i = 0; i < removed.length; i++) {
      active.tombstones.add(removed.tags[i]!, removed.from[i]!, removed.to[i]!, sequence)
      this.newest.forget(removed.tags[i]!)
    }
    const isHere = (tag: number) => this.#activePoints.has(tag) || this.#immutablePoints?.has(tag) === true
    // All of a tag together: what is left of its points is copied for each call.
    removeByTag(removed, isHere, (tag, joined) => {
      this.#immutablePoints?.remove(tag, joined)
      this.#activePoints.remove(tag, joined)
    })
    if (points === null) return
    this.#activePoints.add(points, taken)
    this.newest.add(points)
    if (taken === null) this.#times.widen(points.points.times, 0, points.points.times.length)
    else {
      const { tags, offsets } = points
      for (let i = 0; i < tags.length; i++) {
        if (!isPrepared(taken, points, i))
          this.#times.widen(points.points.times, offsets[i]!, offsets[i + 1]!)
      }
    }
  }

  /** Times of the oldest and the newest point that ever came; Infinity and -Infinity without any. */
  get timeRange(): { readonly first: number; readonly last: number } {
    return this.#times
  }

  /** Begins a new generation; the one before is to be flushed. Only when none is. */
  rotate(): void {
    if (this.#immutable !== null) throw new Error('a generation is being flushed')
    this.#immutablePoints = this.#activePoints
    this.#activePoints = this.#newTable()
    this.#immutable = this.#active
    this.#active = new OpenGeneration(this.#active.last + 1)
    this.#since = Number.NaN
  }

  /** What was flushed stands in parts and in the catalog's file. */
  dropImmutable(): void {
    this.#immutablePoints!.release(this.#activePoints.points === 0)
    this.#immutablePoints = null
    this.#immutable = null
  }

  #newTable(): PointTable {
    return new PointTable(this.#pool, new PointMemory(this.#cellSlabs, this.#longMemory))
  }
}

/**
 * Removes spans of points, those that follow each other of the same tag together.
 * @param isHere  whether there may be any of a tag: most of very many have theirs in parts
 */
function removeByTag(
  removed: RemovedSpans,
  isHere: (tag: number) => boolean,
  remove: (tag: number, joined: readonly Span[]) => void,
): void {
  const { tags, from, to } = removed
  for (let first = 0, next = 1; first < tags.length; first = next++) {
    const tag = tags[first]!
    while (tags[next] === tag) next++
    if (!isHere(tag)) continue
    const spans: Span[] = []
    for (let i = first; i < next; i++) spans.push({ from: from[i]!, to: to[i]! })
    remove(tag, joinSpans(spans))
  }
}
