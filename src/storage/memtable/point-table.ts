import type { PointColumns } from '../../series/columns.ts'
import type { PointBatch } from '../blocks/point-batch.ts'
import { sortPoints } from '../blocks/sort-points.ts'
import type { Span } from '../blocks/spans.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'
import type { SummedColumns } from './block-summaries.ts'
import { type CapturedPoints, LogPoints } from './captured-points.ts'
import { FewPoints } from './few-points.ts'
import { NO_PLACE, PointLog, type SlabPool } from './point-log.ts'
import type { PointMemory } from './point-memory.ts'
import { type PointsBefore, prepareTags } from './prepared-points.ts'
import { type PinnedRuns, TagPoints } from './tag-points.ts'

/**
 * A tag with more points than this, and some more by its id, has them in memory of its own. A full generation of 10,000
 * tags has 100 of each: they are copied once, into its part. Tags that are written together pass it one by one: all at
 * once, a request for 10,000 of them would hold up the event loop.
 */
const LEAST_IN_LOG = 120
/** A power of two. */
const SPREAD = 64
/** So many tags whose ids follow each other pass it together, and lie beside each other then. */
const NEIGHBOUR_BITS = 8
/** Count of a tag whose points are in memory of its own. */
const IN_OWN = 255
/** So many points that come together are put into the log in steps: half a million take some 10 ms. */
const LARGE_IN_LOG = 524_288

/** What was prepared of points that are to be added, worked out on the state of a table. */
export interface PreparedPoints {
  /** Tags as they will be (prepared-points.ts). */
  readonly tags: ReadonlyMap<number, TagPoints>
  /** Points of other tags, which are in the log already; `null` for none. */
  readonly few: FewPoints | null
  readonly table: PointTable
  readonly changes: number
}

/** Whether the points of the tag with an index are done. */
export function isPrepared({ tags, few }: PreparedPoints, points: PointsOfTags, index: number): boolean {
  return few?.has(points, index) === true || tags.has(points.tags[index]!)
}

/** The points of one generation by tag: some 5 bytes for each id, and 20 for each point of a tag that has few. */
export class PointTable {
  readonly #log: PointLog
  readonly #memory: PointMemory
  readonly #own = new Map<number, TagPoints>()
  /** By id of the tag: place of its last point in the log, and how many it has there. */
  #last = new Int32Array(0)
  #counts = new Uint8Array(0)
  /** Points that arrived, those replaced since among them. */
  points = 0
  /** Grows whenever points are added or taken away. */
  #changes = 0

  /** @param pool, memory  whose memory generations share: one takes what another one gives back */
  constructor(pool: SlabPool, memory: PointMemory) {
    this.#log = new PointLog(pool)
    this.#memory = memory
  }

  /** @param taken  what is here already; `null` for nothing */
  add(all: PointsOfTags, taken: PreparedPoints | null = null): void {
    this.#changes++
    const { tags, offsets, points } = all
    for (let i = 0; i < tags.length; i++) {
      const start = offsets[i]!
      const end = offsets[i + 1]!
      if (start === end || (taken !== null && isPrepared(taken, all, i))) continue
      this.#addTag(tags[i]!, points, start, end)
    }
    this.points += points.times.length
  }

