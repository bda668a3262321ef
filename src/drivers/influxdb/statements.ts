import type { SeriesField } from './layout.ts'
import { quoteIdentifier, quoteString } from './quote.ts'

/** Nanoseconds of 64 bits end here; no point is beyond, and no instant of the interface either. */
const FIRST_US = -9_223_372_036_854_770
const END_US = 9_223_372_036_854_770

/** `FROM` with the measurement, in the retention policy or the database's default. */
export function fromClause(measurement: string, retentionPolicy: string | undefined): string {
  const policy = retentionPolicy === undefined ? '' : `${quoteIdentifier(retentionPolicy)}.`
  return `FROM ${policy}${quoteIdentifier(measurement)}`
}

/**
 * Conditions for the tags of a series, none for a series without; series with more tag keys meet them, too, and are
 * distinguished by `GROUP BY *`.
 */
export function tagConditions({ tags }: SeriesField): readonly string[] {
  return tags.map(([key, value]) => `${quoteIdentifier(key)} = ${quoteString(value)}`)
}

/** `WHERE` for the points of a series, and of those with more tag keys, whose microsecond is in [from, to). */
export function whereClause(
  series: SeriesField,
  from: number,
  to: number,
  ...others: readonly string[]
): string {
  return `WHERE ${[...tagConditions(series), timeCondition(from, to), ...others].join(' AND ')}`
}

function timeCondition(from: number, to: number): string {
  return `time >= ${lowestNs(Math.max(from, FIRST_US))} AND time < ${lowestNs(Math.min(to, END_US))}`
}

/**
 * The first nanosecond that InfluxDB shows as this microsecond or a later one. It cuts digits off towards 1970, so
 * before that the nanoseconds of a microsecond end with it.
 */
export function lowestNs(us: number): string {
  return String(BigInt(us) * 1_000n - (us > 0 ? 0n : 999n))
}
