import type { Cell } from './output.ts'
import { stateTimesText } from './state-times.ts'

const EDGES = ['from', 'to', 'partial']

/** Whether all aggregates are wanted, which is what a request without names gives. */
export function isAll(aggregates: readonly string[]): boolean {
  return aggregates.length === 1 && /^all$/i.test(aggregates[0]!)
}

/**
 * The aggregates of a window that a table shows.
 * @param requested names in the order of the columns; all that the window has when left out
 */
export function aggregateNames(
  window: Readonly<Record<string, unknown>>,
  requested: readonly string[] | undefined,
): readonly string[] {
  const fields = Object.keys(window).filter((name) => !EDGES.includes(name))
  if (requested === undefined || isAll(requested)) return fields
  const wanted = requested.map((name) => name.toLowerCase())
  return wanted.flatMap((name) => fields.find((field) => field.toLowerCase() === name) ?? [])
}

/** An aggregate as a cell: a number, a time (MINTIME), the times of states as a text, or nothing. */
export function aggregateCell(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return stateTimesText(value)
  return /^\d{4}-\d\d-\d\dT/.test(value) ? { time: value } : value
}
