import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { AggregateQuery, CallContext } from '../../historian/contract.ts'
import { WindowAggregator } from '../../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../../series/aggregate-names.ts'
import type { SeriesChunk } from './answer-lines.ts'
import type { Statement } from './client.ts'
import { ColumnsGrower } from './columns-grower.ts'
import { ServerRefusal } from './errors.ts'
import type { Layout, SeriesField } from './layout.ts'
import { quoteIdentifier } from './quote.ts'
import { isOfSeries, runScans, type ScanSource } from './scan.ts'
import { fromClause, whereClause } from './statements.ts'
import { type WindowRun, windowRuns } from './window-runs.ts'

/** Aggregates that InfluxDB computes by the interface's definitions; see docs/historians/influxdb.md for the others. */
export const PUSHED_AGGREGATES = [
  'min',
  'max',
  'avg',
  'median',
  'variance',
  'stdDev',
  'first',
  'last',
  'sum',
  'range',
  'count',
  'numGood',
  'numBad',
] as const satisfies readonly AggregateName[]

/** What one aggregate is made of; counts of good and of all points are always asked. */
const FUNCTIONS: Readonly<Partial<Record<AggregateName, readonly string[]>>> = {
  min: ['min'],
  max: ['max'],
  avg: ['mean'],
  median: ['median'],
  variance: ['stddev'],
  stdDev: ['stddev'],
  first: ['first'],
  last: ['last'],
  sum: ['sum'],
  range: ['min', 'max'],
}

/**
 * Runs of equally long windows of one query: days of a year are three, because of the changes of the clocks, and months
 * of three years 36. More of them are computed here: for each statement InfluxDB copies what it has of the series in
 * memory.
 */
const MOST_RUNS = 40
/** Points fed to the windows at a time, where they are computed here. */
const PAGE = 8_192

/** Aggregates of windows; see Historian.readAggregates. */
export async function readAggregates(
  source: ScanSource,
  layout: Layout,
  queries: readonly AggregateQuery[],
  context: CallContext,
): Promise<readonly AggregateColumns[]> {
  const windows = queries.map((query) => new PushedWindows(source, layout.parse(query.tag), query))
  let isRefused = false
  try {
    await source.client.query(
      'read',
      windows.flatMap((one) => one.statements()),
      context,
    )
  } catch (error) {
    // A result that is no number in JSON, or a field that cannot be averaged.
    if (!isAboutValues(error)) throw error
    isRefused = true
  }
  const results: AggregateColumns[] = []
  for (const one of windows) {
    const pushed = isRefused ? null : one.finish()
    results.push(pushed ?? (await one.fromRawPoints(context)))
  }
  return results
}

/** One query's windows, of which InfluxDB computes equally long ones that join in one statement. */
class PushedWindows {
  readonly #source: ScanSource
  readonly #series: SeriesField | null
  readonly #query: AggregateQuery
  readonly #functions: readonly string[]
  readonly #columns = new Map<string, Float64Array>()
  #types = new Set<unknown>()

