import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { mergePoints, mergeRuns } from '../blocks/merge-points.ts'
import type { PointBatch } from '../blocks/point-batch.ts'
import { RunMerge } from '../blocks/run-merge.ts'
import { POINTS_OF_STEP } from '../blocks/sort-in-steps.ts'
import { type Span, without } from '../blocks/spans.ts'
import type { SummedColumns } from './block-summaries.ts'
import { columnsOfCells, copyCells } from './cell-list.ts'
import { badWord, CELL_POINTS, type Cells, firstDouble, NO_CELL, nextWord } from './cells.ts'
import { LatePoints } from './late-points.ts'
import { LongPoints } from './long-points.ts'
import type { LongMemory, PointMemory } from './point-memory.ts'

/** A tag with more points has them in memory of its own: copying them whenever somebody looks would take long. */
export const MOST_IN_CELLS = 1_024

/** Points of one tag that stay as they are until `unpin`, whatever becomes of the tag. */
export interface PinnedRuns {
  readonly runs: readonly PointColumns[]
  /** To be called once, when nobody looks at them any more: only then their memory is used again. */
  unpin(): void
}

/**
 * Points of one tag in memory, that grow as points arrive. Points that are newer than all before are added at the end;
 * others wait and are merged when somebody looks. What was given out is never changed: it can be read on while points
 * arrive.
 */
export class TagPoints {
  #length = 0
  #last = Number.NEGATIVE_INFINITY
  readonly #cells: Cells
  readonly #longMemory: LongMemory
  #firstCell = NO_CELL
  #lastCell = NO_CELL
  /** Whether one of the points in cells is BAD. */
  #hasBad = false
  /** The points, when they are not in cells. */
  #long: LongPoints | null = null
  /** `null` as long as all points came in order. */
  #late: LatePoints | null = null
  /** Grows whenever points are added or taken away, or the memory is another one. */
  #changes = 0

  constructor({ cells, long }: PointMemory) {
    this.#cells = cells
    this.#longMemory = long
  }

  /**
   * Those of some columns, merged in steps between which the caller may yield to the event loop.
   * @param runs  in time order, none empty, at least one; a later one counts before an earlier one
   */
  static *ofRuns(memory: PointMemory, runs: readonly PointColumns[]): Generator<void, TagPoints> {
    const merged = new TagPoints(memory)
    const count = runs.reduce((sum, { times }) => sum + times.length, 0)
    if (count <= MOST_IN_CELLS) {
      const points = mergeRuns(runs)
      merged.#addToCells(points, 0, points.times.length)
      return merged
    }
    const long = new LongPoints(memory.long, count)
    merged.#long = long
    const hasBad = runs.some(({ statuses }) => statuses.includes(STATUS_BAD))
    const merge = new RunMerge(runs, () => long.room(count, hasBad))
    while (!merge.step(POINTS_OF_STEP)) yield
    const { times } = merge.points
    long.length = times.length
    merged.#length = times.length
    merged.#last = times[times.length - 1]!
    return merged
  }

  /** Adds points with index from start to end, in any order; a later one replaces an earlier one of the same time. */
  add(points: PointColumns, start: number, end: number): void {
    this.#changes++
    const most = this.#length + end - start
    if (this.#long !== null) this.#long.reserve(most)
    else if (most > MOST_IN_CELLS) this.#lengthen(most)
    for (let index = start; index < end; ) {
      index = this.#addNewer(points, index, end)
      if (index < end) index = this.#addLate(points, index, end)
    }
  }

  /** Adds points as long as each is newer than the one before; gives the index of the first one that is not. */
  #addNewer(points: PointColumns, start: number, end: number): number {
    const long = this.#long
    if (long === null) return this.#addToCells(points, start, end)
    const stop = long.addNewer(points, start, end, this.#last)
    if (stop > start) this.#last = points.times[stop - 1]!
    this.#length = long.length
    return stop
  }

  #addToCells({ times, values, statuses }: PointColumns, start: number, end: number): number {
    let last = this.#last
    let index = start
    while (index < end && times[index]! > last) {
      const at = this.#length % CELL_POINTS
      const cell = at === 0 ? this.#addCell() : this.#lastCell
      const { doubles, words } = this.#cells.slabOf(cell)
      const first = firstDouble(cell)
      const stop = Math.min(end, index + CELL_POINTS - at)
      let place = at
      for (; index < stop; index++, place++) {
        const time = times[index]!
        if (!(time > last)) break
        doubles[first + place] = time
        doubles[first + CELL_POINTS + place] = values[index]!
        if (statuses[index] !== STATUS_OK) {
          words[badWord(cell)]! |= 1 << place
          this.#hasBad = true
        }
        last = time
      }
      this.#length += place - at
    }
    this.#last = last
    return index
  }

  #addCell(): number {
    const cell = this.#cells.take()
    if (this.#firstCell === NO_CELL) this.#firstCell = cell
    else this.#cells.slabOf(this.#lastCell).words[nextWord(this.#lastCell)] = cell
    this.#lastCell = cell
    return cell
  }

