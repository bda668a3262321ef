import { isHeld } from './arithmetic.ts'
import { type Comparison, comparisonRule } from './comparison.ts'
import { CrossingSeries } from './crossing-series.ts'
import { ElementwiseSeries } from './elementwise.ts'
import type { Series, SeriesContext } from './series.ts'

/**
 * The answer to a comparison of two series at each time: 1 or 0, held between its raw points.
 * @param name the same only for equal series in equal contexts
 */
export function compare(
  comparison: Comparison,
  a: Series,
  b: Series,
  name: string,
  context: SeriesContext,
): Series {
  return isHeld(a) && isHeld(b)
    ? new ElementwiseSeries(comparisonRule(comparison), [a, b], name, context)
    : new CrossingSeries(comparison, a, b, name, context)
}
