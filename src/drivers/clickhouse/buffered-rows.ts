import type { RangeStats } from './point-table.ts'
import { chunks, type WindowChunk } from './windows-sql.ts'

/** Rows whose times and values the server holds at once in arrays; longer ranges are read in chunks. */
const MAX_HELD_ROWS = 2_000_000

/** Edges with more of them between, so that no segment makes the server hold too many points. */
export function refined(edges: Float64Array, stats: readonly RangeStats[], rows: number): Float64Array {
  if (rows <= MAX_HELD_ROWS) return edges
  const from = Math.max(edges[0]!, Math.min(...stats.map(({ firstTime }) => firstTime)))
  const to = Math.min(edges[edges.length - 1]!, Math.max(...stats.map(({ lastTime }) => lastTime)) + 1)
  // Four times as many as evenly dense points would need.
  const count = Math.ceil((rows / MAX_HELD_ROWS) * 4)
  const more = Array.from({ length: count - 1 }, (_, i) => Math.round(from + ((to - from) * (i + 1)) / count))
  return Float64Array.from([...new Set([...edges, ...more])].sort((a, b) => a - b))
}

/** Chunks for one query each: as the windows' SQL wants them, and cut where too many rows would be held at once. */
export function chunksOf(edges: Float64Array, rows: number): readonly WindowChunk[] {
  const cuts = Math.max(1, Math.ceil(rows / MAX_HELD_ROWS))
  const windows = edges.length - 1
  const step = Math.max(1, Math.ceil(windows / cuts))
  const found: WindowChunk[] = []
  for (let start = 0; start < windows; start += step) {
    found.push(...chunks(edges.subarray(start, Math.min(windows, start + step) + 1)))
  }
  return found
}

/**
 * Chunks of one window, the first of them with about so many rows and each later one with twice as many as the one
 * before, for reads that may have enough of it early.
 */
export function growingChunks(
  edges: Float64Array,
  stats: readonly RangeStats[],
  rows: number,
  firstRows: number,
): readonly WindowChunk[] {
  const from = Math.max(edges[0]!, Math.min(...stats.map(({ firstTime }) => firstTime)))
  const to = Math.min(edges.at(-1)!, Math.max(...stats.map(({ lastTime }) => lastTime)) + 1)
  const cuts: number[] = [from]
  // Points that are less evenly dense are still few enough.
  const most = MAX_HELD_ROWS / 4
  let size = Math.min(firstRows, most)
  for (let done = size; done < rows; done += size) {
    cuts.push(Math.round(from + (to - from) * (done / rows)))
    size = Math.min(2 * size, most)
  }
  cuts.push(to)
  const distinct = [...new Set(cuts)]
  return distinct.slice(1).flatMap((end, i) => chunks(Float64Array.of(distinct[i]!, end)))
}
