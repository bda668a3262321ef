import type { ChartColumn } from '../../historian/remote/chart-column.ts'
import type { GappedColumn } from '../../historian/remote/gapped-plot.ts'
import type { ReadColumns } from './native.ts'
import { quoteInt } from './quote.ts'
import type { SegmentRow, SegmentStatement } from './segment-reads.ts'

/** A column of a chart of one tag, or a part of one. */
export type PlotColumn = ChartColumn & SegmentRow

type GappedPlotColumn = GappedColumn & SegmentRow

const GOOD = 'status = 0'

const PLAIN_KINDS = {
  tag: 'bigint',
  window_: 'number',
  count_: 'number',
  good_: 'number',
  firstTime_: 'number',
  firstGood_: 'number',
  lastGood_: 'number',
  firstBad_: 'number',
  first_: 'number',
  last_: 'number',
  min_: 'number',
  max_: 'number',
  minTime_: 'number',
  maxTime_: 'number',
} as const

const KINDS = { ...PLAIN_KINDS, middleTime_: 'number', middle_: 'number' } as const
const GAP_KINDS = {
  ...KINDS,
  gaps_: 'number',
  firstGap_: 'number',
  lastGap_: 'number',
  minGap_: 'number',
  maxGap_: 'number',
} as const

const SUMS =
  `count() AS count_, countIf(${GOOD}) AS good_, min(time) AS firstTime_, ` +
  `minIf(time, ${GOOD}) AS firstGood_, maxIf(time, ${GOOD}) AS lastGood_, minIf(time, status = 1) AS firstBad_, ` +
  `argMinIf(value, time, ${GOOD}) AS first_, argMaxIf(value, time, ${GOOD}) AS last_, ` +
  `minIf(value, ${GOOD}) AS min_, maxIf(value, ${GOOD}) AS max_, ` +
  // Pairs are compared by what comes first in them; of equal values the earlier time decides.
  `argMinIf(time, (value, time), ${GOOD}) AS minTime_, argMaxIf(time, (value, -time), ${GOOD}) AS maxTime_, ` +
  // All of them where there are no more than three.
  `groupArrayIf(3)(time, ${GOOD}) AS times_, groupArrayIf(3)(value, ${GOOD}) AS values_`

const PLAIN = Object.keys(PLAIN_KINDS).join(', ')

const MIDDLE =
  // Of three times the one that is neither the first nor the last.
  'arraySum(times_) - firstGood_ - lastGood_ AS middleTime_, values_[indexOf(times_, middleTime_)] AS middle_'

/** Columns that hold points. */
export function plotColumns(): SegmentStatement<typeof KINDS, PlotColumn> {
  return {
    kinds: KINDS,
    isBuffered: false,
    sql: (grouped) => `SELECT ${PLAIN}, ${MIDDLE} FROM (${grouped(SUMS)}) ORDER BY tag, window_`,
    rowsOf: (rows) => Array.from({ length: rows.rows }, (_, i) => columnOf(rows, i)),
  }
}

/**
 * The same, perhaps in parts, with where points are further apart than `maxGapUs` after those that a chart may show.
 */
export function plotColumnsWithGaps(maxGapUs: number): SegmentStatement<typeof GAP_KINDS, GappedPlotColumn> {
  return {
    kinds: GAP_KINDS,
    isBuffered: true,
    sql: (grouped) => {
      const sorted = grouped(`${SUMS}, arraySort(groupArrayIf(time, ${GOOD})) AS sorted_`)
      const ends =
        `arrayFilter((t0, t1) -> t1 - t0 > ${quoteInt(maxGapUs)}, ` +
        'arrayPopBack(sorted_), arrayPopFront(sorted_)) AS ends_'
      return (
        `SELECT ${PLAIN}, ${MIDDLE}, length(ends_) AS gaps_, ends_[1] AS firstGap_, ends_[-1] AS lastGap_, ` +
        'arrayFirst(at -> at >= minTime_, ends_) AS minGap_, arrayFirst(at -> at >= maxTime_, ends_) AS maxGap_ ' +
        `FROM (SELECT ${PLAIN}, times_, values_, ${ends} FROM (${sorted})) ORDER BY tag, window_`
      )
    },
    rowsOf: (rows) =>
      Array.from({ length: rows.rows }, (_, i) => {
        const hasGap = rows.gaps_[i]! > 0
        const hasAfter = (time: number) => hasGap && rows.lastGap_[i]! >= time
        return {
          ...columnOf(rows, i),
          gaps: [
            hasGap ? rows.firstGap_[i]! : null,
            hasAfter(rows.minTime_[i]!) ? rows.minGap_[i]! : null,
            hasAfter(rows.maxTime_[i]!) ? rows.maxGap_[i]! : null,
          ],
        }
      }),
  }
}

function columnOf(rows: ReadColumns<typeof KINDS>, i: number): PlotColumn {
  return {
    id: String(rows.tag[i]),
    count: rows.count_[i]!,
    numGood: rows.good_[i]!,
    firstTime: rows.firstTime_[i]!,
    firstGoodTime: rows.firstGood_[i]!,
    first: rows.first_[i]!,
    lastGoodTime: rows.lastGood_[i]!,
    last: rows.last_[i]!,
    min: rows.min_[i]!,
    max: rows.max_[i]!,
    minTime: rows.minTime_[i]!,
    maxTime: rows.maxTime_[i]!,
    firstBadTime: rows.firstBad_[i]!,
    middle: { time: rows.middleTime_[i]!, value: rows.middle_[i]! },
  }
}
