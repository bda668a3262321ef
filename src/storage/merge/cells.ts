import { monthOf, monthStart } from './months.ts'

/**
 * Calendar cells in which parts are cut: a month, a quarter, a year, ten years, a hundred years (UTC); in months. All
 * parts are cut at the same places, so that those of different layers in one cell can be merged without the rest.
 */
const CELL_MONTHS = [1, 3, 12, 120, 1_200] as const

/** The smallest cell that holds all of [first, last], as text; `null` when none does. Times in microseconds. */
export function cellOf(first: number, last: number): string | null {
  const from = monthOf(first)
  const to = monthOf(last)
  for (const months of CELL_MONTHS) {
    const cell = Math.floor(from / months)
    if (Math.floor(to / months) === cell) return `${months}:${cell}`
  }
  return null
}

/** Whether nothing that lies in [first, last] is ever cut apart. Times in microseconds. */
export function isOneMonth(first: number, last: number): boolean {
  return monthOf(first) === monthOf(last)
}

/**
 * Where to cut: around each cell that holds more bytes than that beside what smaller ones of its have that are cut out.
 * @param monthBytes  by number of the month
 * @returns           microseconds, ascending; a cut stands before the first point after it
 */
export function cutsOf(monthBytes: ReadonlyMap<number, number>, partitionBytes: number): readonly number[] {
  const cuts = new Set<number>()
  let left = new Map(monthBytes)
  for (const months of CELL_MONTHS) {
    const cells = new Map<number, number>()
    for (const [month, bytes] of left) {
      const cell = Math.floor(month / months)
      cells.set(cell, (cells.get(cell) ?? 0) + bytes)
    }
    const heavy = new Set<number>()
    for (const [cell, bytes] of cells) {
      if (bytes <= partitionBytes) continue
      heavy.add(cell)
      cuts.add(monthStart(cell * months)).add(monthStart((cell + 1) * months))
    }
    left = new Map([...left].filter(([month]) => !heavy.has(Math.floor(month / months))))
  }
  return [...cuts].sort((a, b) => a - b)
}
