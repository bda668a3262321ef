import type { MultiBody } from '../access.ts'
import { aggregateCell, aggregateNames } from '../aggregate-cells.ts'
import type { Cell, Table } from '../output.ts'

type Results = MultiBody['results']

interface Point {
  readonly timestamp: string
  readonly value: number | null
  readonly status: string
  /** Name of the state, of tags that have some. */
  readonly enumString?: string | null
  /** Which of the adjacent points it is. */
  readonly place?: string
}

type Window = Readonly<Record<string, unknown>>

/** How the tables are laid out. */
export interface TableOptions {
  /** A column for each tag; otherwise so only where all tags have the same times. */
  readonly wide?: boolean
  /** A row for each point or window of each tag, whatever their times. */
  readonly long?: boolean
  /** The aggregates to show, in this order; all that there are when left out. */
  readonly aggregates?: readonly string[] | undefined
}

/** The table of what was answered for these tags. @param tags all in `results`, each once */
export function tableOf(tags: readonly string[], results: Results, options: TableOptions): Table {
  const first = results[tags[0]!]!
  return 'aggregates' in first ? aggregatesTable(tags, results, options) : pointsTable(tags, results, options)
}

function pointsTable(tags: readonly string[], results: Results, options: TableOptions): Table {
  const series = tags.map((tag) => ({ tag, points: pointsOf(results[tag]!) }))
  const areLists = tags.every((tag) => 'dataPoints' in results[tag]!)
  const times = series[0]!.points.map(({ timestamp }) => timestamp)
  const isGrid = options.long !== true && areLists && times.length > 1 && haveTimes(series, times)
  if (options.wide === true || isGrid) return widePoints(series)
  const hasStates = series.some(({ points }) => points.some(({ enumString }) => enumString !== undefined))
  const rows = series.flatMap(({ tag, points }) =>
    points.map(({ timestamp, value, status, place, enumString }): readonly Cell[] => {
      const name = place === undefined ? tag : `${tag} (${place})`
      const state = hasStates ? [enumString ?? ''] : []
      return [name, { time: timestamp }, value, ...state, status]
    }),
  )
  return { header: ['tag', 'time', 'value', ...(hasStates ? ['state'] : []), 'status'], rows }
}

function haveTimes(
  series: readonly { readonly points: readonly Point[] }[],
  times: readonly string[],
): boolean {
  return series.every(
    ({ points }) =>
      points.length === times.length && points.every(({ timestamp }, index) => timestamp === times[index]),
  )
}

/** A row for each time, a column for each tag; nothing where a tag has no point at that time. */
function widePoints(series: readonly { readonly tag: string; readonly points: readonly Point[] }[]): Table {
  const rows = new Map<string, Cell[]>()
  series.forEach(({ points }, column) => {
    for (const point of points) {
      const row = rows.get(point.timestamp) ?? series.map(() => '')
      row[column] = pointCell(point)
      rows.set(point.timestamp, row)
    }
  })
  const times = [...rows.keys()]
  // Equal times of one call are equal texts, and those of one tag are in order.
  if (series.length > 1) times.sort((a, b) => Date.parse(a) - Date.parse(b) || (a < b ? -1 : 1))
  return {
    header: ['time', ...series.map(({ tag }) => tag)],
    rows: times.map((time) => [{ time }, ...rows.get(time)!]),
  }
}

function pointCell({ value, status }: Point): Cell {
  return status === 'BAD' && value !== null ? { bad: value } : value
}

function pointsOf(result: Readonly<Record<string, unknown>>): readonly Point[] {
  if ('dataPoints' in result) return result.dataPoints as readonly Point[]
  if ('dataPoint' in result) return [result.dataPoint as Point]
  return ['before', 'at', 'after'].flatMap((place) => {
    const point = result[place] as Point | null | undefined
    return point === null || point === undefined ? [] : [{ ...point, place }]
  })
}

/** Windows side by side where all tags have the same ones, several of them. */
function aggregatesTable(tags: readonly string[], results: Results, options: TableOptions): Table {
  const series = tags.map((tag) => ({ tag, windows: results[tag]!.aggregates as readonly Window[] }))
  const first = series[0]!.windows
  const names = aggregateNames(first[0] ?? {}, options.aggregates)
  const areSame = series.every(
    ({ windows }) =>
      windows.length === first.length && windows.every(({ from }, index) => from === first[index]!.from),
  )
  const isWide =
    options.wide === true || (options.long !== true && tags.length > 1 && first.length > 1 && areSame)
  const isPartial = series.some(({ windows }) => windows.some(({ partial }) => partial === true))
  const edges = ({ from, to, partial }: Window): Cell[] => [
    { time: String(from) },
    { time: String(to) },
    ...(isPartial ? [partial === true ? 'partial' : ''] : []),
  ]
  const edgeNames = ['from', 'to', ...(isPartial ? ['window'] : [])]
  if (!isWide || !areSame) {
    return {
      header: ['tag', ...edgeNames, ...names],
      rows: series.flatMap(({ tag, windows }) =>
        windows.map((window) => [tag, ...edges(window), ...names.map((name) => aggregateCell(window[name]))]),
      ),
    }
  }
  return {
    header: [...edgeNames, ...series.flatMap(({ tag }) => names.map((name) => `${tag} ${name}`))],
    rows: first.map((window, index) => [
      ...edges(window),
      ...series.flatMap(({ windows }) => names.map((name) => aggregateCell(windows[index]![name]))),
    ]),
  }
}
