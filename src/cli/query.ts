import type { Command } from 'commander'
import type { MultiBody } from './access.ts'
import { type AccessOptions, addAccessOptions, type CommandContext, openAccess } from './context.ts'
import { CommandError, EXIT, usageError } from './exit.ts'
import { listOption, option, wholeNumber, zoneId } from './options.ts'
import { formatTable, printable } from './table.ts'
import { note, say, type Terminal } from './terminal.ts'

interface Options extends AccessOptions {
  readonly type?: string
  readonly from?: string
  readonly to?: string
  readonly at?: string
  readonly now?: string
  readonly count?: number
  readonly interval?: string
  readonly aggregates?: readonly string[]
  readonly maxPoints?: number
  readonly order?: string
  readonly leftBoundary?: string
  readonly rightBoundary?: string
  readonly zone?: string
  readonly explain?: boolean
  readonly json?: boolean
}

export function addQueryCommand(program: Command, context: CommandContext): void {
  addAccessOptions(program.command('query'))
    .summary('read tags and calculations as a table')
    .description(
      'Makes one multi call and prints its answer as a table, from a data directory or from a running service with ' +
        '--url. Without options it gives the current points; with --from raw points, with --count or --interval ' +
        'interpolated ones, with --aggregates aggregates; with --at the value at one time. --type says it outright.',
    )
    .argument(
      '<tag...>',
      'tag addresses and calculations, such as local/FLOW or "calc/ADD(local/A, local/B)"',
    )
    .addOption(option('--type <type>', 'request type of the interface, such as POINT_BEFORE'))
    .addOption(
      option(
        '--from <time>',
        'first instant, in every form of the interface: "2h ago", 2026-01-15, now-1d/d',
      ),
    )
    .addOption(option('--to <time>', 'end (default: now)'))
    .addOption(option('--at <time>', 'one instant'))
    .addOption(option('--now <time>', 'reference of relative times (default: the present)'))
    .addOption(option('--count <n>', 'so many points or windows').argParser(wholeNumber(1)))
    .addOption(option('--interval <duration>', 'a point or window for each, such as 1h, 1d, 1mo'))
    .addOption(listOption('--aggregates <names>', 'such as AVG,MIN,MAX, or all'))
    .addOption(option('--max-points <n>', 'raw points of each tag (default: 1000)').argParser(wholeNumber(1)))
    .addOption(
      option('--order <order>', 'of raw points: asc, or desc for the newest first').choices(['asc', 'desc']),
    )
    .addOption(option('--left-boundary <rule>', 'of raw points: INCLUDE, EXCLUDE, NEAREST, INTERPOLATED'))
    .addOption(option('--right-boundary <rule>', 'the same at the end'))
    .addOption(option('--zone <id>', 'IANA zone of the call').argParser(zoneId))
    .addOption(option('--explain', 'say what it would cost, and read nothing'))
    .addOption(option('--json', 'print the answer as it came'))
    .addHelpText(
      'after',
      `
Examples:
  tidemark query local/FLOW local/PRESSURE
  tidemark query local/FLOW --from '2 hours ago' --count 13
  tidemark query local/FLOW --from yesterday --to today --aggregates avg,max --interval 1h
  TIDEMARK_KEY=... tidemark query --url http://127.0.0.1:8080 'calc/TOTALISE(local/FLOW, DAY, BEGIN_DAY, 1h)'`,
    )
    .action((tags: string[], options: Options) => runQuery(tags, options, context))
}

async function runQuery(tags: readonly string[], options: Options, context: CommandContext): Promise<void> {
  const type = requestType(options)
  const details = requestDetails(type, options)
  const body = {
    ...(options.now !== undefined && { now: options.now }),
    ...(options.zone !== undefined && { timeZone: options.zone }),
    ...(options.explain === true && { explain: true }),
    requests: Object.fromEntries(tags.map((tag) => [tag, { type, tag, details }])),
  }
  const access = await openAccess(options, context)
  const answer = await access.multi(body).finally(() => access.close())
  const { terminal } = context
  if (options.json === true || options.explain === true) {
    say(terminal, JSON.stringify(answer, null, 2))
  } else {
    printAnswer([...new Set(tags)], answer, terminal)
  }
  for (const warning of answer.warnings ?? []) note(terminal, printable(warning))
  const errors = Object.entries(answer.errors)
  if (errors.length === 0) {
    if (
      answer.message !== undefined &&
      Object.keys(answer.results).length === 0 &&
      options.explain !== true
    ) {
      throw new CommandError(answer.message)
    }
    return
  }
  // A limit or the deadline says the same of every tag.
  const sentences = [...new Set(errors.map(([, sentence]) => sentence))]
  const hasSome = Object.keys(answer.results).length > 0
  throw new CommandError(sentences.map(printable).join('\n'), hasSome ? EXIT.partly : EXIT.failed)
}

