import { lowerBound, type PointColumns, STATUS_OK, sliceColumns, upperBound } from '../../series/columns.ts'
import { BlockView } from '../blocks/block.ts'
import { isCut, type Span, without } from '../blocks/spans.ts'
import { isUsable } from '../blocks/zone-map.ts'
import type { Damage } from '../damage.ts'
import { MEMORY_BLOCK_POINTS, type SummedColumns } from '../memtable/block-summaries.ts'
import type { Part, PartRun } from '../parts/part.ts'
import type { ZoneMapSink } from '../reads/point-blocks.ts'
import { firstGoodTime, lastGoodTime } from './good-times.ts'

/**
 * One of the places that hold points of a tag: a part, or the memory. Times of its points are known before it is read,
 * roughly.
 */
export interface Source {
  /** No point lies outside of these; there need not be one at them. */
  readonly firstTime: number
  readonly lastTime: number
  /** Points of the blocks, to be asked for only within the times above; `null` for what is in memory. */
  readonly run: PartRun | null
  /** A time at or before that of the first point at or after `at`, and not before `at`; Infinity without one. */
  nextTime(at: number): number
  /** The beginning of the block that begins last at or before `at`; -Infinity without one. */
  blockStart(at: number): number
  /** Where the first block begins that begins after `at`; Infinity without one. */
  blockAfter(at: number): number
  /** The points of [from, to), which lie in one block; empty where there are none. Not to be changed. */
  points(from: number, to: number): PointColumns
  /** Whether points of [first, last] may have been taken away. */
  isCut(first: number, last: number): boolean
  /**
   * A time at or before `at` behind which, up to `at`, no point is good; -Infinity when none is from `from` to `at`, or
   * further back. By summaries: nothing is unpacked, and what is taken away, or cannot be read, counts as good.
   */
  lastGood(at: number, from: number): number
  /** A time at or after `at` before which, from `at` on, none is good; Infinity when none is before `to`, or later. */
  firstGood(at: number, to: number): number
  /**
   * Gives the next points of [from, to) to a sink, by a summary where it has one; gives where to go on. Left out where
   * nothing but the blocks of `run` is summed up.
   */
  give?(from: number, to: number, sink: ZoneMapSink): number
}

/** The points of a tag in a part, less those that tombstones cover. */
export class PartSource implements Source {
  readonly firstTime: number
  readonly lastTime: number
  readonly #part: Part
  readonly #tag: number
  readonly #cuts: readonly Span[]
  #run: PartRun | null = null
  #view: BlockView | null = null
  /** The block that the view shows. */
  #viewed = -1
  /** What is left of its points, once it was asked for. */
  #left: PointColumns | null = null

  /** @param cuts  joined */
  constructor(part: Part, tag: number, cuts: readonly Span[]) {
    this.#part = part
    this.#tag = tag
    this.#cuts = cuts
    this.firstTime = part.info.firstTime
    this.lastTime = part.info.lastTime
  }

  get run(): PartRun {
    this.#run ??= this.#part.run(this.#tag)!
    return this.#run
  }

  nextTime(at: number): number {
    if (at > this.lastTime) return Number.POSITIVE_INFINITY
    const { run } = this
    const block = run.blockBefore(at)
    if (block >= 0 && run.blockLast(block) >= at) return at
    return block + 1 < run.blocks ? run.blockFirst(block + 1) : Number.POSITIVE_INFINITY
  }

  blockStart(at: number): number {
    const { run } = this
    const block = run.blockBefore(at)
    return block < 0 ? Number.NEGATIVE_INFINITY : run.blockFirst(block)
  }

  blockAfter(at: number): number {
    const { run } = this
    const block = run.blockBefore(at) + 1
    return block < run.blocks ? run.blockFirst(block) : Number.POSITIVE_INFINITY
  }

