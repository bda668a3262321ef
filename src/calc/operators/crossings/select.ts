import type { Operator, OperatorContext } from '../../graph/operator.ts'
import { MapOperator } from '../map/map.ts'
import { isStepped, type MapRule } from '../map/rule.ts'
import { type Comparison, comparisonRule } from './comparison.ts'
import { CrossingOperator } from './crossing.ts'

/** Takes its second input where its first is 1 and its third where it is 0; what is not taken does not matter. */
const SELECT: MapRule = {
  combine: ([condition, whenTrue, whenFalse], result) => {
    for (let i = 0; i < result.length; i++) {
      const holds = condition![i]!
      result[i] = Number.isNaN(holds) ? Number.NaN : holds === 1 ? whenTrue![i]! : whenFalse![i]!
    }
  },
  // The condition switches only at raw points, so between two of them the result is one of the inputs.
  linear: () => true,
  isTotal: true,
  matters: ([condition], index, argument) =>
    argument === 0 || (argument === 1 ? condition![index] === 1 : condition![index] === 0),
}

/**
 * One of two operators at each time. @param condition 1, 0 or without value; step interpolation between its raw points
 */
export function select(
  condition: Operator,
  whenTrue: Operator,
  whenFalse: Operator,
  context: OperatorContext,
): Operator {
  return new MapOperator(SELECT, [condition, whenTrue, whenFalse], context)
}

/** The answer to a comparison of two operators at each time: 1 or 0, with step interpolation between its raw points. */
export function compare(
  comparison: Comparison,
  a: Operator,
  b: Operator,
  context: OperatorContext,
): Operator {
  return isStepped(a) && isStepped(b)
    ? new MapOperator(comparisonRule(comparison), [a, b], context)
    : new CrossingOperator(comparison, a, b, context)
}
