import type { CallContext } from '../../historian/contract.ts'
import type { Instance } from './instance.ts'
import { ask, type LabelRequest } from './labels.ts'

/** Results of labels; `null` for a tag that does not exist. */
export type Answers = readonly (Readonly<Record<string, unknown>> | null)[]

/** Queries by the end of the hold, which is a call's `now`: mostly all have the same. */
export function byExtrapolationLimit<Query extends { readonly holdUntil: number }>(
  queries: readonly Query[],
) {
  const groups = new Map<number, { readonly query: Query; readonly index: number }[]>()
  queries.forEach((query, index) => {
    groups.getOrInsertComputed(query.holdUntil, () => []).push({ query, index })
  })
  return groups
}

/** What `resultOf` makes of the answers to the labels of each query; one call for those of an extrapolation limit. */
export async function askForEach<Query extends { readonly holdUntil: number }, Result>(
  instance: Instance,
  queries: readonly Query[],
  labelsOf: (query: Query) => readonly LabelRequest[],
  resultOf: (query: Query, answers: Answers) => Result,
  context: CallContext,
): Promise<readonly Result[]> {
  const results: Result[] = new Array(queries.length)
  for (const [now, group] of byExtrapolationLimit(queries)) {
    const labels = group.map(({ query }) => labelsOf(query))
    const answers = await ask(instance, labels.flat(), { kind: 'read', now }, context)
    let at = 0
    group.forEach(({ query, index }, i) => {
      const count = labels[i]!.length
      results[index] = resultOf(query, answers.slice(at, at + count))
      at += count
    })
  }
  return results
}
