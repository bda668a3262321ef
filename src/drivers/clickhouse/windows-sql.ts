import { quoteInt } from './quote.ts'

/** Windows whose number a server finds for a time: at most so many in one query where they are not equally long. */
export const MAX_LISTED_WINDOWS = 2_048
const MAX_COUNTED_WINDOWS = 64

/**
 * SQL that gives the number, from 0, of the window that `time` lies in; only for times from the first edge to before the last.
 * @param edges  n + 1 ascending instants for n windows [edge, next edge)
 * @returns      `null` when the windows are too many for how unequal they are, and have to be halved
 */
export function windowSql(edges: Float64Array): string | null {
  const count = edges.length - 1
  const first = edges[0]!
  const length = edges[1]! - first
  if (count === 1) return 'toUInt32(0)'
  if (isUniform(edges, length)) return `toUInt32(intDiv(time - ${quoteInt(first)}, ${quoteInt(length)}))`
  if (count <= MAX_COUNTED_WINDOWS) {
    return `toUInt32(arrayCount(edge -> edge <= time, ${list(edges)}) - 1)`
  }
  if (count > MAX_LISTED_WINDOWS) return null
  // Days with clock changes, months, and grids that were rounded are nearly uniform: a guess by their mean is beside
  // the right window by one at most, and two comparisons put it right.
  const mean = Math.max(1, Math.floor((edges[count]! - first) / count))
  const guess = (time: number) => Math.min(count - 1, Math.floor((time - first) / mean))
  for (let i = 0; i < count; i++) {
    if (Math.abs(guess(edges[i]!) - i) > 1 || Math.abs(guess(edges[i + 1]! - 1) - i) > 1) return null
  }
  const at = `least(intDiv(time - ${quoteInt(first)}, ${mean}), ${count - 1})`
  const edgeList = list(edges)
  return `toUInt32(${at} - if(time < arrayElement(${edgeList}, toUInt32(${at} + 1)), 1, 0) + if(time >= arrayElement(${edgeList}, toUInt32(${at} + 2)), 1, 0))`
}

function isUniform(edges: Float64Array, length: number): boolean {
  for (let i = 1; i < edges.length; i++) if (edges[i]! - edges[i - 1]! !== length) return false
  return true
}

function list(edges: Float64Array): string {
  return `[${Array.from(edges, quoteInt).join(',')}]`
}

/** Edges in pieces that `windowSql` can take, each beginning with the last edge of the one before; with where it begins. */
export function pieces(
  edges: Float64Array,
): readonly { readonly edges: Float64Array; readonly sql: string; readonly start: number }[] {
  const found: { edges: Float64Array; sql: string; start: number }[] = []
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
