import { type ElementwiseRule, ElementwiseSeries } from './elementwise.ts'
import type { Series, SeriesContext } from './series.ts'

/** Takes its second input where its first is 1 and its third where it is 0; what is not taken does not matter. */
const SELECT: ElementwiseRule = {
  combine: ([condition, whenTrue, whenFalse], result) => {
    for (let i = 0; i < result.length; i++) {
      const holds = condition![i]!
      result[i] = Number.isNaN(holds) ? Number.NaN : holds === 1 ? whenTrue![i]! : whenFalse![i]!
    }
  },
  // The condition switches only at raw points, so between two of them the result is one of the inputs.
  straight: () => true,
  matters: ([condition], index, argument) =>
    argument === 0 || (argument === 1 ? condition![index] === 1 : condition![index] === 0),
}

/**
 * One of two series at each time.
 * @param condition  1, 0 or without value; held between its raw points
 * @param name       the same only for equal series in equal contexts
 */
export function select(
  condition: Series,
  whenTrue: Series,
  whenFalse: Series,
  name: string,
  context: SeriesContext,
): Series {
  return new ElementwiseSeries(SELECT, [condition, whenTrue, whenFalse], name, context)
}
