import type { CallContext, InterpolationQuery } from '../../historian/contract.ts'
import { interpolate } from '../../series/interpolate.ts'
import type { BoundingValues } from '../../series/reads.ts'
import type { Addresses } from './aggregates.ts'
import { notUnderstood } from './errors.ts'
import { byExtrapolationLimit } from './extrapolation-limits.ts'
import type { Instance } from './instance.ts'
import { ask, type LabelRequest } from './labels.ts'
import { gridRuns, type Run } from './runs.ts'
import { endText, gapDetail, readColumns, timeText } from './wire.ts'

/** Times in more runs than this are worked out here, from the good points beside them. */
const MOST_RUNS = 64

/** Good points beside the same times of several tags. */
export type BoundingValuesOf = (
  tags: readonly string[],
  times: Float64Array,
) => Promise<readonly BoundingValues[]>

/**
 * Interpolated values: an even grid is one label, a few runs of equal steps (days across a change of the clocks) a
 * label each, and times without any order are worked out here.
 */
export async function readInterpolated(
  instance: Instance,
  queries: readonly InterpolationQuery[],
  addresses: Addresses,
  boundingValuesOf: BoundingValuesOf,
  context: CallContext,
): Promise<readonly Float64Array[]> {
  const results: Float64Array[] = queries.map(({ times }) => new Float64Array(times.length).fill(Number.NaN))
  const runsByTimes = new Map<Float64Array, readonly Run[]>()
  const runsOf = (times: Float64Array) =>
    runsByTimes.getOrInsertComputed(times, () => (times.length === 0 ? [] : gridRuns(times)))
  const irregular = new Map<Float64Array, number[]>()
  for (const [now, group] of byExtrapolationLimit(queries)) {
    const parts: { readonly index: number; readonly run: Run; readonly label: LabelRequest }[] = []
    for (const { query, index } of group) {
      const runs = runsOf(query.times)
      if (runs.length > MOST_RUNS) irregular.getOrInsertComputed(query.times, () => []).push(index)
      else for (const run of runs) parts.push({ index, run, label: labelOf(query, run, addresses) })
    }
    const labels = parts.map(({ label }) => label)
    const answers = await ask(instance, labels, { kind: 'read', now }, context)
    parts.forEach(({ index, run }, i) => {
      const answer = answers[i]!
      if (answer === null) return
      const points = readColumns(answer.dataPoints)
      if (points?.values.length !== run.end - run.start + 1) {
        throw notUnderstood(instance.historian, 'it has another number of points')
      }
      results[index]!.set(points.values, run.start)
    })
  }
  for (const [times, indexes] of irregular) {
    const tags = indexes.map((index) => queries[index]!.tag)
    const boundingValues = await boundingValuesOf(tags, times)
    indexes.forEach((index, i) => {
      results[index] = interpolate(boundingValues[i]!, times, queries[index]!)
    })
  }
  return results
}

function labelOf(query: InterpolationQuery, { start, end }: Run, addresses: Addresses): LabelRequest {
  const { times } = query
  return {
    type: 'INTERPOLATED_POINTS',
    tag: addresses.signal(query),
    details: {
      from: timeText(times[start]!),
      to: endText(times[end]!),
      count: end - start + 1,
      ...gapDetail(query),
    },
  }
}
