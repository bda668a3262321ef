import { type PointColumns, STATUS_OK } from '../../series/columns.ts'
import { mergePoints } from '../sort-points.ts'
import { Head, MOST_IN_CELLS } from './head.ts'
import type { HeadMemory } from './long-memory.ts'

/**
 * What is in memory of one tag: its points of the epoch that is being folded and of the one that takes points, and its newest point,
 * wherever that is stored.
 */
export class TagHead {
  folding: Head | null = null
  active: Head | null = null
  /** Whether `newest...` are those of the tag's newest point; time -Infinity when it has none. */
  knowsNewest = false
  newestTime = Number.NEGATIVE_INFINITY
  newestValue = 0
  newestStatus: number = STATUS_OK
  /** All points in memory, as long as they are the same; only of many, as few are copied sooner than they are kept. */
  #columns: PointColumns | null = null

  /** Points from index start to end arrive in the active epoch. */
  add(points: PointColumns, start: number, end: number, memory: HeadMemory): void {
    this.active ??= new Head(memory)
    this.active.add(points, start, end)
    this.#columns = null
    if (this.knowsNewest) this.#addNewest(points, start, end)
  }

  #addNewest({ times, values, statuses }: PointColumns, start: number, end: number): void {
    let newest = -1
    let time = this.newestTime
    for (let i = start; i < end; i++) {
      if (times[i]! >= time) {
        time = times[i]!
        newest = i
      }
    }
    if (newest >= 0) this.setNewest(time, values[newest]!, statuses[newest]!)
  }

  setNewest(time: number, value: number, status: number): void {
    this.newestTime = time
    this.newestValue = value
    this.newestStatus = status
    this.knowsNewest = true
  }

  /** Takes points of [from, to) away, in blocks too as far as the newest one is concerned. */
  remove(from: number, to: number): void {
    this.folding?.remove(from, to)
    this.active?.remove(from, to)
    this.#columns = null
    this.knowsNewest = false
  }

  /** The active points are to be folded, and what arrives from now on is not. */
  seal(): void {
    this.folding = this.active
    this.active = null
  }

  /** What was being folded stands in blocks. */
  dropFolding(): void {
    this.folding?.release()
    this.folding = null
    this.#columns = null
  }

  /** What was being folded up to a time stands in blocks. */
  dropFoldingUntil(time: number): void {
    this.folding?.dropUntil(time)
    this.#columns = null
  }

  /** What was to be folded arrives again, with what came since. */
  takeBack(memory: HeadMemory): void {
    const points = this.columns()
    this.folding?.release()
    this.active?.release()
    this.folding = null
    this.active = new Head(memory)
    if (points !== null) this.active.add(points, 0, points.times.length)
    this.#columns = null
  }

  /** All points in memory, in time order, one per time; `null` without any. Not to be changed. */
  columns(): PointColumns | null {
    if (this.#columns !== null) return this.#columns
    const { folding, active } = this
    if (folding === null && active === null) return null
    const columns =
      folding === null
        ? active!.columns()
        : active === null
          ? folding.columns()
          : mergedColumns(folding, active)
    // After a removal a head can be empty.
    if (columns.times.length === 0) return null
    if (columns.times.length > MOST_IN_CELLS) this.#columns = columns
    return columns
  }
}

function mergedColumns(older: Head, newer: Head): PointColumns {
  const [base, over] = [older.lend(), newer.lend()]
  // Merged with nothing they are not copied.
  if (over.times.length === 0) return older.columns()
  return base.times.length === 0 ? newer.columns() : mergePoints(base, over)
}
