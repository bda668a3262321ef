import type { ZoneMap } from '../../series/zone-map.ts'
import type { ReadColumns } from './native.ts'
import { quoteInt } from './quote.ts'
import type { SegmentRow, SegmentStatement } from './segment-reads.ts'

/** What is read of segments beside counts and moments. */
export interface SegmentUses {
  /** Times of the least and the greatest good point. */
  readonly extremes: boolean
  /** Integrals as a linear signal, as a stepped one. */
  readonly linear: boolean
  readonly stepped: boolean
  /** How long these are zero. */
  readonly zero: boolean
  readonly rises: boolean
  readonly transitions: boolean
  /** How long good points were the last ones, up to the next point of any status. */
  readonly durations: boolean
  /** How long a good point is good for; left out for no limit. */
  readonly maxGapUs?: number
}

/** A segment with what the server knows of its points. */
export interface SignalSums extends SegmentRow {
  readonly summary: ZoneMap
}

const GOOD = 'status = 0'

const MOMENT_KINDS = {
  tag: 'bigint',
  count_: 'number',
  good_: 'number',
  firstTime_: 'number',
  lastTime_: 'number',
  firstGood_: 'number',
  lastGood_: 'number',
  sum_: 'number',
  variance_: 'number',
  min_: 'number',
  max_: 'number',
  first_: 'number',
  last_: 'number',
} as const

const MOMENTS =
  `count() AS count_, countIf(${GOOD}) AS good_, min(time) AS firstTime_, max(time) AS lastTime_, ` +
  `minIf(time, ${GOOD}) AS firstGood_, maxIf(time, ${GOOD}) AS lastGood_, ` +
  `sumKahanIf(value, ${GOOD}) AS sum_, varPopStableIf(value, ${GOOD}) AS variance_, ` +
  `minIf(value, ${GOOD}) AS min_, maxIf(value, ${GOOD}) AS max_, ` +
  `argMinIf(value, time, ${GOOD}) AS first_, argMaxIf(value, time, ${GOOD}) AS last_`

const EXTREMES =
  // Pairs are compared by what comes first in them; of equal values the earlier time decides.
  `argMinIf(time, (value, time), ${GOOD}) AS minTime, argMaxIf(time, (value, -time), ${GOOD}) AS maxTime`

/** Good points of a segment in the order of time. */
const GOOD_POINTS =
  `arraySort(groupArrayIf(time, ${GOOD})) AS times_, ` +
  `arraySort((one, at) -> at, groupArrayIf(value, ${GOOD}), groupArrayIf(time, ${GOOD})) AS values_`

/** All of them, with their statuses. */
const ALL_POINTS =
  'arraySort(groupArray(time)) AS all_, arraySort((one, at) -> at, groupArray(status), groupArray(time)) AS statuses_'

/** Numbers that only some reads take, under the names that summaries have for them. */
type Extra = keyof ZoneMap &
  (
    | 'minTime'
    | 'maxTime'
    | 'linear'
    | 'stepped'
    | 'linearTime'
    | 'steppedTime'
    | 'zeroTime'
    | 'nonZeroTime'
    | 'increase'
    | 'transitions'
    | 'goodTime'
  )

/** Sums over each good point and the next one: `t0`, `v0` and `t1`, `v1` in SQL. */
function stepSums({ linear, stepped, zero, rises, transitions, maxGapUs }: SegmentUses): readonly Sum[] {
  const step = '(t1 - t0)'
  // A linear signal has no value between points that are too far apart, a stepped one keeps its value so long.
  const gap = maxGapUs === undefined ? null : quoteInt(maxGapUs)
  const onLine = gap === null ? step : `if(${step} <= ${gap}, ${step}, 0)`
  const onStep = gap === null ? step : `least(${step}, ${gap})`
  const sums: Sum[] = []
  if (linear) sums.push(['linear', `${onLine} * (v0 / 2 + v1 / 2)`])
  if (linear && gap !== null) sums.push(['linearTime', onLine])
  if (linear && zero) sums.push(['zeroTime', `${onLine} * (v0 = 0 AND v1 = 0)`])
  if (stepped) sums.push(['stepped', `${onStep} * v0`])
  if (stepped && gap !== null) sums.push(['steppedTime', onStep])
  if (stepped && zero) sums.push(['nonZeroTime', `${onStep} * (v0 != 0)`])
  // A fall counts as a restart at 0.
  if (rises) sums.push(['increase', 'if(v1 >= v0, v1 - v0, v1)'])
  if (transitions) sums.push(['transitions', '(v0 = 0) != (v1 = 0)'])
  return sums
}