function requestType({ type, from, at, to, count, interval, aggregates }: Options): string {
  if (type !== undefined) return type.toUpperCase()
  if (at !== undefined) {
    if (from !== undefined || to !== undefined) throw usageError('Give --at, or --from and --to, not both')
    return 'HISTORICAL_POINT'
  }
  if (from === undefined) {
    const needy = { '--to': to, '--count': count, '--interval': interval, '--aggregates': aggregates }
    for (const [name, value] of Object.entries(needy)) {
      if (value !== undefined) throw usageError(`${name} needs --from`)
    }
    return 'CURRENT_POINT'
  }
  const isDivided = count !== undefined || interval !== undefined
  if (aggregates !== undefined) return isDivided ? 'MULTIPLE_AGGREGATED_POINTS' : 'AGGREGATED_POINTS'
  return isDivided ? 'INTERPOLATED_POINTS' : 'RAW_POINTS'
}

/** The details that were given; the service says which of them its request type does not know. */
function requestDetails(type: string, options: Options): object {
  const { from, at, count, interval, aggregates, maxPoints, order, leftBoundary, rightBoundary } = options
  const to = options.to ?? (from === undefined ? undefined : 'now')
  const names = aggregates?.length === 1 && /^all$/i.test(aggregates[0]!) ? undefined : aggregates
  const all = {
    from,
    to,
    at,
    count,
    interval,
    aggregates: names,
    maxPoints,
    order,
    leftBoundary,
    rightBoundary,
  }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  if (type === 'CURRENT_POINT') return {}
  return Object.fromEntries(given)
}

function printAnswer(tags: readonly string[], { results }: MultiBody, terminal: Terminal): void {
  const answered = tags.filter((tag) => Object.hasOwn(results, tag))
  if (answered.length === 0) return
  const first = results[answered[0]!]!
  if ('aggregates' in first) printAggregates(answered, results, terminal)
  else printPoints(answered, results, terminal)
  for (const tag of answered) {
    if (results[tag]!.truncated === true)
      note(terminal, `${printable(tag)}: there are more points; see --max-points`)
  }
}

interface Point {
  readonly timestamp: string
  readonly value: number | null
  readonly status: string
}

type Results = MultiBody['results']

/** A row for each point, or, where all tags have points at the same times, a row for each time. */
function printPoints(tags: readonly string[], results: Results, terminal: Terminal): void {
  const series = tags.map((tag) => ({ tag, points: pointsOf(results[tag]!) }))
  const times = series[0]!.points.map(({ timestamp }) => timestamp)
  const isGrid =
    times.length > 1 &&
    tags.every((tag) => 'dataPoints' in results[tag]!) &&
    series.every(
      ({ points }) =>
        points.length === times.length && points.every(({ timestamp }, index) => timestamp === times[index]),
    )
  if (isGrid) {
    const rows = times.map((time, index) => [time, ...series.map(({ points }) => showPoint(points[index]!))])
    terminal.out.write(formatTable(['time', ...tags], rows, new Set(tags.map((_, index) => index + 1))))
    return
  }
  const rows = series.flatMap(({ tag, points }) =>
    points.map(({ timestamp, value, status, ...rest }) => {
      const place = (rest as { place?: string }).place
      return [place === undefined ? tag : `${tag} (${place})`, timestamp, showNumber(value), status]
    }),
  )
  terminal.out.write(formatTable(['tag', 'time', 'value', 'status'], rows, new Set([2])))
}

function pointsOf(result: Readonly<Record<string, unknown>>): readonly Point[] {
  if ('dataPoints' in result) return result.dataPoints as readonly Point[]
  if ('dataPoint' in result) return [result.dataPoint as Point]
  return ['before', 'at', 'after'].flatMap((place) => {
    const point = result[place] as Point | null | undefined
    return point === null || point === undefined ? [] : [{ ...point, place }]
  })
}

function printAggregates(tags: readonly string[], results: Results, terminal: Terminal): void {
  const windows = tags.flatMap((tag) =>
    (results[tag]!.aggregates as readonly Record<string, unknown>[]).map((window) => ({ tag, window })),
  )
  // What was not asked for is null everywhere.
  const names = Object.keys(windows[0]!.window).filter(
    (name) => name !== 'from' && name !== 'to' && windows.some(({ window }) => window[name] !== null),
  )
  const rows = windows.map(({ tag, window }) => [
    tag,
    String(window.from),
    String(window.to),
    ...names.map((name) => showNumber(window[name] as number | null)),
  ])
  const right = new Set(names.map((_, index) => index + 3))
  terminal.out.write(formatTable(['tag', 'from', 'to', ...names], rows, right))
}

function showPoint({ value, status }: Point): string {
  return status === 'BAD' && value !== null ? `${showNumber(value)} BAD` : showNumber(value)
}

/** Twelve digits are more than any instrument has, and hide the last bits of the arithmetic; --json shows them all. */
function showNumber(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(12)))
}
