import type { Instant } from '../../../time/instant.ts'
import type { CurrentPoint, OperatorContext } from '../../graph/operator.ts'
import { GeneratedLeaf } from '../../leaves/generated.ts'

/** Leaf: 0 before an instant and 1 from it on, with raw points at it and one microsecond before it. */
export class TimeStepLeaf extends GeneratedLeaf {
  readonly #step: Instant

  constructor(step: Instant, context: OperatorContext) {
    super(
      {
        stepped: true,
        linear: true,
        valueAt: (at, side) => Number(side === 'at' ? at >= step : at > step),
        rawAtOrBefore: (at) => (at >= step ? step : at === step - 1 ? at : Number.NEGATIVE_INFINITY),
        rawAfter: (at) => (at < step - 1 ? step - 1 : at < step ? step : Number.POSITIVE_INFINITY),
        countRaw: (from, to) => Number(from <= step - 1 && step - 1 < to) + Number(from <= step && step < to),
      },
      'TIME_THRESHOLD',
      context,
    )
    this.#step = step
  }

  /** Has no timestamp of its own: what is chosen between has. */
  override async currentPoint(_find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint> {
    return { time: null, value: Number(at >= this.#step), bad: false }
  }
}
