import type { FunctionDefinition } from './define-function.ts'
import { type ElementwiseRule, ElementwiseSeries } from './elementwise.ts'
import type { Series } from './series.ts'

/** Builds an elementwise function of a list of series. */
export function elementwiseOver(list: string, rule: ElementwiseRule): FunctionDefinition['build'] {
  return (args, context, name) => new ElementwiseSeries(rule, args.seriesList(list), name, context)
}

/** Combines the inputs of each time from left to right; a NaN among them makes the result NaN. */
export function fold(combine: (left: number, right: number) => number): ElementwiseRule['combine'] {
  return (inputs, result) => {
    result.set(inputs[0]!)
    for (let n = 1; n < inputs.length; n++) {
      const input = inputs[n]!
      for (let i = 0; i < result.length; i++) result[i] = combine(result[i]!, input[i]!)
    }
  }
}

/** Whether a series keeps its value between two raw points. */
export function isHeld(series: Series): boolean {
  return series.stepped && series.straight
}

/** Whether all of a function's inputs keep their values between two raw points, so that its result does. */
export function areHeld(inputs: readonly Series[]): boolean {
  return inputs.every(isHeld)
}

/** Builds an elementwise function of a fixed number of series, given to the rule in the order of their names. */
export function elementwiseOf(
  parameters: readonly string[],
  rule: ElementwiseRule,
): FunctionDefinition['build'] {
  return (args, context, name) =>
    new ElementwiseSeries(
      rule,
      parameters.map((parameter) => args.series(parameter)),
      name,
      context,
    )
}

/** Computes each result from one input. */
export function each(compute: (x: number) => number): ElementwiseRule['combine'] {
  return ([input], result) => {
    for (let i = 0; i < result.length; i++) result[i] = compute(input![i]!)
  }
}

/** Computes each result from two inputs. */
export function pairs(compute: (a: number, b: number) => number): ElementwiseRule['combine'] {
  return ([left, right], result) => {
    for (let i = 0; i < result.length; i++) result[i] = compute(left![i]!, right![i]!)
  }
}
