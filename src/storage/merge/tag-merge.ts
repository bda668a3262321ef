import { lowerBound, type PointColumns, sliceColumns } from '../../series/columns.ts'
import { mergePoints } from '../blocks/merge-points.ts'
import { ColumnsMemory } from '../blocks/sort-memory.ts'
import { isCut, isWithin, type Span, without } from '../blocks/spans.ts'
import type { InputRun } from './merge-input.ts'

/** The points of a tag in an input, and what is taken from them. */
export interface CutRun {
  readonly run: InputRun
  readonly cuts: readonly Span[]
}

/** Takes the merged points of a tag in time order, which are lent to it for the call. */
export interface MergeSink {
  /** Takes a compressed block over as it is; false when its points are needed, which then come. */
  takeBlock(run: InputRun, block: number, isOnly: boolean): boolean
  takePoints(points: PointColumns): void
}

/** Called now and then. */
export type Pause = () => Promise<void> | null

/**
 * Merges the points of a tag. In memory is at most one decoded block of each run. Throws InputDamage.
 * @param runs  later ones win
 */
export async function mergeTag(runs: readonly CutRun[], sink: MergeSink, pauseIfDue: Pause): Promise<void> {
  if (runs.every(({ run }) => run.small !== null)) {
    mergeSmall(runs, sink)
    return
  }
  const cursors = runs.map((run) => new Cursor(run))
  for (;;) {
    const first = earliest(cursors)
    if (first === null) return
    const others = cursors.reduce(
      (time, cursor) => (cursor === first ? time : Math.min(time, cursor.time)),
      Number.POSITIVE_INFINITY,
    )
    if (!first.isDecoded) {
      if (first.isAlone(others) && sink.takeBlock(first.run, first.block, runs.length === 1))
        first.nextBlock()
      else first.decode()
    } else mergeUntil(cursors, first, sink)
    const pause = pauseIfDue()
    if (pause !== null) await pause
  }
}

/** For merged points until a sink has taken them: two in turn, as what two runs made is merged with a third one. */
let memory = new ColumnsMemory()
let otherMemory = new ColumnsMemory()

function nextMemory(count: number): PointColumns {
  const next = otherMemory
  otherMemory = memory
  memory = next
  return next.columns(count)
}

function mergeSmall(runs: readonly CutRun[], sink: MergeSink): void {
  let merged: PointColumns | null = null
  for (const { run, cuts } of runs) {
    const points = without(run.small!, cuts)
    if (points.times.length > 0) merged = merged === null ? points : mergePoints(merged, points, nextMemory)
  }
  if (merged !== null) sink.takePoints(merged)
}

function earliest(cursors: readonly Cursor[]): Cursor | null {
  let first: Cursor | null = null
  for (const cursor of cursors) {
    if (cursor.time < (first?.time ?? Number.POSITIVE_INFINITY)) first = cursor
  }
  return first
}

/** Merges what is decoded up to where something else begins. */
function mergeUntil(cursors: readonly Cursor[], first: Cursor, sink: MergeSink): void {
  let until = Number.POSITIVE_INFINITY
  for (const cursor of cursors) until = Math.min(until, cursor.isDecoded ? cursor.decodedEnd : cursor.time)
  if (until <= first.time) {
    cursors.find((cursor) => !cursor.isDecoded && cursor.time === until)!.decode()
    return
  }
  let merged: PointColumns | null = null
  for (const cursor of cursors) {
    if (!cursor.isDecoded) continue
    const points = cursor.takeUntil(until)
    if (points.times.length > 0) merged = merged === null ? points : mergePoints(merged, points, nextMemory)
  }
  sink.takePoints(merged!)
}

/** Where a run is read: before a block, or within one that is decoded. */
class Cursor {
  readonly run: InputRun
  readonly #cuts: readonly Span[]
  block = 0
  #points: PointColumns | null = null
  #at = 0
  /** Of the next point, or before it; Infinity at the end. */
  time: number

  constructor({ run, cuts }: CutRun) {
    this.run = run
    this.#cuts = cuts
    this.time = this.#goTo(0)
  }

  get isDecoded(): boolean {
    return this.#points !== null
  }

  /** Behind the last decoded point; instants are whole. */
  get decodedEnd(): number {
    const { times } = this.#points!
    return times[times.length - 1]! + 1
  }

  /** Whether the block is what it was and nothing of others, of which the next is at `others`, lies within. */
  isAlone(others: number): boolean {
    const last = this.run.blockLast(this.block)
    return last < others && !isCut(this.#cuts, this.run.blockFirst(this.block), last)
  }

  decode(): void {
    const points = without(this.run.points(this.block), this.#cuts)
    if (points.times.length === 0) {
      this.nextBlock()
      return
    }
    this.#points = points
    this.#at = 0
    this.time = points.times[0]!
  }

  nextBlock(): void {
    this.#points = null
    this.time = this.#goTo(this.block + 1)
  }

  /** Goes to a block, or to the next one of which anything is left: what is taken away wholly is not read. */
  #goTo(first: number): number {
    const { run } = this
    let block = first
    while (block < run.blocks && isWithin(this.#cuts, run.blockFirst(block), run.blockLast(block))) block++
    this.block = block
    return block < run.blocks ? run.blockFirst(block) : Number.POSITIVE_INFINITY
  }

  takeUntil(until: number): PointColumns {
    const points = this.#points!
    const start = this.#at
    const end = lowerBound(points.times, until)
    if (end === points.times.length) this.nextBlock()
    else {
      this.#at = end
      this.time = points.times[end]!
    }
    return sliceColumns(points, start, end)
  }
}
