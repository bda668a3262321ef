import type { BuildFunction } from '../../functions/define.ts'
import { MapOperator } from './map.ts'
import type { MapRule } from './rule.ts'

export { areStepped, isStepped } from './rule.ts'

/** Builds a pointwise function of a list of series. */
export function elementwiseOver(list: string, rule: MapRule): BuildFunction {
  return (args, context) => new MapOperator(rule, args.seriesList(list), context)
}

/** Builds a pointwise function of a fixed number of series, given to the rule in the order of their names. */
export function elementwiseOf(parameters: readonly string[], rule: MapRule): BuildFunction {
  return (args, context) =>
    new MapOperator(
      rule,
      parameters.map((parameter) => args.series(parameter)),
      context,
    )
}

/** Combines the inputs of each time from left to right; a NaN among them makes the result NaN. */
export function fold(combine: (left: number, right: number) => number): MapRule['combine'] {
  return (inputs, result) => {
    result.set(inputs[0]!)
    for (let n = 1; n < inputs.length; n++) {
      const input = inputs[n]!
      for (let i = 0; i < result.length; i++) result[i] = combine(result[i]!, input[i]!)
    }
  }
}

/** Computes each result from one input. */
export function each(compute: (x: number) => number): MapRule['combine'] {
  return ([input], result) => {
    for (let i = 0; i < result.length; i++) result[i] = compute(input![i]!)
  }
}

/** Computes each result from two inputs. */
export function pairs(compute: (a: number, b: number) => number): MapRule['combine'] {
  return ([left, right], result) => {
    for (let i = 0; i < result.length; i++) result[i] = compute(left![i]!, right![i]!)
  }
}
