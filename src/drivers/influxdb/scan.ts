import type { CallContext } from '../../historian/contract.ts'
import { STATUS_BAD, type Status } from '../../series/columns.ts'
import { US_PER_DAY } from '../../time/instant.ts'
import type { Cell, SeriesChunk } from './answer-lines.ts'
import type { InfluxClient, Statement } from './client.ts'
import { hasTags, type SeriesField } from './layout.ts'
import type { PointStatus } from './point-status.ts'
import { quoteIdentifier } from './quote.ts'
import { fromClause, whereClause } from './statements.ts'

/** Takes points one by one, in the order of the scan, one for each microsecond. */
export type PointSink = (time: number, value: number, status: Status) => void

export interface ScanOptions {
  readonly series: SeriesField
  /** `[from, to)` in microseconds. */
  readonly from: number
  readonly to: number
  readonly order: 'asc' | 'desc'
  /** The scan ends after so many points; Infinity for all of them. */
  readonly wanted: number
  /** Whether BAD points are left out, before they count. */
  readonly goodOnly: boolean
  /**
   * Whether what is wanted is expected near the beginning of the scan: it is looked for there first. InfluxDB opens
   * every shard of a statement's time, a week each, before it gives the first point: over two years ten times the work.
   */
  readonly isNear: boolean
  readonly sink: PointSink
}

/** What statements need besides the series. */
export interface ScanSource {
  readonly client: InfluxClient
  readonly status: PointStatus
  readonly retentionPolicy: string | undefined
}

/** How far a scan looks at first that expects its points near: two shards of a week. */
const NEAR_US = 14 * US_PER_DAY
/** Rows that a statement asks for when the one before did not bring enough points. */
const MOST_ROWS = 1_000_000
/** Rows that one microsecond can hold, one for each nanosecond, and one more. */
const ROWS_OF_MICROSECOND = 1_001

/**
 * Points of ranges of series, all of them in one request at first. A statement asks for as many rows as points are
 * wanted; rows that are no points (BAD where those are left out, another field's, a second one in the same microsecond)
 * make another statement necessary, which asks for more of them.
 */
export async function runScans(
  source: ScanSource,
  scans: readonly ScanOptions[],
  context: CallContext,
): Promise<void> {
  let open = scans
    .filter(({ from, to, wanted }) => from < to && wanted > 0)
    .map((scan) => new Scan(source, scan))
  while (open.length > 0) {
    await source.client.query(
      'read',
      open.map((scan) => scan.nextStatement()),
      context,
    )
    open = open.filter((scan) => !scan.endStatement())
  }
}

/** One range, statement by statement. */
class Scan {
  readonly #source: ScanSource
  readonly #options: ScanOptions
  /** What is left, and how much of it the statement under way looks through. */
  #from: number
  #to: number
  #reachUs: number
  #given = 0
  /** Of the statement under way; rows asked for and rows seen. */
  #limit = Number.POSITIVE_INFINITY
  #rows = 0
  /** The last row's time, and the point of its microsecond; it has none when the row was no point. */
  #time = Number.NaN
  #hasPoint = false
  #value = Number.NaN
  #status: Status = STATUS_BAD

  constructor(source: ScanSource, options: ScanOptions) {
    this.#source = source
    this.#options = options
    this.#from = options.from
    this.#to = options.to
    this.#reachUs = options.isNear ? NEAR_US : Number.POSITIVE_INFINITY
  }

  nextStatement(): Statement {
    const { series, order, wanted } = this.#options
    const { status, retentionPolicy } = this.#source
    const missing = wanted - this.#given
    // Ascending, the last point of a microsecond is known by the row after it.
    const least = order === 'asc' ? missing + 1 : missing
    this.#limit =
      this.#limit === Number.POSITIVE_INFINITY
        ? least
        : Math.max(least, Math.min(MOST_ROWS, this.#limit * 10 + ROWS_OF_MICROSECOND))
    this.#rows = 0
    this.#time = Number.NaN
    this.#hasPoint = false
    const fields = [series.field, ...(status.field === null ? [] : [status.field])]
      .map(quoteIdentifier)
      .join(', ')
    const limit = this.#limit === Number.POSITIVE_INFINITY ? '' : ` LIMIT ${this.#limit}`
    return {
      text:
        `SELECT ${fields} ${fromClause(series.measurement, retentionPolicy)} ` +
        `${whereClause(series, ...this.#reach())} ` +
        `GROUP BY * ORDER BY time ${order === 'asc' ? 'ASC' : 'DESC'}${limit}`,
      take: (chunk) => {
        if (isOfSeries(chunk, series)) this.#take(chunk.values ?? [])
      },
    }
  }

  /** Whether the scan is finished. */
  endStatement(): boolean {
    const { order, wanted } = this.#options
    const wasCut = this.#rows >= this.#limit
    if (!wasCut || order === 'desc') this.#give()
    if (this.#given >= wanted) return true
    if (!wasCut) {
      const [from, to] = this.#reach()
      if (order === 'asc') this.#from = to
      else this.#to = from
      this.#reachUs = Number.POSITIVE_INFINITY
      this.#limit = Number.POSITIVE_INFINITY
      return this.#from >= this.#to
    }
    if (order === 'asc') this.#from = this.#time
    // What the microsecond's last row says is known; only when none of its rows was a point may others be.
    else this.#to = this.#hasPoint ? this.#time : this.#time + 1
    return this.#from >= this.#to
  }

  #reach(): [from: number, to: number] {
    return this.#options.order === 'asc'
      ? [this.#from, Math.min(this.#to, this.#from + this.#reachUs)]
      : [Math.max(this.#from, this.#to - this.#reachUs), this.#to]
  }

  #take(rows: readonly (readonly Cell[])[]): void {
    const { order, wanted } = this.#options
    const { status } = this.#source
    const hasStatus = status.field !== null
    this.#rows += rows.length
    for (const row of rows) {
      const time = row[0] as number
      if (time !== this.#time) {
        this.#give()
        if (this.#given >= wanted) return
        this.#time = time
        this.#hasPoint = false
      }
      // Of rows in one microsecond the last one counts, which is the first one from behind.
      if (this.#hasPoint && order === 'desc') continue
      const value = numberOf(row[1]!)
      if (Number.isNaN(value)) continue
      this.#hasPoint = true
      this.#value = value
      this.#status = hasStatus ? status.of(row[2]!) : 0
    }
  }

  #give(): void {
    if (!this.#hasPoint || this.#given >= this.#options.wanted) return
    if (this.#options.goodOnly && this.#status === STATUS_BAD) return
    this.#given++
    this.#options.sink(this.#time, this.#value, this.#status)
  }
}

/** Whether rows belong to the series itself and not to one with more tag keys. */
export function isOfSeries({ tags }: SeriesChunk, series: SeriesField): boolean {
  const found = new Map(Object.entries(tags ?? {}).filter(([, value]) => value !== ''))
  return hasTags(series, found)
}

/** The number that a field holds; NaN for texts and nothing. */
function numberOf(cell: Cell): number {
  if (typeof cell === 'number') return cell
  return typeof cell === 'boolean' ? Number(cell) : Number.NaN
}
