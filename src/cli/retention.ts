import type { Command } from 'commander'
import { formatInstant } from '../time/format.ts'
import { instantFromUs } from '../time/instant.ts'
import { parseTimeZone, UTC } from '../time/zone.ts'
import { presentInstant } from './clock.ts'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { usageError } from './exit.ts'
import { option } from './options.ts'
import { formatTable, printable } from './table.ts'
import { say, type Terminal } from './terminal.ts'
import type { RetentionReport } from './tools.ts'

interface Options extends SettingsOptions {
  readonly historian?: string
  readonly json?: boolean
}

/** The command that says what rules of retention would remove. */
export function addRetentionCommand(program: Command, context: CommandContext): void {
  addSettingsOptions(program.command('retention'))
    .summary('say what the rules of retention would remove')
    .description(
      'Reads the data of embedded historians and says what their configured rules of retention would remove now: a dry ' +
        'run, which changes nothing, also while a service runs on the data. Bytes are an estimate.',
    )
    .addOption(option('--historian <name>', 'only this one'))
    .addOption(option('--json', 'print the report as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark retention --config new-rules.yaml')
    .action((options: Options) => runRetention(options, context))
}

async function runRetention(options: Options, context: CommandContext): Promise<void> {
  const { settings } = await loadCommandSettings(options, context)
  const { historian } = options
  if (historian !== undefined && !settings.historians.has(historian)) {
    const known = [...settings.historians.keys()].join(', ')
    throw usageError(`--historian: ${printable(historian)} is not configured: one of ${known} is expected`)
  }
  const { terminal, tools, signal } = context
  const report = await tools.previewRetention(settings, presentInstant(), historian ?? null, signal)
  if (options.json === true) {
    say(terminal, JSON.stringify(report, null, 2))
    return
  }
  if (report.historians.length === 0) say(terminal, 'No embedded historian has rules of retention')
  const zone = parseTimeZone(settings.timeZone) ?? UTC
  const time = (us: number) => formatInstant(instantFromUs(us), zone)
  for (const one of report.historians) print(one, time, terminal)
}

function print(
  { name, rules, keptTags, files, wholeFiles, smallerFiles }: RetentionReport['historians'][number],
  time: (us: number) => string,
  terminal: Terminal,
): void {
  const count = (number: number) => number.toLocaleString('en')
  const rows = rules.map(({ match, until, tags, points, bytes }) => [
    name,
    printable(match),
    time(until),
    count(tags),
    count(points),
    count(bytes),
  ])
  const header = ['historian', 'match', 'up to', 'tags', 'points', 'bytes (about)']
  terminal.out.write(formatTable(header, rows, new Set([3, 4, 5])))
  say(
    terminal,
    `Of ${count(files)} files ${count(wholeFiles)} would go and ${count(smallerFiles)} become smaller. ` +
      `${count(keptTags)} ${keptTags === 1 ? 'tag has' : 'tags have'} no rule.`,
  )
}