type Sum = readonly [name: Extra, sql: string]

/** Whether the server must sort the points of a segment. */
function isBuffered({ linear, stepped, rises, transitions, durations }: SegmentUses): boolean {
  return linear || stepped || rises || transitions || durations
}

/** What reads of signals and of points in their order take of segments: the arrays stay at the server. */
export function signalSums(uses: SegmentUses): SegmentStatement<typeof MOMENT_KINDS, SignalSums> {
  const sums = stepSums(uses)
  const columns = [MOMENTS]
  if (uses.extremes) columns.push(EXTREMES)
  if (sums.length > 0) columns.push(GOOD_POINTS)
  if (uses.durations) columns.push(ALL_POINTS)
  const extras: readonly Sum[] = [
    ...(uses.extremes ? (['minTime', 'maxTime'] as const).map((name): Sum => [name, name]) : []),
    ...sums.map(([name, sql]): Sum => [name, sumOverSteps(sql)]),
    ...(uses.durations ? [['goodTime', GOOD_TIME] as const] : []),
  ]
  const extraKinds: Readonly<Record<string, 'number'>> = Object.fromEntries(
    extras.map(([name]) => [name, 'number'] as const),
  )
  return {
    kinds: { ...MOMENT_KINDS, ...extraKinds },
    isBuffered: isBuffered(uses),
    sql: (grouped) => {
      const selected = [...Object.keys(MOMENT_KINDS), ...extras.map(([name, sql]) => `${sql} AS ${name}`)]
      return `SELECT ${selected.join(', ')} FROM (${grouped(columns.join(', '))}) ORDER BY tag, window_`
    },
    rowsOf: (rows) =>
      Array.from({ length: rows.rows }, (_, i) => ({
        id: String(rows.tag[i]),
        count: rows.count_[i]!,
        summary: summaryOf(rows, extras, i, uses.maxGapUs),
      })),
  }
}

/** Lambdas have parameters for the arrays that they use alone: what else they name is copied for each element. */
function sumOverSteps(sql: string): string {
  const arrays = {
    t0: 'arrayPopBack(times_)',
    t1: 'arrayPopFront(times_)',
    v0: 'arrayPopBack(values_)',
    v1: 'arrayPopFront(values_)',
  }
  const used = Object.entries(arrays).filter(([name]) => sql.includes(name))
  const names = used.map(([name]) => name).join(', ')
  return `arraySum(arrayMap((${names}) -> ${sql}, ${used.map(([, array]) => array).join(', ')}))`
}

const GOOD_TIME =
  'arraySum(arrayMap((t0, t1, s0) -> (t1 - t0) * (s0 = 0), arrayPopBack(all_), arrayPopFront(all_), arrayPopBack(statuses_)))'

function summaryOf(
  rows: ReadColumns<typeof MOMENT_KINDS>,
  extras: readonly Sum[],
  i: number,
  maxGapUs: number | undefined,
): ZoneMap {
  const numGood = rows.good_[i]!
  const found: { [name in Extra]?: number } = {}
  for (const [name] of extras) found[name] = (rows as unknown as Record<Extra, Float64Array>)[name][i]!
  return {
    count: rows.count_[i]!,
    numGood,
    firstTime: rows.firstTime_[i]!,
    lastTime: rows.lastTime_[i]!,
    // Of no good point the server gives 0, which is a time.
    firstGoodTime: numGood === 0 ? Number.NaN : rows.firstGood_[i]!,
    lastGoodTime: numGood === 0 ? Number.NaN : rows.lastGood_[i]!,
    sum: rows.sum_[i]!,
    mean: rows.sum_[i]! / numGood,
    meanRest: 0,
    squares: numGood === 1 ? 0 : rows.variance_[i]! * numGood,
    min: rows.min_[i]!,
    max: rows.max_[i]!,
    first: rows.first_[i]!,
    last: rows.last_[i]!,
    linear: 0,
    stepped: 0,
    ...(maxGapUs !== undefined && { maxGapUs }),
    ...found,
  }
}
