import type { CompensatedSum } from '../../../series/sum.ts'
import type { Instant } from '../../../time/instant.ts'
import type { AnchoredWindows } from '../../../time/total-windows.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import type { Operator } from '../../graph/operator.ts'

/** What an anchored total is made of. */
export interface TotalSource {
  readonly input: Operator
  readonly evaluation: Evaluation
  readonly windows: AnchoredWindows
  readonly rateUs: number
  /** Raw points at the ends of the request's range. */
  readonly rangeEnds: readonly number[]
  /** Integral of the input over one span, as a sum that can go on. */
  integral(from: Instant, to: Instant): Promise<CompensatedSum>
}