  constructor(source: ScanSource, series: SeriesField | null, query: AggregateQuery) {
    this.#source = source
    this.#series = series
    this.#query = query
    this.#functions = [...new Set(query.aggregates.flatMap((name) => FUNCTIONS[name] ?? []))]
    const windows = Math.max(0, query.edges.length - 1)
    for (const name of this.#functions) this.#columns.set(name, new Float64Array(windows).fill(Number.NaN))
    for (const name of ['all', 'good', 'bad']) this.#columns.set(name, new Float64Array(windows))
  }

  statements(): Statement[] {
    const series = this.#series
    const runs = windowRuns(this.#query.edges)
    if (series === null || runs.length === 0 || runs.length > MOST_RUNS) return []
    const { status } = this.#source
    const field = quoteIdentifier(series.field)
    const count = `count(${field})`
    const good = [count, ...this.#functions.map((name) => `${name}(${field})`)]
    const into = ['good', ...this.#functions]
    const statements = runs.flatMap((run) =>
      status.field === null
        ? [this.#statement(series, run, good, [], into)]
        : [
            this.#statement(series, run, good, [status.isGood], into),
            this.#statement(series, run, [count], [status.isBad], ['bad']),
            this.#statement(series, run, [count], [], ['all']),
          ],
    )
    const types: Statement = {
      text: `SHOW FIELD KEYS ${fromClause(series.measurement, this.#source.retentionPolicy)}`,
      take: ({ values = [] }) => {
        for (const [name, type] of values) if (name === series.field) this.#types.add(type)
      },
    }
    return [types, ...statements]
  }

  /** `null` when InfluxDB's results are not those of the interface: then the windows are computed from raw points. */
  finish(): AggregateColumns | null {
    const { edges, aggregates } = this.#query
    if (windowRuns(edges).length > MOST_RUNS) return null
    // Sums of integers wrap around, texts and truth values have neither order nor mean.
    if ([...this.#types].some((type) => type !== 'float')) return null
    const good = this.#columns.get('good')!
    const bad = this.#columns.get('bad')!
    const all = this.#source.status.field === null ? good : this.#columns.get('all')!
    // Points without a status are good, and InfluxDB's conditions pass over them.
    if (this.#source.status.field !== null && all.some((count, i) => count !== good[i]! + bad[i]!))
      return null
    const of = (name: string) => this.#columns.get(name)!
    const value = (name: AggregateName, i: number): number => {
      switch (name) {
        case 'count':
          return all[i]!
        case 'numGood':
          return good[i]!
        case 'numBad':
          return all[i]! - good[i]!
        case 'avg':
          return of('mean')[i]!
        case 'range':
          return of('max')[i]! - of('min')[i]!
        case 'variance':
          return good[i] === 1 ? 0 : of('stddev')[i]! ** 2
        case 'stdDev':
          return good[i] === 1 ? 0 : of('stddev')[i]!
        default:
          return of(name)[i]!
      }
    }
    const columns = new Map(
      aggregates.map((name) => [
        name,
        Float64Array.from(good, (_, i) => {
          const found = value(name, i)
          return Number.isFinite(found) ? found : Number.NaN
        }),
      ]),
    )
    return Object.fromEntries(columns)
  }

  /** The same windows from the points themselves, page by page. */
  async fromRawPoints(context: CallContext): Promise<AggregateColumns> {
    const { edges, aggregates } = this.#query
    const windows = new WindowAggregator(edges, aggregates)
    const page = new ColumnsGrower()
    if (this.#series !== null && edges.length > 1) {
      await runScans(
        this.#source,
        [
          {
            series: this.#series,
            from: edges[0]!,
            to: edges.at(-1)!,
            order: 'asc',
            wanted: Number.POSITIVE_INFINITY,
            goodOnly: false,
            isNear: false,
            sink: (time, value, status) => {
              page.push(time, value, status)
              if (page.length === PAGE) windows.add(page.flush())
            },
          },
        ],
        context,
      )
    }
    windows.add(page.flush())
    return windows.finish()
  }

  #statement(
    series: SeriesField,
    { first, windows, startNs, widthNs }: WindowRun,
    expressions: readonly string[],
    conditions: readonly string[],
    into: readonly string[],
  ): Statement {
    const { edges } = this.#query
    const from = edges[first]!
    // Relative to the edge: nanoseconds since 1970 are not exact in a double.
    const start = Number(startNs - BigInt(from) * 1_000n) / 1_000
    const width = Number(widthNs) / 1_000
    const offset = ((startNs % widthNs) + widthNs) % widthNs
    const grouping = windows === 1 ? 'GROUP BY *' : `GROUP BY time(${widthNs}ns, ${offset}ns), * fill(none)`
    return {
      text:
        `SELECT ${expressions.join(', ')} ${fromClause(series.measurement, this.#source.retentionPolicy)} ` +
        `${whereClause(series, from, edges[first + windows]!, ...conditions)} ` +
        grouping,
      take: (chunk: SeriesChunk) => {
        if (!isOfSeries(chunk, series)) return
        for (const row of chunk.values ?? []) {
          const index = windows === 1 ? 0 : Math.round(((row[0] as number) - from - start) / width)
          into.forEach((name, column) => {
            const cell = row[column + 1]
            if (typeof cell === 'number') this.#columns.get(name)![first + index] = cell
          })
        }
      },
    }
  }
}

function isAboutValues(error: unknown): boolean {
  if (!(error instanceof TidemarkError) || !(error.cause instanceof ServerRefusal)) return false
  return /unsupported value|unsupported \w+ iterator/.test(error.cause.message)
}