  points(from: number, to: number): PointColumns {
    const { run } = this
    const block = run.blockBefore(to - 1)
    if (block < 0 || run.blockLast(block) < from) return NO_COLUMNS
    this.#view ??= new BlockView()
    if (this.#viewed !== block) {
      this.#viewed = -1
      run.open(block, this.#view)
      this.#viewed = block
      this.#left = null
    }
    const view = this.#view
    if (this.#left === null && !this.isCut(view.firstTime, view.lastTime)) {
      return view.columns(view.lowerBound(from), view.lowerBound(to))
    }
    // Once for all of it: very many ranges of a block may be asked for one by one.
    this.#left ??= without(view.columns(0, view.count), this.#cuts)
    return sliceColumns(this.#left, lowerBound(this.#left.times, from), lowerBound(this.#left.times, to))
  }

  isCut(first: number, last: number): boolean {
    return isCut(this.#cuts, first, last)
  }

  lastGood(at: number, from: number): number {
    return lastGoodTime(this.run, at, from)
  }

  firstGood(at: number, to: number): number {
    return firstGoodTime(this.run, at, to)
  }
}

/**
 * Stands for points of a tag that cannot be read: what looks at their times fails, all else is answered. They are as a
 * block, and what is behind them as another one, which is empty.
 */
export class DamagedSource implements Source {
  readonly run = null
  readonly firstTime: number
  readonly lastTime: number
  readonly #damage: Damage

  /** @param span  of the times that the points may have, both included */
  constructor({ firstTime, lastTime }: Pick<Source, 'firstTime' | 'lastTime'>, damage: Damage) {
    this.firstTime = firstTime
    this.lastTime = lastTime
    this.#damage = damage
  }

  nextTime(at: number): number {
    return at > this.lastTime ? Number.POSITIVE_INFINITY : Math.max(at, this.firstTime)
  }

  blockStart(at: number): number {
    if (at > this.lastTime) return this.lastTime + 1
    return at < this.firstTime ? Number.NEGATIVE_INFINITY : this.firstTime
  }

  blockAfter(at: number): number {
    if (at < this.firstTime) return this.firstTime
    return at > this.lastTime ? Number.POSITIVE_INFINITY : this.lastTime + 1
  }

  points(): never {
    throw this.#damage
  }

  isCut(): boolean {
    return false
  }

  lastGood(at: number): number {
    return at < this.firstTime ? Number.NEGATIVE_INFINITY : Math.min(at, this.lastTime)
  }

  firstGood(at: number): number {
    return this.nextTime(at)
  }
}

/** The points of a tag in memory: one block, or several where others lie among them. */
export class MemorySource implements Source {
  readonly run = null
  readonly firstTime: number
  readonly lastTime: number
  readonly columns: SummedColumns
  readonly #blockPoints: number

  /**
   * @param columns      at least one point
   * @param blockPoints  of each block but the last
   */
  constructor(columns: SummedColumns, blockPoints = columns.times.length) {
    this.columns = columns
    this.#blockPoints = blockPoints
    this.firstTime = columns.times[0]!
    this.lastTime = columns.times[columns.times.length - 1]!
  }

  nextTime(at: number): number {
    const { times } = this.columns
    const index = lowerBound(times, at)
    return index < times.length ? times[index]! : Number.POSITIVE_INFINITY
  }

  blockStart(at: number): number {
    return this.#startOf(this.#blockOf(at)) ?? Number.NEGATIVE_INFINITY
  }

  blockAfter(at: number): number {
    return this.#startOf(this.#blockOf(at) + 1) ?? Number.POSITIVE_INFINITY
  }

  /** The number of the block that begins last at or before an instant; -1 for none. */
  #blockOf(at: number): number {
    if (at < this.firstTime) return -1
    const { times } = this.columns
    return times.length <= this.#blockPoints ? 0 : Math.floor((upperBound(times, at) - 1) / this.#blockPoints)
  }

  #startOf(block: number): number | undefined {
    return this.columns.times[block * this.#blockPoints]
  }

  points(from: number, to: number): PointColumns {
    const { times } = this.columns
    return sliceColumns(this.columns, lowerBound(times, from), lowerBound(times, to))
  }

  isCut(): boolean {
    return false
  }

  lastGood(at: number, from: number): number {
    const { times, statuses } = this.columns
    const start = lowerBound(times, from)
    const index = statuses.subarray(start, upperBound(times, at)).lastIndexOf(STATUS_OK)
    return index < 0 ? Number.NEGATIVE_INFINITY : times[start + index]!
  }

  firstGood(at: number, to: number): number {
    const { times, statuses } = this.columns
    const start = lowerBound(times, at)
    const index = statuses.subarray(start, lowerBound(times, to)).indexOf(STATUS_OK)
    return index < 0 ? Number.POSITIVE_INFINITY : times[start + index]!
  }

  give(from: number, to: number, sink: ZoneMapSink): number {
    const { columns } = this
    const { times, summaries } = columns
    const start = lowerBound(times, from)
    const end = lowerBound(times, to)
    const block = Math.ceil(start / MEMORY_BLOCK_POINTS)
    const blockStart = block * MEMORY_BLOCK_POINTS
    const blockEnd = blockStart + MEMORY_BLOCK_POINTS
    const isInside = summaries !== undefined && blockEnd <= end
    const stop = !isInside ? end : start < blockStart ? blockStart : blockEnd
    const summary = stop === blockEnd && isInside ? summaries.of(columns, block) : null
    const isTaken = summary !== null && isUsable(summary) && sink.takeZoneMap(summary)
    if (!isTaken) sink.takePoints(sliceColumns(columns, start, stop))
    return stop < end ? times[stop]! : to
  }

  /** Whether there is a point in [first, last]. */
  has(first: number, last: number): boolean {
    const { times } = this.columns
    return upperBound(times, last) > lowerBound(times, first)
  }
}

export const NO_COLUMNS: PointColumns = {
  times: new Float64Array(0),
  values: new Float64Array(0),
  statuses: new Uint8Array(0),
}
