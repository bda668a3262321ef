import type { Comparisons } from '../../series/reads.ts'
import type { ReadColumns } from './native.ts'
import { quoteDouble, quoteInt } from './quote.ts'
import type { SegmentRow, SegmentStatement } from './segment-reads.ts'

/** Points of a segment that comparisons need. */
export interface ComparedPoints extends SegmentRow {
  readonly times: Float64Array
  readonly values: Float64Array
  readonly statuses: Float64Array
  /** Of each its number among all points of the segment: where one is missing, points were left out. */
  readonly places: Float64Array
}

const KINDS = {
  tag: 'bigint',
  window_: 'number',
  count_: 'number',
  place_: 'number',
  time_: 'number',
  value_: 'number',
  status_: 'number',
} as const

/**
 * SQL for a number that is the same for values which compare with all thresholds alike, from 0; a value that is
 * a threshold has one of its own.
 */
export function classSql(value: string, thresholds: readonly number[]): string {
  const compared = [...new Set(thresholds)].map(
    (threshold) => `(${value} >= ${quoteDouble(threshold)}) + (${value} > ${quoteDouble(threshold)})`,
  )
  return `toInt32(${compared.join(' + ')})`
}

/**
 * The points that comparisons need, no more of a segment than `most`: those that compare as the points on both sides
 * do, none of them BAD and none too far, are left out. BAD points stay.
 * @param firstRows rows of the first segment; later ones have more
 */
export function comparedPoints(
  { thresholds, maxGapUs }: Comparisons,
  most: number,
  firstRows: number,
): SegmentStatement<typeof KINDS, ComparedPoints> {
  const isNear =
    maxGapUs === undefined ? '' : ` AND t - t0 <= ${quoteInt(maxGapUs)} AND t1 - t <= ${quoteInt(maxGapUs)}`
  // Of the first point and of the last one the neighbour on one side is not known: they stay.
  const classes =
    'classes_, arrayConcat([toInt32(-2)], arrayPopBack(classes_)), arrayConcat(arrayPopFront(classes_), [toInt32(-2)])'
  const times =
    'times_, arrayConcat([times_[1]], arrayPopBack(times_)), arrayConcat(arrayPopFront(times_), [times_[-1]])'
  const keep =
    maxGapUs === undefined
      ? `arrayMap((k, k0, k1) -> NOT (k >= 0 AND k = k0 AND k = k1), ${classes})`
      : `arrayMap((k, k0, k1, t, t0, t1) -> NOT (k >= 0 AND k = k0 AND k = k1${isNear}), ${classes}, ${times})`
  const kept = (array: string) => `arraySlice(arrayFilter((one, keep) -> keep, ${array}, keep_), 1, ${most})`
  return {
    kinds: KINDS,
    isBuffered: true,
    firstRows,
    sql: (grouped) => {
      const sorted = grouped(
        'count() AS count_, arraySort(groupArray(time)) AS times_, ' +
          'arraySort((one, at) -> at, groupArray(value), groupArray(time)) AS values_, ' +
          'arraySort((one, at) -> at, groupArray(status), groupArray(time)) AS statuses_',
      )
      const classed =
        'SELECT tag, window_, count_, times_, values_, statuses_, ' +
        `arrayMap((v, s) -> if(s = 0, ${classSql('v', thresholds)}, toInt32(-1)), values_, statuses_) AS classes_ FROM (${sorted})`
      const marked = `SELECT tag, window_, count_, times_, values_, statuses_, ${keep} AS keep_ FROM (${classed})`
      const found =
        `SELECT tag, window_, count_, ${kept('arrayEnumerate(times_)')} AS places_, ${kept('times_')} AS keptTimes_, ` +
        `${kept('values_')} AS keptValues_, ${kept('statuses_')} AS keptStatuses_ FROM (${marked})`
      return (
        `SELECT ${Object.keys(KINDS).join(', ')} FROM (${found}) ARRAY JOIN places_ AS place_, keptTimes_ AS time_, ` +
        'keptValues_ AS value_, keptStatuses_ AS status_ ORDER BY tag, window_, time_'
      )
    },
    rowsOf,
  }
}

function rowsOf(rows: ReadColumns<typeof KINDS>): readonly ComparedPoints[] {
  const found: ComparedPoints[] = []
  for (let start = 0; start < rows.rows; ) {
    let end = start + 1
    while (end < rows.rows && rows.tag[end] === rows.tag[start] && rows.window_[end] === rows.window_[start])
      end++
    found.push({
      id: String(rows.tag[start]),
      count: rows.count_[start]!,
      times: rows.time_.subarray(start, end),
      values: rows.value_.subarray(start, end),
      statuses: rows.status_.subarray(start, end),
      places: rows.place_.subarray(start, end),
    })
    start = end
  }
  return found
}
