import { AGGREGATE_NAMES, FIRST_AGGREGATE_NAMES } from '../series/aggregate-names.ts'
import { parseAbsoluteTime } from '../time/parse.ts'
import { UTC } from '../time/zone.ts'
import type { MultiBody } from './access.ts'
import { aggregateCell, aggregateNames, isAll } from './aggregate-cells.ts'
import type { Cell, OutputOptions, Table } from './output.ts'

/** Every field of an aggregates object that an answer may have. */
const FIELDS = [...AGGREGATE_NAMES, 'var', 'states']

/** An interval of a tag, as INTERVALS or GAPS answers it. */
export interface Found {
  readonly tag: string
  readonly from: string
  readonly to: string
  readonly openStart?: boolean
  readonly openEnd?: boolean
  readonly kind?: string
  readonly aggregates?: Readonly<Record<string, unknown>>
}

/** The intervals of all tags, in the order of the tags. @param tags all in `results`, each once */
export function foundOf(tags: readonly string[], results: MultiBody['results']): readonly Found[] {
  return tags.flatMap((tag) =>
    (results[tag]!.intervals as readonly Omit<Found, 'tag'>[]).map((interval) => ({ ...interval, tag })),
  )
}

/** How a table of intervals is printed. */
export interface IntervalTableOptions extends OutputOptions {
  /** The tag that is aggregated over each interval. */
  readonly aggregatesOf?: string
  readonly aggregates?: readonly string[]
}

/**
 * A row for each interval: its times, its length, whether it goes on beyond the range, and the requested aggregates.
 */
export function intervalTable(found: readonly Found[], options: IntervalTableOptions): Table {
  const names = aggregateNames(found[0]?.aggregates ?? fieldsWithout(options), options.aggregates)
  return {
    header: ['tag', 'from', 'to', lengthHeader(options), 'open', ...names],
    rows: found.map((one) => [
      ...edges(one),
      openOf(one),
      ...names.map((name) => aggregateCell(one.aggregates?.[name])),
    ]),
  }
}

/** The fields that intervals would have if there were any, so that a file has the same header whatever was found. */
function fieldsWithout({
  aggregatesOf,
  aggregates,
}: IntervalTableOptions): Readonly<Record<string, unknown>> {
  if (aggregatesOf === undefined) return {}
  const names = aggregates === undefined || isAll(aggregates) ? FIRST_AGGREGATE_NAMES : FIELDS
  return Object.fromEntries(names.map((name) => [name, null]))
}

/** A row for each gap: its times, its length, and whether BAD points lie inside. */
export function gapTable(found: readonly Found[], options: OutputOptions): Table {
  return {
    header: ['tag', 'from', 'to', lengthHeader(options), 'kind'],
    rows: found.map((one) => [...edges(one), one.kind ?? '']),
  }
}

/** Other programs add up a number of seconds more easily than a text of hours, minutes and seconds. */
function lengthHeader({ csv }: OutputOptions): string {
  return csv === true ? 'seconds' : 'length'
}

function edges({ tag, from, to }: Found): Cell[] {
  return [tag, { time: from }, { time: to }, { seconds: (microseconds(to) - microseconds(from)) / 1e6 }]
}

function microseconds(timestamp: string): number {
  return parseAbsoluteTime(timestamp, UTC) ?? Number.NaN
}

function openOf({ openStart, openEnd }: Found): string {
  if (openStart === true && openEnd === true) return 'start, end'
  return openStart === true ? 'start' : openEnd === true ? 'end' : ''
}
