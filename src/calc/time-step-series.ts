import type { Instant } from '../time/instant.ts'
import { GeneratedSeries } from './generated-series.ts'
import type { CurrentPoint, SeriesContext } from './series.ts'

/** 0 before an instant and 1 from it on, with raw points at it and one microsecond before it. */
export class TimeStepSeries extends GeneratedSeries {
  readonly #step: Instant

  constructor(step: Instant, context: SeriesContext) {
    super(
      {
        stepped: true,
        straight: true,
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
