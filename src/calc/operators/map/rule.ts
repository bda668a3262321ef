import type { Traits } from '../../graph/operator.ts'

/** A function of the values that its arguments have at the same time. */
export interface MapRule {
  /**
   * Writes the results for many times at once. NaN stands for no value, in and out; what is not finite becomes NaN by
   * itself.
   * @param inputs  one column for each argument, in order; not to be changed
   * @param result  as long as they are
   */
  readonly combine: (inputs: readonly Float64Array[], result: Float64Array) => void
  /** Whether the result is piecewise linear between raw points, given arguments that are; see Traits.linear. */
  readonly linear: (inputs: readonly Traits[]) => boolean
  /**
   * Set where the result is a monotone function of one argument, the first or any, while all others are numbers: in the
   * arithmetic of doubles, which a single operation keeps and compensated sums need not.
   */
  readonly monotone?: 'first' | 'any'
  /** Set where there is a result of any finite arguments, unless it is out of range. */
  readonly isTotal?: true
  /** Set when arguments without a value are left out, and only without any of them there is no value. */
  readonly leavesNullsOut?: true
  /**
   * Whether an argument has a say in the result that these inputs have at one index; all have, when this is left out.
   * One that has none may be BAD or have no current point without any harm. The first argument always has one, and
   * without its value there is no result.
   */
  readonly matters?: (inputs: readonly Float64Array[], index: number, argument: number) => boolean
}

/** Whether a signal keeps its value between two raw points. */
export function isStepped({ stepped, linear }: Traits): boolean {
  return stepped && linear
}

/** Whether all arguments keep their values between two raw points, so that the result does. */
export function areStepped(inputs: readonly Traits[]): boolean {
  return inputs.every(isStepped)
}
