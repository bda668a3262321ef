import { resolve } from 'node:path'
import type { Command } from 'commander'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { CommandError, EXIT } from './exit.ts'
import { option } from './options.ts'
import { formatTable, printable } from './table.ts'
import { note, say } from './terminal.ts'

interface CheckOptions extends SettingsOptions {
  readonly json?: boolean
}

/** The commands that look after a data directory; both work beside a running service. */
export function addCareCommands(program: Command, context: CommandContext): void {
  addSettingsOptions(program.command('check'))
    .summary('read all that is stored and say what is damaged')
    .description(
      'Reads every tag and point of a data directory and says what is damaged, also while a service runs on it. ' +
        'Changes nothing. Ends with exit code 4 when there is damage.',
    )
    .addOption(option('--json', 'print the report as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark check --data-dir /var/lib/tidemark')
    .action((options: CheckOptions) => runCheck(options, context))

  addSettingsOptions(program.command('backup'))
    .summary('copy the data directory as of one moment')
    .description(
      'Copies a data directory into a new folder, also while a service runs on it. The copy is a data directory: serve ' +
        'it with --data-dir, or move it back in place of the original.',
    )
    .argument('<folder>', 'where to; it must not exist, or be empty')
    .addHelpText('after', '\nExample:\n  tidemark backup /backups/tidemark-monday')
    .action((folder: string, options: SettingsOptions) => runBackup(folder, options, context))
}

async function runCheck(options: CheckOptions, context: CommandContext): Promise<void> {
  const { settings } = await loadCommandSettings(options, context)
  const { terminal, tools, signal } = context
  const report = await tools.checkData(settings, signal)
  const damage = report.historians.flatMap(({ name, problems }) =>
    problems.map((problem) => ({ name, problem })),
  )
  if (options.json === true) {
    say(terminal, JSON.stringify(report, null, 2))
  } else {
    const rows = report.historians.map(({ name, tags, points, problemCount }) => [
      name,
      tags.toLocaleString('en'),
      points.toLocaleString('en'),
      problemCount === 0 ? 'good' : `${problemCount} damaged`,
    ])
    terminal.out.write(formatTable(['historian', 'tags', 'points', 'state'], rows, new Set([1, 2])))
    for (const { name, problem } of damage) note(terminal, `${name}: ${printable(problem)}`)
  }
  if (report.historians.some(({ problemCount }) => problemCount > 0)) {
    throw new CommandError(
      'Stored data is damaged; what is not is still read. Restore a backup.',
      EXIT.damaged,
    )
  }
}

async function runBackup(folder: string, options: SettingsOptions, context: CommandContext): Promise<void> {
  const { settings } = await loadCommandSettings(options, context)
  const { terminal, tools, signal, directory } = context
  const target = resolve(directory, folder)
  const elsewhere = await tools.backupData(settings, target, signal)
  say(terminal, `Copied ${settings.dataDir} to ${target}`)
  for (const { name, folder, copy } of elsewhere) {
    say(terminal, `Copied ${printable(folder)} of historian ${name} to ${printable(copy)}: restore it there`)
  }
}
