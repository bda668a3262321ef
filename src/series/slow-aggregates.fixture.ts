import type { AggregateName } from './aggregate-names.ts'

/** Aggregates beyond the first fourteen by loops over arrays and microseconds, which share no code with the engine. */

/** A point as one would write it down. */
export type SlowRow = readonly [time: number, value: number, bad?: boolean]

/** A series as one would write it down. */
export interface Slow {
  readonly stepped: boolean
  readonly points: readonly { readonly time: number; readonly value: number; readonly bad: boolean }[]
  /** Value at t; null for none. */
  at(t: number): number | null
  /** Limit from the left. */
  before(t: number): number | null
}

/** @param gap how long a good point is good for; 0 for no limit */
export function slowTag(rows: readonly SlowRow[], stepped: boolean, holdUntil: number, gap: number): Slow {
  const limit = gap === 0 ? Number.POSITIVE_INFINITY : gap
  const good = rows.filter(([, , bad]) => !bad)
  const line = (t: number, isLimit: boolean): number | null => {
    const last = good.findLast(([time]) => (isLimit ? time < t : time <= t))
    if (last === undefined) return null
    if (last[0] === t) return last[1]
    const next = good.find(([time]) => time >= t)
    // Just before the end of what a point is good for it still holds.
    const isGood = t - last[0] < limit || (isLimit && t - last[0] === limit)
    if (next === undefined) return t <= holdUntil && isGood ? last[1] : null
    if (stepped ? next[0] - last[0] > limit && !isGood : next[0] - last[0] > limit) return null
    return stepped ? last[1] : last[1] + ((next[1] - last[1]) * (t - last[0])) / (next[0] - last[0])
  }
  return {
    stepped,
    points: rows.map(([time, value, bad]) => ({ time, value, bad: bad === true })),
    at: (t) => line(t, false),
    before: (t) => line(t, true),
  }
}

export function slowAggregates(series: Slow, from: number, to: number, now: number) {
  const { points, at, before } = series
  const inside = points.filter(({ time }) => time >= from && time < to)
  const good = inside.filter(({ bad }) => !bad)
  const values = good.map(({ value }) => value)
  const lastGood = points.findLast(({ time, bad }) => time < from && !bad)?.value
  let area = 0
  let covered = 0
  let coveredToNow = 0
  let zero = 0
  for (let t = from; t < to; t++) {
    const [left, right] = [at(t), before(t + 1)]
    if (left === null || right === null) continue
    area += (left + right) / 2
    covered++
    if (t < now) coveredToNow++
    if (left === 0 && right === 0) zero++
  }
  let goodUs = 0
  let badUs = 0
  for (let t = from; t < Math.min(to, now); t++) {
    const last = points.findLast(({ time }) => time <= t)
    if (last?.bad === true) badUs++
    if (last?.bad === false) goodUs++
  }
  let transitions = 0
  let previous = lastGood
  for (const value of values) {
    if (previous !== undefined && (previous === 0) !== (value === 0)) transitions++
    previous = value
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const varP = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  const [start, end] = [at(from), before(to)]
  const length = Math.min(to, now) - from
  const timeOf = (value: number) => good.find((point) => point.value === value)?.time ?? null
  return {
    total: covered === 0 ? null : area,
    delta: values.length === 0 ? null : values.at(-1)! - values[0]!,
    increase: slowIncrease(series, values, from, to, lastGood),
    startBound: start,
    endBound: end,
    deltaBounds: start === null || end === null ? null : end - start,
    minTime: timeOf(Math.min(...values)),
    maxTime: timeOf(Math.max(...values)),
    stdDevP: values.length === 0 ? null : Math.sqrt(varP),
    varP: values.length === 0 ? null : varP,
    durationGood: goodUs / 1e6,
    durationBad: badUs / 1e6,
    coverage: length <= 0 ? null : (coveredToNow / length) * 100,
    percentGood: inside.length === 0 ? null : (good.length / inside.length) * 100,
    percentBad: inside.length === 0 ? null : (1 - good.length / inside.length) * 100,
    numTransitions: transitions,
    durationZero: zero / 1e6,
    durationNonZero: (covered - zero) / 1e6,
    worstStatus: inside.length === 0 ? null : Number(inside.some(({ bad }) => bad)),
  } satisfies { readonly [name in AggregateName]?: number | null }
}

function slowIncrease(
  { at, before, stepped }: Slow,
  good: readonly number[],
  from: number,
  to: number,
  last?: number,
) {
  if (at(from) === null && good.length === 0) return null
  let level = before(from) ?? last ?? at(from)
  let sum = 0
  good.forEach((value, i) => {
    const isRestart = i === 0 ? last !== undefined && value < last : value < level!
    if (isRestart) sum += value
    else if (level !== null) sum += value < level ? value : value - level
    level = value
  })
  const end = before(to)
  return !stepped && end !== null && end > level! ? sum + end - level! : sum
}
