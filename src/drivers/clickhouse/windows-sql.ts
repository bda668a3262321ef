import { quoteInt } from './quote.ts'

/** Windows of any lengths that one query tells apart: by a comparison with each edge. */
const MAX_COMPARED_WINDOWS = 64

/** What stays within an Int64 with room to spare. */
const LARGEST_PRODUCT = 4e18

/**
 * SQL that gives the number, from 0, of the window that `time` lies in; only for times from the first edge to before
 * the last.
 * @param edges  n + 1 ascending instants for n windows [edge, next edge)
 * @returns      `null` when the windows are too many for how unequal they are, and have to be halved
 */
export function windowSql(edges: Float64Array): string | null {
  const count = edges.length - 1
  if (count === 1) return 'toUInt32(0)'
  const even = evenSql(edges)
  if (even !== null) return even
  if (count > MAX_COMPARED_WINDOWS) return null
  const steps = Array.from(edges.subarray(1, -1), (edge) => `(time >= ${quoteInt(edge)})`)
  return `toUInt32(${steps.join(' + ')})`
}

/**
 * For edges that are an even grid, rounded to whole microseconds in whatever way: edge i is the first edge plus the
 * whole part of (i * span + shift) / count for some shift, and solving that for i is one division, exact in whole
 * numbers.
 */
function evenSql(edges: Float64Array): string | null {
  const count = edges.length - 1
  const first = edges[0]!
  const span = edges[count]! - first
  if ((span + 1) * count > LARGEST_PRODUCT) return null
  const [wholeCount, wholeSpan] = [BigInt(count), BigInt(span)]
  let least = 0n
  let most = wholeCount - 1n
  for (let i = 1; i < count; i++) {
    const off = BigInt(edges[i]! - first) * wholeCount - BigInt(i) * wholeSpan
    if (off > least) least = off
    if (off + wholeCount - 1n < most) most = off + wholeCount - 1n
    if (least > most) return null
  }
  return `toUInt32(intDiv((time - ${quoteInt(first)} + 1) * ${count} - ${least + 1n}, ${wholeSpan}))`
}

/** Windows that one query can tell apart. */
export interface WindowChunk {
  readonly edges: Float64Array
  readonly sql: string
  /** Number of its first window among all. */
  readonly start: number
}

/** Edges in chunks that `windowSql` can take, each beginning with the last edge of the one before. */
export function chunks(edges: Float64Array): readonly WindowChunk[] {
  const found: WindowChunk[] = []
  const cut = (from: number, to: number) => {
    const part = edges.subarray(from, to + 1)
    const sql = windowSql(part)
    if (sql !== null) found.push({ edges: part, sql, start: from })
    else {
      const middle = (from + to) >>> 1
      cut(from, middle)
      cut(middle, to)
    }
  }
  if (edges.length > 1) cut(0, edges.length - 1)
  return found
}
