import { isStepped, type MapRule } from '../map/rule.ts'

/** A question about two values that has yes and no for an answer. */
export interface Comparison {
  readonly holds: (a: number, b: number) => boolean
  /**
   * Linear functions of both values: the answer changes nowhere but where one of them is zero. One, or two that are the
   * edges of a band.
   */
  readonly gaps: readonly ((a: number, b: number) => number)[]
}

/** 1 where a comparison holds, 0 where it does not, and no value where one of the two has none. */
export function answer({ holds }: Comparison, a: number, b: number): number {
  return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : Number(holds(a, b))
}

/** The comparison as a rule over both values. */
export function comparisonRule(comparison: Comparison): MapRule {
  return {
    combine: ([a, b], result) => {
      for (let i = 0; i < result.length; i++) result[i] = answer(comparison, a![i]!, b![i]!)
    },
    // Of held inputs only; others cross in between, which is what CrossingOperator is for.
    linear: (inputs) => inputs.every(isStepped),
    isTotal: true,
  }
}