  /** Points that are not newer than the last one, from index `start` on; gives where they end. */
  #addLate(points: PointColumns, start: number, end: number): number {
    let stop = start + 1
    while (stop < end && !(points.times[stop]! > this.#last)) stop++
    this.#late ??= new LatePoints(this.#cells)
    this.#late.add(points, start, stop)
    return stop
  }

  /**
   * The points in time order, one per time. Not to be changed; stays as it is when more arrive.
   */
  columns(): SummedColumns {
    this.#mergeLate()
    return this.#long === null ? this.#fromCells() : this.#long.giveOut()
  }

  /** The same, until points arrive or are taken away, or `release`. */
  #lend(): PointColumns {
    this.#mergeLate()
    return this.#inOrder()
  }

  /** Points that are late replace those that were in their place when they came. */
  #mergeLate(): void {
    if (this.#late !== null) this.#take(mergePoints(this.#inOrder(), this.#late.sorted()))
  }

  /**
   * Brings late points in order in steps, between which the caller may yield to the event loop. Ends early where points
   * are added or taken away meanwhile, or somebody looks at all of them: `columns` does what is left.
   */
  *sortInSteps(): Generator<void, void> {
    if (this.#late === null) return
    const changes = this.#changes
    const merge = new RunMerge(this.#runs(this.#inOrder()))
    while (!merge.step(POINTS_OF_STEP)) {
      yield
      if (this.#changes !== changes) return
    }
    yield
    if (this.#changes === changes) this.#take(merge.points)
  }

  /** Points that came in order and those that are late, none empty; a later one counts before an earlier one. */
  #runs(inOrder: PointColumns): readonly PointColumns[] {
    const late = this.#late?.sortedRuns() ?? []
    return inOrder.times.length === 0 ? late : [inOrder, ...late]
  }

  /** Time of the last point, after which others are added at the end; NaN where some are late. */
  get last(): number {
    return this.#late === null ? this.#last : Number.NaN
  }

  /** Time of the first of those that came in order, of which there is one. */
  get first(): number {
    if (this.#long !== null) return this.#long.lend().times[0]!
    return this.#cells.slabOf(this.#firstCell).doubles[firstDouble(this.#firstCell)]!
  }

  /** How many there are, those of late points that replace others among them. */
  get count(): number {
    return this.#length + (this.#late?.length ?? 0)
  }

  /**
   * Adds the points to a batch, those that count behind others of their time.
   * @returns false when it has no room for them: then nothing was added
   */
  copyTo(batch: PointBatch): boolean {
    if (this.count > batch.room) return false
    if (this.#long !== null) batch.add(this.#long.lend(), 0, this.#length)
    else {
      const at = batch.take(this.#length)
      copyCells(this.#cells, this.#firstCell, this.#length, this.#hasBad, batch.columns, at)
    }
    this.#late?.copyTo(batch)
    return true
  }

  /** The points as a handful of columns in time order, of which a later one counts before an earlier one. */
  pin(): PinnedRuns {
    const long = this.#long
    return { runs: this.#runs(long === null ? this.#fromCells() : long.pin()), unpin: () => long?.unpin() }
  }

  /** Gives its memory back, when nobody asks it for anything any more. */
  release(): void {
    this.#changes++
    this.#cells.giveBack(this.#firstCell)
    this.#firstCell = NO_CELL
    this.#lastCell = NO_CELL
    this.#hasBad = false
    this.#long?.release()
    this.#long = null
    this.#late?.release()
    this.#late = null
    this.#length = 0
    this.#last = Number.NEGATIVE_INFINITY
  }

  /** The same where the cells of all tags are given back together. */
  releaseLong(): void {
    this.#long?.release()
  }

  /** Takes points in spans away, which are joined. */
  remove(spans: readonly Span[]): void {
    const points = this.#lend()
    const kept = without(points, spans)
    if (kept !== points) this.#take(kept)
  }

  /** Goes on with these points, copied, and nothing else. */
  #take(points: PointColumns): void {
    const length = points.times.length
    if (length <= MOST_IN_CELLS) {
      this.release()
      this.#addToCells(points, 0, length)
      return
    }
    // Before the old memory is given back: the points may lie there.
    const long = new LongPoints(this.#longMemory, Math.ceil(length * 1.25))
    long.set(points)
    this.release()
    this.#long = long
    this.#length = length
    this.#last = points.times[length - 1]!
  }

  /** Moves the points out of their cells, into memory for so many in all. */
  #lengthen(capacity: number): void {
    const points = this.#inOrder()
    this.#cells.giveBack(this.#firstCell)
    this.#firstCell = NO_CELL
    this.#lastCell = NO_CELL
    this.#length = points.times.length
    this.#long = new LongPoints(this.#longMemory, capacity)
    this.#long.set(points)
  }

  /** The points that came in order, lent. */
  #inOrder(): PointColumns {
    return this.#long === null ? this.#fromCells() : this.#long.lend()
  }

  #fromCells(): PointColumns {
    return columnsOfCells(this.#cells, this.#firstCell, this.#length, this.#hasBad)
  }
}
