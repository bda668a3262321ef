import type { WriteBatch } from '../../../historian/contract.ts'
import { pointsOfTag } from '../../../historian/write-batch.ts'
import { concatColumns, type PointColumns } from '../../../series/columns.ts'

/** Rows of the table of points: ordered by tag and time, distinct. */
export interface PointRows {
  readonly ids: Float64Array
  readonly times: Float64Array
  readonly values: Float64Array
  readonly statuses: Uint8Array
}

/**
 * A batch as rows, by tag and then time: the order of the primary key, in which all writers take their rows, so that no
 * two of them wait for each other. Of points with the same tag and time the last one of the batch is kept, as one
 * statement may touch a row only once.
 */
export function pointsById(batch: WriteBatch, idOf: (name: string) => number): PointRows {
  const parts = new Map<number, PointColumns[]>()
  batch.tags.forEach((name, index) => {
    const points = pointsOfTag(batch, index)
    if (points.times.length > 0) parts.getOrInsertComputed(idOf(name), () => []).push(points)
  })
  const ordered = [...parts.entries()]
    .sort(([a], [b]) => a - b)
    .map(([id, columns]) => ({ id, points: lastOfEachTime(concatColumns(columns)) }))
  const rows = concatColumns(ordered.map(({ points }) => points))
  const ids = new Float64Array(rows.times.length)
  let at = 0
  for (const { id, points } of ordered) {
    ids.fill(id, at, at + points.times.length)
    at += points.times.length
  }
  return { ids, ...rows }
}

function lastOfEachTime(points: PointColumns): PointColumns {
  const { times, values, statuses } = points
  if (isAscending(times)) return points
  // The sort is stable, so that of equal times the last one given comes last.
  const order = Array.from(times.keys()).sort((a, b) => times[a]! - times[b]!)
  const kept = order.filter((at, i) => times[at] !== times[order[i + 1] ?? -1])
  return {
    times: Float64Array.from(kept, (at) => times[at]!),
    values: Float64Array.from(kept, (at) => values[at]!),
    statuses: Uint8Array.from(kept, (at) => statuses[at]!),
  }
}

function isAscending(times: Float64Array): boolean {
  for (let i = 1; i < times.length; i++) if (times[i]! <= times[i - 1]!) return false
  return true
}
