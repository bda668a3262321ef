import { allTimes } from '../../series/columns.ts'
import { SpanIntegrator } from '../../series/integrate.ts'
import type { Integrals } from '../../series/reads.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'
import type { Segments } from './join-segments.ts'
import { readSegments } from './segments.ts'

/** Integrals of any operator over spans that do not overlap, ascending. */
export async function integralsOf(
  operator: Operator,
  starts: Float64Array,
  ends: Float64Array,
  evaluation: Evaluation,
): Promise<Integrals> {
  return operator.integrals?.(starts, ends) ?? integralsFromChunks(operator, starts, ends, evaluation)
}

/** The same from raw points, whatever a historian could work out. */
export async function integralsFromChunks(
  operator: Operator,
  starts: Float64Array,
  ends: Float64Array,
  evaluation: Evaluation,
): Promise<Integrals> {
  const integrator = new SpanIntegrator(starts, ends)
  const from = starts[0]
  const to = ends.at(-1)
  if (from !== undefined && to !== undefined && from < to) {
    const take = (segments: Segments) => addSegments(integrator, segments)
    await readSegments(operator, evaluation, from, to, take, { edges: allTimes([starts, ends]) })
  }
  return integrator.result()
}

/** Feeds what takes linear segments with those where the signal has a value. */
export function addSegments(
  integrator: Pick<SpanIntegrator, 'segment'>,
  { times, at, before }: Segments,
): void {
  for (let i = 1; i < times.length; i++) {
    const value1 = at[i - 1]!
    const value2 = before[i]!
    if (!Number.isNaN(value1) && !Number.isNaN(value2)) {
      integrator.segment(times[i - 1]!, value1, times[i]!, value2)
    }
  }
}
