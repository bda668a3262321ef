import { isCorrupt } from '../../errors/tidemark-error.ts'
import {
  concatColumns,
  NO_POINTS,
  type PointColumns,
  reverseColumns,
  sliceColumns,
} from '../../series/columns.ts'
import type { RangeResult } from '../../series/reads.ts'
import type { Chunk } from '../graph/chunk.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'
import type { RawRange } from '../graph/point-source.ts'

/** A page of raw points of any operator, in the order of its range. */
export async function rawPoints(
  operator: Operator,
  range: RawRange,
  evaluation: Evaluation,
): Promise<RangeResult> {
  return operator.rawPoints?.(range) ?? rawPointsFromChunks(operator, range, evaluation)
}

/** A page of raw points that may lack what is damaged. */
export interface IntactPoints extends RangeResult {
  /** What kept the page from being read as a whole; `null` when nothing did. */
  readonly damage: unknown
}

/** The same; of a stored tag what can be read where a part is damaged. Rejects with STORAGE_CORRUPT elsewhere. */
export async function intactPoints(
  operator: Operator,
  range: RawRange,
  evaluation: Evaluation,
): Promise<IntactPoints> {
  try {
    return { ...(await rawPoints(operator, range, evaluation)), damage: null }
  } catch (error) {
    if (!isCorrupt(error) || operator.intactPoints === undefined) throw error
    return { ...(await operator.intactPoints(range)), damage: error }
  }
}

/** The same from chunks. */
export async function rawPointsFromChunks(
  operator: Operator,
  range: RawRange,
  evaluation: Evaluation,
): Promise<RangeResult> {
  const { from, to, limit, order } = range
  // One point more than requested shows that there are more, and one can be held back at the cut.
  const stream = operator.chunks({ from, to, order, page: limit + 2, extent: 'first', rawOnly: true })
  const parts: PointColumns[] = []
  let count = 0
  while (count <= limit) {
    const chunk = await stream.next()
    if (chunk === null) break
    parts.push(chunk.raw)
    count += chunk.raw.times.length
    await evaluation.pause()
    // Points without a value are not passed by up to the end of the range where none with one comes any more.
    if (operator.isNeverBad && chunk.raw.times.length === 0 && !(await goesOn(operator, chunk, range))) break
  }
  if (count === 0) return { points: NO_POINTS, more: false }
  const points = order === 'asc' ? concatColumns(parts) : reverseColumns(concatColumns(parts.reverse()))
  return { points: sliceColumns(points, 0, limit), more: count > limit }
}

/** Whether a point with a value may come between a chunk and the end of a range. */
async function goesOn(operator: Operator, chunk: Chunk, { from, to, order }: RawRange): Promise<boolean> {
  return order === 'asc'
    ? chunk.to < to && operator.mayHaveValue('after-or-at', chunk.to)
    : chunk.from > from && operator.mayHaveValue('before', chunk.from)
}
