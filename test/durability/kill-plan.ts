import { makeColumns, type PointColumns } from '../../src/series/columns.ts'

/** Writers that write at the same time, each into tags of its own, the next request after the acknowledgement of the one before. */
export const WRITERS = 4

/** Tags of one request: they get points at the end, points in between, and the same times again and again. */
export const TAGS_OF_WRITER = ['append', 'backfill', 'overwrite'] as const

/** The points of one request for one of the tags; all values are the sequence number, from 1. */
export function pointsOfRequest(tag: number, sequence: number): PointColumns {
  // Mostly small ones, and now and then one that fills several blocks.
  const count = tag === 2 ? 200 : sequence % 17 === 0 ? 9_000 : 1 + (sequence % 40)
  const columns = makeColumns(count)
  for (let i = 0; i < count; i++) {
    columns.times[i] = timeOf(tag, sequence, i)
    columns.values[i] = sequence
  }
  return columns
}

function timeOf(tag: number, sequence: number, index: number): number {
  if (tag === 0) return sequence * 10_000 + index
  // Spread over all of the time, in an order that is not that of time.
  if (tag === 1) return ((sequence * 7_919) % 1_000) * 10_000 + index * 1_003
  return index * 50
}
