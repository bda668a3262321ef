import type { Command } from 'commander'
import type { MultiBody } from '../access.ts'
import { addAccessOptions, type CommandContext } from '../context.ts'
import { type CallOptions, runMultiCall } from '../multi-call.ts'
import { listOption, option, wholeNumber, zoneId } from '../options.ts'
import { addOutputOptions, checkOutput, type OutputOptions, printTable } from '../output.ts'
import { printable } from '../table.ts'
import { note, type Terminal } from '../terminal.ts'
import { type RequestOptions, requestOf } from './request.ts'
import { tableOf } from './tables.ts'

interface Options extends CallOptions, RequestOptions, OutputOptions {
  readonly wide?: boolean
}

export function addQueryCommand(program: Command, context: CommandContext): void {
  const query = addAccessOptions(program.command('query'))
    .summary('read tags and calculations as a table')
    .description(
      'Makes one multi call and prints its answer as a table, from a data directory or from a running service with ' +
        '--url. Without options it gives the current points; with --from raw points, with --last the newest ones, with ' +
        '--count or --interval interpolated ones, with --aggregates aggregates, with --width what a chart needs; ' +
        'with --at the value at one time. ' +
        '--type says it outright. An option that would be ignored is an error.',
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
    .addOption(option('--last <n>', 'the newest n raw points').argParser(wholeNumber(1)))
    .addOption(option('--now <time>', 'reference of relative times (default: the present)'))
    .addOption(option('--count <n>', 'so many points or windows').argParser(wholeNumber(1)))
    .addOption(option('--interval <duration>', 'a point or window for each, such as 1h, 1d, 1mo'))
    .addOption(
      option('--anchor <when>', 'where windows of --interval begin: 06:00, "sunday 06:00", "10-01 06:00"'),
    )
    .addOption(option('--whole', 'no cut windows: the range is widened to whole ones of --interval'))
    .addOption(listOption('--aggregates <names>', 'such as AVG,MIN,MAX, in this order, or all'))
    .addOption(option('--per <unit>', "time unit of the tag's rate for TOTAL: 1s, 1min, 1h or 1d"))
    .addOption(option('--max-gap <duration>', 'how long a value is good for, such as 5m'))
    .addOption(
      option('--width <n>', 'a chart of so many columns: the extremes of each, and breaks').argParser(
        wholeNumber(1),
      ),
    )
    .addOption(
      option('--fallback <what>', 'of a chart whose raw points are too many to read').choices([
        'interpolated',
      ]),
    )
    .addOption(option('--max-points <n>', 'raw points of each tag (default: 1000)').argParser(wholeNumber(1)))
    .addOption(
      option('--order <order>', 'of raw points: asc, or desc for the newest first').choices(['asc', 'desc']),
    )
    .addOption(option('--left-boundary <rule>', 'of raw points: INCLUDE, EXCLUDE, NEAREST, INTERPOLATED'))
    .addOption(option('--right-boundary <rule>', 'the same at the end'))
    .addOption(option('--zone <id>', 'IANA zone of the call and of the times printed').argParser(zoneId))
    .addOption(option('--explain', 'say what it would cost, and read nothing'))
    .addOption(option('--wide', 'a column for each tag, whatever their times'))
  addOutputOptions(query)
    .addHelpText(
      'after',
      `
Examples:
  tidemark query local/FLOW local/PRESSURE
  tidemark query local/FLOW --from '2 hours ago' --count 13
  tidemark query local/FLOW --last 10
  tidemark query local/FLOW local/PRESSURE --from yesterday --to today --aggregates avg,max --interval 1h
  tidemark query local/FLOW --from now-7d --interval 8h --anchor 06:00 --aggregates total --per 1h
  tidemark query local/FLOW --from now-1y --width 1000 --csv > chart.csv
  tidemark query local/FLOW --from today --csv --decimal-comma --time-format 'dd.MM.yyyy HH:mm:ss' > today.csv
  TIDEMARK_KEY=... tidemark query --url http://127.0.0.1:8080 'calc/TOTALISE(local/FLOW, DAY, BEGIN_DAY, 1h)'`,
    )
    .action((tags: string[], options: Options) => runQuery(tags, options, context))
}

async function runQuery(tags: readonly string[], options: Options, context: CommandContext): Promise<void> {
  const { REQUEST_TYPES } = await import('../../multi/requests/table.ts')
  const { type, details } = requestOf(options, REQUEST_TYPES)
  checkOutput(options, options.explain === true, { '--wide': options.wide })
  const requests = Object.fromEntries(tags.map((tag) => [tag, { type, tag, details }]))
  await runMultiCall(requests, options, context, (answer) =>
    printAnswer(tags, answer, options, context.terminal),
  )
}

function printAnswer(
  tags: readonly string[],
  { results, next = {} }: MultiBody,
  options: Options,
  terminal: Terminal,
): void {
  const answered = [...new Set(tags)].filter((tag) => Object.hasOwn(results, tag))
  if (answered.length === 0) return
  const table = tableOf(answered, results, {
    wide: options.wide === true,
    // Rows that import reads again.
    long: options.csv === true,
    aggregates: options.aggregates,
  })
  printTable(table, options, terminal)
  for (const tag of answered) {
    if (results[tag]!.sampled === 'interpolated')
      note(terminal, `${printable(tag)}: the raw points are too many for a chart; these are interpolated`)
    if (Object.hasOwn(next, tag)) note(terminal, `${printable(tag)}: there are more points; see --max-points`)
  }
}
