import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../series/columns.ts'
import { badWord, CELL_POINTS, type Cells, firstDouble, NO_CELL, nextWord } from './cells.ts'
import { allOk } from './long-points.ts'

/** Points in the order in which they came, in cells: no memory that the garbage collector has to give back. */
export class CellList {
  length = 0
  readonly #cells: Cells
  #first = NO_CELL
  #last = NO_CELL
  #hasBad = false

  constructor(cells: Cells) {
    this.#cells = cells
  }

  /** Adds points with index from start to end, copied. */
  add({ times, values, statuses }: PointColumns, start: number, end: number): void {
    for (let index = start; index < end; ) {
      const at = this.length % CELL_POINTS
      if (at === 0) this.#addCell()
      const cell = this.#last
      const { doubles, words } = this.#cells.slabOf(cell)
      const first = firstDouble(cell)
      const stop = Math.min(end, index + CELL_POINTS - at)
      this.length += stop - index
      for (let place = at; index < stop; index++, place++) {
        doubles[first + place] = times[index]!
        doubles[first + CELL_POINTS + place] = values[index]!
        if (statuses[index] === STATUS_OK) continue
        words[badWord(cell)]! |= 1 << place
        this.#hasBad = true
      }
    }
  }

  /** The points, copied. */
  columns(): PointColumns {
    return columnsOfCells(this.#cells, this.#first, this.length, this.#hasBad)
  }

  /** Copies the points into columns. @param at  where the first one goes */
  copy(to: PointColumns, at: number): void {
    copyCells(this.#cells, this.#first, this.length, this.#hasBad, to, at)
  }

  /** Gives the memory back: it has no points then. */
  release(): void {
    this.#cells.giveBack(this.#first)
    this.#first = NO_CELL
    this.#last = NO_CELL
    this.#hasBad = false
    this.length = 0
  }

  #addCell(): void {
    const cell = this.#cells.take()
    if (this.#first === NO_CELL) this.#first = cell
    else this.#cells.slabOf(this.#last).words[nextWord(this.#last)] = cell
    this.#last = cell
  }
}

/** The first points of a list of cells, copied. Statuses that are all OK are shared, not to be changed. */
export function columnsOfCells(cells: Cells, first: number, count: number, hasBad: boolean): PointColumns {
  const both = new Float64Array(2 * count)
  const times = both.subarray(0, count)
  const values = both.subarray(count)
  copyDoubles(cells, first, count, times, values, 0)
  const statuses = hasBad ? new Uint8Array(count) : allOk(count)
  if (hasBad) copyBad(cells, first, count, statuses, 0)
  return { times, values, statuses }
}

/** Copies the first points of a list of cells into columns. @param at  where the first one goes */
export function copyCells(
  cells: Cells,
  first: number,
  count: number,
  hasBad: boolean,
  { times, values, statuses }: PointColumns,
  at: number,
): void {
  copyDoubles(cells, first, count, times, values, at)
  statuses.fill(STATUS_OK, at, at + count)
  if (hasBad) copyBad(cells, first, count, statuses, at)
}

function copyDoubles(
  cells: Cells,
  first: number,
  count: number,
  times: Float64Array,
  values: Float64Array,
  at: number,
): void {
  let cell = first
  for (let index = 0; index < count; index += CELL_POINTS) {
    const { doubles, words } = cells.slabOf(cell)
    const from = firstDouble(cell) - index
    const end = Math.min(count, index + CELL_POINTS)
    for (let point = index; point < end; point++) {
      times[at + point] = doubles[from + point]!
      values[at + point] = doubles[from + CELL_POINTS + point]!
    }
    cell = words[nextWord(cell)]!
  }
}

/** The statuses are all OK before. */
function copyBad(cells: Cells, first: number, count: number, statuses: Uint8Array, at: number): void {
  let cell = first
  for (let index = 0; index < count; index += CELL_POINTS) {
    const { words } = cells.slabOf(cell)
    const bad = words[badWord(cell)]!
    const end = Math.min(count, index + CELL_POINTS)
    for (let point = index; point < end; point++) {
      if ((bad & (1 << (point - index))) !== 0) statuses[at + point] = STATUS_BAD
    }
    cell = words[nextWord(cell)]!
  }
}
