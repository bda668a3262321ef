import type { Command } from 'commander'
import { isAll } from './aggregate-cells.ts'
import { addAccessOptions, type CommandContext } from './context.ts'
import { usageError } from './exit.ts'
import { type Found, foundOf, gapTable, intervalTable } from './interval-tables.ts'
import { type CallOptions, runMultiCall } from './multi-call.ts'
import { listOption, option, wholeNumber, zoneId } from './options.ts'
import { addOutputOptions, checkOutput, type OutputOptions, printTable, type Table } from './output.ts'
import { printable } from './table.ts'
import { note } from './terminal.ts'

interface RangeOptions extends CallOptions, OutputOptions {
  readonly from: string
  readonly to?: string
  readonly maxIntervals?: number
}

interface IntervalsOptions extends RangeOptions {
  readonly minDuration?: string
  readonly mergeWithin?: string
  readonly maxGap?: string
  readonly aggregatesOf?: string
  readonly aggregates?: readonly string[]
  readonly per?: string
}

interface GapsOptions extends RangeOptions {
  readonly longerThan: string
}

export function addIntervalCommands(program: Command, context: CommandContext): void {
  addRangeOptions(program.command('intervals'))
    .summary('list when tags were not 0')
    .description(
      'Lists the intervals in which a tag or calculation has a value other than 0: when a pump ran, when a level was ' +
        'too high. They are cut at the range; "open" says that one goes on beyond it.',
    )
    .addOption(option('--min-duration <duration>', 'leave out shorter ones, such as 5m; open ones stay'))
    .addOption(option('--merge-within <duration>', 'pauses of 0 up to this long do not end an interval'))
    .addOption(option('--max-gap <duration>', 'how long a value is good for, such as 5m'))
    .addOption(
      option('--aggregates-of <tag>', 'a tag or calculation to be aggregated over each, with --aggregates'),
    )
    .addOption(listOption('--aggregates <names>', 'such as AVG,MAX, in this order, or all'))
    .addOption(option('--per <unit>', 'time unit of the rate that the aggregate TOTAL adds up, such as 1h'))
    .addHelpText(
      'after',
      `
Examples:
  tidemark intervals local/PUMP --from 'yesterday' --to 'today'
  tidemark intervals 'calc/THRESHOLD(local/LEVEL, 80, 1, 0)' --from now-7d --merge-within 1m --min-duration 5m
  tidemark intervals local/BATCH --from now-1d --aggregates-of local/TEMP --aggregates min,max`,
    )
    .action((tags: string[], options: IntervalsOptions) => runIntervals(tags, options, context))
  addRangeOptions(program.command('gaps'))
    .summary('list when tags had no good points')
    .description(
      'Lists the times without a good raw point that are longer than --longer-than, and whether BAD points lie inside.',
    )
    .addOption(option('--longer-than <duration>', 'such as 10s, 5m or 1d').makeOptionMandatory())
    .addHelpText(
      'after',
      `
Examples:
  tidemark gaps local/FLOW local/LEVEL --from now-1d --longer-than 1m
  tidemark gaps local/FLOW --from 01.01.2026 --longer-than 1h --csv --zone Europe/Berlin > gaps.csv`,
    )
    .action((tags: string[], options: GapsOptions) => runGaps(tags, options, context))
}

function addRangeOptions(command: Command): Command {
  addAccessOptions(command)
    .argument('<tag...>', 'tag addresses and calculations')
    .addOption(
      option(
        '--from <time>',
        'first instant, in every form of the interface: "2h ago", 2026-01-15',
      ).makeOptionMandatory(),
    )
    .addOption(option('--to <time>', 'end (default: now)'))
    .addOption(option('--now <time>', 'reference of relative times (default: the present)'))
    .addOption(option('--max-intervals <n>', 'of each tag (default: 1000)').argParser(wholeNumber(1)))
    .addOption(option('--zone <id>', 'IANA zone of the call and of the times printed').argParser(zoneId))
    .addOption(option('--explain', 'say what it would cost, and read nothing'))
  return addOutputOptions(command)
}

async function runIntervals(
  tags: readonly string[],
  options: IntervalsOptions,
  context: CommandContext,
): Promise<void> {
  const { from, to, maxIntervals, minDuration, mergeWithin, maxGap, aggregatesOf, per } = options
  if (options.aggregates !== undefined && aggregatesOf === undefined)
    throw usageError('--aggregates needs --aggregates-of, the tag to be aggregated')
  if (per !== undefined && options.aggregates === undefined)
    throw usageError('--per needs --aggregates total')
  const { aggregates: names } = options
  const aggregates = names === undefined || isAll(names) ? undefined : names
  const lengths = { minDuration, mergeWithin, maxGap }
  const details = { from, to, maxIntervals, ...lengths, aggregatesOf, aggregates, per }
  await run('INTERVALS', tags, details, options, context, (found) => intervalTable(found, options))
}

async function runGaps(
  tags: readonly string[],
  options: GapsOptions,
  context: CommandContext,
): Promise<void> {
  const { from, to, maxIntervals, longerThan } = options
  const details = { from, to, maxIntervals, longerThan }
  await run('GAPS', tags, details, options, context, (found) => gapTable(found, options))
}

/**
 * Makes the call of a command, prints what was found in all its tags as one table, and says of which there are more.
 */
async function run(
  type: string,
  tags: readonly string[],
  details: Readonly<Record<string, unknown>>,
  options: RangeOptions,
  context: CommandContext,
  tableOf: (found: readonly Found[]) => Table,
): Promise<void> {
  checkOutput(options, options.explain === true)
  const given = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined))
  const requests = Object.fromEntries(tags.map((tag) => [tag, { type, tag, details: given }]))
  await runMultiCall(requests, options, context, ({ results, next = {} }) => {
    const answered = [...new Set(tags)].filter((tag) => Object.hasOwn(results, tag))
    if (answered.length === 0) return
    printTable(tableOf(foundOf(answered, results)), options, context.terminal)
    for (const tag of answered) {
      if (Object.hasOwn(next, tag))
        note(context.terminal, `${printable(tag)}: there are more; see --max-intervals`)
    }
  })
}
