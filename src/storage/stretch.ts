import { AggregateAccumulator, type Summary, summarize } from '../series/aggregate.ts'
import { type PointColumns, STATUS_OK } from '../series/columns.ts'
import type { GoodStretch } from '../series/integrate.ts'

/** What is kept of a stretch of stored points: the summary for aggregates, its times, and its signal's integrals. */
export interface Stretch extends Summary, GoodStretch {
  /** Of all points, BAD ones too. */
  readonly firstTime: number
  readonly lastTime: number
}

/** A stretch as doubles: bytes of it. */
export const STRETCH_BYTES = 128
/** Before there was the rest of the mean. */
export const OLD_STRETCH_BYTES = 120

/** Summary of the points with index from start (included) to end (excluded), at least one. */
export function stretchOf(points: PointColumns, start: number, end: number): Stretch {
  return withSignal(summarize(points, start, end), points, start, end)
}

/** The summary of points and what their signal adds to it. */
export function withSignal(summary: Summary, points: PointColumns, start: number, end: number): Stretch {
  const { times, values, statuses } = points
  let firstGoodTime = Number.NaN
  let time = Number.NaN
  let value = 0
  let linear = 0
  let stepped = 0
  for (let i = start; i < end; i++) {
    const next = values[i]!
    if (statuses[i] !== STATUS_OK || Number.isNaN(next)) continue
    const nextTime = times[i]!
    if (!Number.isNaN(time)) {
      const step = nextTime - time
      linear += step * (value / 2 + next / 2)
      stepped += step * value
    } else firstGoodTime = nextTime
    time = nextTime
    value = next
  }
  return {
    ...summary,
    firstTime: times[start]!,
    lastTime: times[end - 1]!,
    firstGoodTime,
    lastGoodTime: time,
    linear,
    stepped,
  }
}

/** Summary of stretches that follow each other, at least one. */
export function joinStretches(stretches: readonly Stretch[]): Stretch {
  const whole = new AggregateAccumulator({ median: false })
  let firstGoodTime = Number.NaN
  let time = Number.NaN
  let value = 0
  let linear = 0
  let stepped = 0
  for (const stretch of stretches) {
    whole.merge(stretch)
    if (stretch.numGood === 0) continue
    if (!Number.isNaN(time)) {
      const step = stretch.firstGoodTime - time
      linear += step * (value / 2 + stretch.first / 2)
      stepped += step * value
    } else firstGoodTime = stretch.firstGoodTime
    linear += stretch.linear
    stepped += stretch.stepped
    time = stretch.lastGoodTime
    value = stretch.last
  }
  return {
    ...whole.summary(),
    firstTime: stretches[0]!.firstTime,
    lastTime: stretches.at(-1)!.lastTime,
    firstGoodTime,
    lastGoodTime: time,
    linear,
    stepped,
  }
}

/**
 * Whether sums and integrals stayed within the range of doubles. Otherwise a summary says less than its points, which
 * are then read.
 */
export function isUsable({ sum, mean, squares, linear, stepped, numGood }: Stretch): boolean {
  return Number.isFinite(sum + squares + linear + stepped) && (numGood === 0 || Number.isFinite(mean))
}

export function writeStretch(target: Float64Array, at: number, stretch: Stretch): void {
  target[at] = stretch.count
  target[at + 1] = stretch.numGood
  target[at + 2] = stretch.firstTime
  target[at + 3] = stretch.lastTime
  target[at + 4] = stretch.sum
  target[at + 5] = stretch.mean
  target[at + 6] = stretch.squares
  target[at + 7] = stretch.min
  target[at + 8] = stretch.max
  target[at + 9] = stretch.firstGoodTime
  target[at + 10] = stretch.first
  target[at + 11] = stretch.lastGoodTime
  target[at + 12] = stretch.last
  target[at + 13] = stretch.linear
  target[at + 14] = stretch.stepped
  target[at + 15] = stretch.meanRest
}

/** @param hasRest  false for one of OLD_STRETCH_BYTES */
export function readStretch(source: Float64Array, at: number, hasRest: boolean): Stretch {
  return {
    count: source[at]!,
    numGood: source[at + 1]!,
    firstTime: source[at + 2]!,
    lastTime: source[at + 3]!,
    sum: source[at + 4]!,
    mean: source[at + 5]!,
    meanRest: hasRest ? source[at + 15]! : 0,
    squares: source[at + 6]!,
    min: source[at + 7]!,
    max: source[at + 8]!,
    firstGoodTime: source[at + 9]!,
    first: source[at + 10]!,
    lastGoodTime: source[at + 11]!,
    last: source[at + 12]!,
    linear: source[at + 13]!,
    stepped: source[at + 14]!,
  }
}
