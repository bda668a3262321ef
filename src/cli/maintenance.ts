import { resolve } from 'node:path'
import type { Command } from 'commander'
import { checkCopy, reportDamage } from './check-copy.ts'
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
  readonly repair?: boolean
  readonly json?: boolean
}

interface BackupOptions extends SettingsOptions {
  readonly link?: boolean
  readonly since?: string
  readonly unchecked?: boolean
}

/** The commands that look after a data directory; they work beside a running service, but for repairs. */
export function addMaintenanceCommands(program: Command, context: CommandContext): void {
  addSettingsOptions(program.command('check'))
    .summary('read all that is stored and say what is damaged')
    .description(
      'Reads every tag and point of a data directory and says what is damaged, also while a service runs on it. ' +
        'Changes nothing without --repair. Ends with exit code 4 when there is damage.',
    )
    .addOption(
      option(
        '--repair',
        'first keep what is intact of damaged files and set those aside; no service may be running',
      ),
    )
    .addOption(option('--json', 'print the report as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark check --data-dir /var/lib/tidemark')
    .action((options: CheckOptions) => runCheck(options, context))

  addSettingsOptions(program.command('backup'))
    .summary('copy the data directory as of one moment')
    .description(
      'Copies a data directory into a new folder, also while a service runs on it, and checks the copy. It is a data ' +
        'directory: serve it with --data-dir, or move it back in place of the original.',
    )
    .argument('<folder>', 'where to; it must not exist, or be empty')
    .addOption(
      option(
        '--since <folder>',
        'an earlier backup: files that are the same there are linked from it, not copied again',
      ),
    )
    .addOption(
      option(
        '--link',
        'link files that never change with those of the data directory: quick, but no second copy of them',
      ).conflicts('since'),
    )
    .addOption(option('--unchecked', 'do not read the copy through afterwards'))
    .addHelpText(
      'after',
      '\nExamples:\n  tidemark backup /backups/monday\n  tidemark backup /backups/tuesday --since /backups/monday',
    )
    .action((folder: string, options: BackupOptions) => runBackup(folder, options, context))
}

async function runCheck(options: CheckOptions, context: CommandContext): Promise<void> {
  const { settings } = await loadCommandSettings(options, context)
  const { terminal, tools, signal } = context
  if (options.repair === true) {
    const tell = (name: string, sentences: readonly string[]) => {
      for (const sentence of sentences) note(terminal, `${name}: ${printable(sentence)}`)
    }
    await tools.repairData(settings, tell, signal)
  }
  const report = await tools.checkData(settings, signal)
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
    reportDamage(report.historians, terminal)
  }
  if (report.historians.some(({ problemCount }) => problemCount > 0)) {
    throw new CommandError(
      'Stored data is damaged; what is not is still read. Restore a backup.',
      EXIT.damaged,
    )
  }
}

async function runBackup(folder: string, options: BackupOptions, context: CommandContext): Promise<void> {
  const { settings } = await loadCommandSettings(options, context)
  const { terminal, tools, signal, directory } = context
  const target = resolve(directory, folder)
  const since = options.since === undefined ? null : resolve(directory, options.since)
  const link = options.link === true
  const began = new Date()
  const { elsewhere, ...counts } = await tools.backupData(settings, target, { link, since }, signal)
  say(terminal, `Copied ${printable(settings.dataDir)} to ${printable(target)}`)
  for (const { name, folder, copy } of elsewhere) {
    say(terminal, `Copied ${printable(folder)} of historian ${name} to ${printable(copy)}: restore it there`)
  }
  say(terminal, `copied ${countOf(counts.copied)}`)
  if (link) {
    say(terminal, `linked ${countOf(counts.linked)}`)
    note(terminal, 'What is linked is no second copy: damage of its file or disk is damage of both.')
  }
  if (since !== null) say(terminal, `reused ${countOf(counts.reused)} of ${printable(since)}`)
  if (counts.differing.files > 0) {
    note(
      terminal,
      `${countOf(counts.differing)} differ from those of ${printable(since ?? '')} and were copied again: they are ` +
        'damaged there, or here where the check says so',
    )
  }
  if (options.unchecked !== true) await checkCopy(settings, target, context)
  // One that shares its files with the data, or holds damaged ones, is none that anybody should rely on.
  if (!link) await tools.noteBackup(settings, began)
}

const countOf = ({ files, bytes }: { readonly files: number; readonly bytes: number }) =>
  `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}, ${bytes.toLocaleString('en')} bytes`
