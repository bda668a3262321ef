import { END_INSTANT, MIN_INSTANT } from '../../time/instant.ts'
import { literal } from './text.ts'

/**
 * How the instants of points stand in a column, as SQL. Bounds are converted and not the column, so that an index on it
 * is used. All of it works on whole microseconds since 1970, as `bigint`, on the outside.
 */
export interface TimeColumn {
  /** Whether several of its times may be in one microsecond, of which the last one is the point's. */
  readonly isFiner: boolean
  /** A condition that is true for rows at or after a bound, exactly. */
  atOrAfter(column: string, us: string): string
  /** A condition that is true for rows before a bound, exactly. */
  before(column: string, us: string): string
  /** The instant of a row, `bigint`. */
  us(column: string): string
  /** What distinguishes windows: an expression of the column, and of a bound that is compared with it. */
  comparable(column: string): string
  bound(us: string): string
  /** Further conditions on rows: those whose time is no instant that the interface accepts are not there. */
  accepted(column: string): readonly string[]
}

/** Whole microseconds since 1970 in a `bigint`: what Tidemark's own tables have. */
export const MICROSECONDS: TimeColumn = {
  isFiner: false,
  atOrAfter: (column, us) => `${column} >= ${us}`,
  before: (column, us) => `${column} < ${us}`,
  us: (column) => column,
  comparable: (column) => column,
  bound: (us) => us,
  accepted: () => [],
}

/** `timestamp with time zone`, which counts microseconds. */
export const TIMESTAMPTZ: TimeColumn = native({
  bound: (us) => `('epoch'::timestamptz + ${us} * interval '1 microsecond')`,
  us: (column) => `(extract(epoch from ${column}) * 1000000)::bigint`,
})

/** `timestamp without time zone`, of which the configuration says that it is UTC. */
export const TIMESTAMP_UTC: TimeColumn = native({
  bound: (us) => `('epoch'::timestamp + ${us} * interval '1 microsecond')`,
  us: (column) => `(extract(epoch from ${column}) * 1000000)::bigint`,
})

/**
 * `timestamp without time zone` on the clocks of a zone. When clocks are set back an hour comes twice; its rows are
 * taken for those of the second time, as PostgreSQL does. So a local time is not in step with instants there, and the
 * index only narrows.
 */
export function zonedTimestamp(zone: string): TimeColumn {
  const zoneText = literal(zone)
  const instant = (column: string) => `(${column} AT TIME ZONE ${zoneText})`
  const local = (us: string) => `(${TIMESTAMPTZ.bound(us)} AT TIME ZONE ${zoneText})`
  // More than clocks were ever set back by in a zone's history, but for days that were left out at the date line.
  const slack = "interval '26 hours'"
  const atOrAfter = (column: string, us: string) =>
    `${column} >= ${local(us)} - ${slack} AND ${instant(column)} >= ${TIMESTAMPTZ.bound(us)}`
  const before = (column: string, us: string) =>
    `${column} < ${local(us)} + ${slack} AND ${instant(column)} < ${TIMESTAMPTZ.bound(us)}`
  return {
    isFiner: false,
    atOrAfter,
    before,
    us: (column) => TIMESTAMPTZ.us(instant(column)),
    comparable: instant,
    bound: TIMESTAMPTZ.bound,
    accepted: (column) => [atOrAfter(column, String(MIN_INSTANT)), before(column, String(END_INSTANT))],
  }
}

export type TimeUnit = 's' | 'ms' | 'us' | 'ns'

const US_PER_UNIT = { s: 1_000_000, ms: 1_000, us: 1 }

/** Numbers since 1970 in an integer column. Of nanoseconds the microsecond that they lie in counts. */
export function integerTime(unit: TimeUnit): TimeColumn {
  if (unit === 'ns') {
    return native({
      isFiner: true,
      bound: (us) => `(${us} * 1000)`,
      // Division cuts towards zero; before 1970 that would be the next microsecond.
      us: (column) => `((${column}::bigint - ((${column}::bigint % 1000) + 1000) % 1000) / 1000)`,
    })
  }
  const length = US_PER_UNIT[unit]
  return native({
    // The least number whose instant is not before the bound: division rounded up.
    bound: (us) => `ceil(${us}::numeric / ${length})::bigint`,
    us: (column) => (length === 1 ? `${column}::bigint` : `(${column}::bigint * ${length})`),
  })
}

/** Numbers since 1970 with a fraction (`double precision`, `numeric`), rounded to the microsecond. */
export function fractionalTime(unit: TimeUnit, type: 'float8' | 'numeric'): TimeColumn {
  const perUnit = unit === 'ns' ? '0.001' : String(US_PER_UNIT[unit])
  return native({
    isFiner: true,
    bound: (us) => `((${us}::${type} - 0.5) / ${perUnit}::${type})`,
    us: (column) => `floor(${column}::${type} * ${perUnit}::${type} + 0.5)::bigint`,
  })
}

/** A column that is in step with instants. */
function native({
  isFiner = false,
  bound,
  us,
}: Pick<TimeColumn, 'bound' | 'us'> & Partial<Pick<TimeColumn, 'isFiner'>>): TimeColumn {
  const atOrAfter = (column: string, at: string) => `${column} >= ${bound(at)}`
  const before = (column: string, at: string) => `${column} < ${bound(at)}`
  return {
    isFiner,
    atOrAfter,
    before,
    us,
    comparable: (column) => column,
    bound,
    accepted: (column) => [
      atOrAfter(column, `${MIN_INSTANT}::bigint`),
      before(column, `${END_INSTANT}::bigint`),
    ],
  }
}