  /**
   * Does most of the work of adding points beforehand, in steps; nobody sees it before `take`.
   * @param largeInLog  so many points have those of tags with few put into the log in steps
   */
  *prepare(writes: readonly PointsOfTags[], largeInLog = LARGE_IN_LOG): Generator<void, PreparedPoints> {
    const changes = this.#changes
    const tags = yield* prepareTags(writes, this.#memory, (tag) => this.#before(tag), mostInLog)
    const count = writes.reduce((sum, { points }) => sum + points.times.length, 0)
    const few = count < largeInLog ? null : new FewPoints(this.#log, this.#last, this.#counts)
    if (few !== null) for (const points of writes) yield* few.add(points, tags, mostInLog)
    return { tags, few, table: this, changes }
  }

  /**
   * Takes what was prepared in place of what is here; false where points were added or taken away since, and nothing is
   * done.
   */
  take(prepared: PreparedPoints): boolean {
    const isSame = prepared.table === this && prepared.changes === this.#changes
    if (isSame && prepared.few !== null) {
      this.#last = prepared.few.last
      this.#counts = prepared.few.counts
    }
    for (const [tag, points] of prepared.tags) {
      if (isSame) this.#replace(tag, points)
      else points.release()
    }
    return isSame
  }

  #replace(tag: number, points: TagPoints): void {
    if (tag >= this.#counts.length) this.#grow(tag)
    this.#own.get(tag)?.release()
    this.#own.set(tag, points)
    this.#counts[tag] = IN_OWN
  }

  #before(tag: number): PointsBefore {
    const count = tag < this.#counts.length ? this.#counts[tag]! : 0
    if (count === IN_OWN) return this.#own.get(tag)!
    if (count === 0) return NO_POINTS_BEFORE
    const points = sortPoints(this.#log.collect(this.#last[tag]!, count))
    return {
      count,
      last: points.times[points.times.length - 1]!,
      pin: () => ({ runs: [points], unpin: () => {} }),
    }
  }

  /**
   * The points of a tag in time order, one per time; `null` without any. Not to be changed; stays as it is when more
   * arrive.
   */
  columns(tag: number): SummedColumns | null {
    const count = tag < this.#counts.length ? this.#counts[tag]! : 0
    if (count === 0) return null
    const columns: SummedColumns =
      count === IN_OWN
        ? this.#own.get(tag)!.columns()
        : sortPoints(this.#log.collect(this.#last[tag]!, count))
    return columns.times.length === 0 ? null : columns
  }

  /** The same, but that few points are not copied before somebody looks at them: to be pinned for as long. */
  capture(tag: number): CapturedPoints {
    const count = tag < this.#counts.length ? this.#counts[tag]! : 0
    return count === 0 || count === IN_OWN
      ? this.columns(tag)
      : new LogPoints(this.#log, this.#last[tag]!, count)
  }

  /** Until `unpinLog`, few points that were captured stay as they are, also behind `release`. */
  pinLog(): void {
    this.#log.pin()
  }

  unpinLog(): void {
    this.#log.unpin()
  }

  /** Brings the points of a tag that came late in order, in steps (tag-points.ts); `null` where that takes no time. */
  sortInSteps(tag: number): Generator<void, void> | null {
    return this.#own.get(tag)?.sortInSteps() ?? null
  }

  /**
   * Adds the points of a tag to a batch as an entry, unless it has none.
   * @returns false when the batch has no room for them: then nothing was added
   */
  copyTo(tag: number, batch: PointBatch): boolean {
    const count = tag < this.#counts.length ? this.#counts[tag]! : 0
    if (count === 0) return true
    const before = batch.points
    if (count === IN_OWN) {
      if (!this.#own.get(tag)!.copyTo(batch)) return false
    } else {
      if (count > batch.room) return false
      this.#log.copy(this.#last[tag]!, count, batch.columns, batch.take(count))
    }
    if (batch.points > before) batch.endEntry(tag)
    return true
  }

  /** The points of a tag that has memory of its own for them. */
  pin(tag: number): PinnedRuns {
    return this.#own.get(tag)!.pin()
  }

  /** Whether a tag has, or had, points here. */
  has(tag: number): boolean {
    return tag < this.#counts.length && this.#counts[tag] !== 0
  }

  /** Takes points in spans away, which are joined. */
  remove(tag: number, spans: readonly Span[]): void {
    const count = tag < this.#counts.length ? this.#counts[tag]! : 0
    if (count === 0) return
    this.#changes++
    if (count === IN_OWN) {
      this.#own.get(tag)!.remove(spans)
      return
    }
    // Memory of its own for each of very many tags would hold up the event loop.
    const kept = this.#log.remove(this.#last[tag]!, count, spans)
    this.#last[tag] = kept.last
    this.#counts[tag] = kept.count
  }

  /** Ids of all tags that have, or had, points here, ascending. */
  *tags(): Generator<number> {
    for (let tag = 0; tag < this.#counts.length; tag++) if (this.#counts[tag] !== 0) yield tag
  }

  /**
   * Gives the memory back; nothing is asked of this any more.
   * @param isLast  whether there are no other points, which would soon need this memory
   */
  release(isLast: boolean): void {
    this.#log.release(isLast)
    for (const own of this.#own.values()) own.releaseLong()
    this.#memory.cells.release(isLast)
    this.#own.clear()
    if (isLast) this.#memory.long.clear()
    else this.#memory.long.trim()
    this.#counts = new Uint8Array(0)
  }

  #addTag(tag: number, points: PointColumns, start: number, end: number): void {
    if (tag >= this.#counts.length) this.#grow(tag)
    const count = this.#counts[tag]!
    if (count !== IN_OWN && count + end - start <= mostInLog(tag)) {
      this.#last[tag] = this.#log.add(points, start, end, count === 0 ? NO_PLACE : this.#last[tag]!)
      this.#counts[tag] = count + end - start
    } else this.#ownOf(tag).add(points, start, end)
  }

  /** Moves the points of a tag to memory of their own. */
  #ownOf(tag: number): TagPoints {
    const count = this.#counts[tag]!
    if (count === IN_OWN) return this.#own.get(tag)!
    const own = new TagPoints(this.#memory)
    if (count > 0) own.add(this.#log.collect(this.#last[tag]!, count), 0, count)
    this.#own.set(tag, own)
    this.#counts[tag] = IN_OWN
    return own
  }

  #grow(tag: number): void {
    const capacity = Math.max(1_024, Math.ceil((tag + 1) * 1.25))
    // What was there is freed at once, and not by the next collection of garbage.
    this.#last = new Int32Array(this.#last.buffer.transfer(4 * capacity))
    this.#counts = new Uint8Array(this.#counts.buffer.transfer(capacity))
  }
}

const NO_POINTS_BEFORE: PointsBefore = {
  count: 0,
  last: Number.NEGATIVE_INFINITY,
  pin: () => ({ runs: [], unpin: () => {} }),
}

/** Points that a tag has in the log at most, below `IN_OWN`. */
function mostInLog(tag: number): number {
  return LEAST_IN_LOG + ((tag >> NEIGHBOUR_BITS) & (SPREAD - 1))
}
