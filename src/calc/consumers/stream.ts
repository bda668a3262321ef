import { lowerBound } from '../../series/columns.ts'
import { type Instant, instantFromUs } from '../../time/instant.ts'
import type { ChunkRange } from '../graph/chunk.ts'
import type { Evaluation, Pace } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'

/** A whole range as it is streamed. */
export function wholeRange(
  from: number,
  to: number,
  operator: Pick<Operator, 'width'>,
  evaluation: Evaluation,
): ChunkRange {
  const range = { from: instantFromUs(from), to: instantFromUs(to) } satisfies { from: Instant; to: Instant }
  return { ...range, order: 'asc', page: evaluation.pagePoints(operator.width), extent: 'all' }
}

/** Values at ascending times, worked out from chunks: for operators that no historian can work out pointwise. */
export async function valuesFromChunks(
  operator: Pick<Operator, 'chunks' | 'width'>,
  times: Float64Array,
  evaluation: Evaluation,
): Promise<Float64Array> {
  const values = new Float64Array(times.length).fill(Number.NaN)
  if (times.length === 0) return values
  const stream = operator.chunks(wholeRange(times[0]!, times.at(-1)! + 1, operator, evaluation))
  for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
    const [start, end] = [lowerBound(times, chunk.from), lowerBound(times, chunk.to)]
    const [column, within] = [values.subarray(start, end), times.subarray(start, end)]
    await setValues(column, within, (part) => chunk.valuesAt(part, 'at'), evaluation)
    await evaluation.pause()
  }
  return values
}

/** Puts values at ascending times into a column, cooperatively. @param pace of the same values of other times */
export function setValues(
  values: Float64Array,
  times: Float64Array,
  valuesAt: (times: Float64Array) => Float64Array,
  evaluation: Evaluation,
  pace?: Pace,
): Promise<void> {
  const work = (from: number, to: number) => values.set(valuesAt(times.subarray(from, to)), from)
  return evaluation.inSteps(times.length, work, pace)
}
