import { resolve } from 'node:path'
import type { Command } from 'commander'
import { HintBudget } from '../errors/hint-budget.ts'
import { formatInstant } from '../time/format.ts'
import type { Instant } from '../time/instant.ts'
import { invalidTime } from '../time/invalid-time.ts'
import { parseTime } from '../time/parse.ts'
import { parseTimeZone, systemTimeZone, type TimeZone } from '../time/zone.ts'
import { checkCopy } from './check-copy.ts'
import { presentInstant } from './clock.ts'
import {
  addSettingsOptions,
  type CommandContext,
  loadCommandSettings,
  type SettingsOptions,
} from './context.ts'
import { usageError } from './exit.ts'
import { listOption, option, zoneId } from './options.ts'
import { printable } from './table.ts'
import { note, say } from './terminal.ts'
import type { RestoreOutcome } from './tools.ts'

interface RestoreOptions extends SettingsOptions {
  readonly to?: string
  readonly archive?: string
  readonly historian?: readonly string[]
  readonly now?: string
  readonly zone?: string
  readonly unchecked?: boolean
}

export function addRestoreCommand(program: Command, context: CommandContext): void {
  addSettingsOptions(program.command('restore'))
    .summary('make a data directory of a backup, as of a moment')
    .description(
      'Makes a new data directory of a backup and replays the archived log up to a moment: all that was committed until ' +
        'then, and nothing after it. The backup, the archive and the data directory of the service stay as they are.',
    )
    .argument('<backup>', 'folder that backup made')
    .argument('<folder>', 'where to; it must not exist, or be empty')
    .addOption(
      option('--to <time>', 'the moment, in every form of the interface (default: all that is archived)'),
    )
    .addOption(
      option('--archive <folder>', 'folder of the archive (default: those of the historians configured)'),
    )
    .addOption(listOption('--historian <name>', 'take only this one to the moment, others as backed up'))
    .addOption(option('--now <time>', 'reference of relative times (default: the present)'))
    .addOption(
      option('--zone <id>', 'IANA zone of times without one (default: that of the configuration)').argParser(
        zoneId,
      ),
    )
    .addOption(option('--unchecked', 'do not read the new data directory through afterwards'))
    .addHelpText(
      'after',
      "\nExample:\n  tidemark restore /backups/monday /data/new --to '22.04.2026 10:05' --archive /mnt/archive/tidemark",
    )
    .action((backup: string, folder: string, options: RestoreOptions) =>
      runRestore(backup, folder, options, context),
    )
}

async function runRestore(
  backup: string,
  folder: string,
  options: RestoreOptions,
  context: CommandContext,
): Promise<void> {
  const { settings } = await loadCommandSettings(options, context)
  const { terminal, tools, signal, directory } = context
  const zone = parseTimeZone(options.zone ?? settings.timeZone) ?? systemTimeZone()
  const target = resolve(directory, folder)
  const historians = options.historian ?? null
  const restored = await tools.restoreData(
    settings,
    {
      backup: resolve(directory, backup),
      target,
      to: momentOf(options, zone),
      archive: options.archive === undefined ? null : resolve(directory, options.archive),
      historians,
    },
    signal,
  )
  say(terminal, `Restored ${printable(backup)} to ${printable(target)}`)
  for (const one of restored) say(terminal, describe(one, zone))
  for (const { name, elsewhere } of restored) {
    if (elsewhere !== null) say(terminal, `${name} is in ${printable(elsewhere)}: move it to its path`)
  }
  note(terminal, 'Keys and aliases are those of the backup: revoke again what was revoked since.')
  if (options.unchecked !== true) await checkCopy(settings, target, context)
}

function momentOf({ to, now: reference }: RestoreOptions, zone: TimeZone): Instant | null {
  if (to === undefined) {
    if (reference !== undefined) throw usageError('--now is of use only with --to')
    return null
  }
  const present = presentInstant()
  const timeOf = (input: string, name: string, now: Instant): Instant => {
    const at = parseTime(input, { now, zone })
    if (at === null)
      throw usageError(invalidTime(input, name, { now, zone, hints: new HintBudget() }).message)
    return at
  }
  return timeOf(to, '--to', reference === undefined ? present : timeOf(reference, '--now', present))
}

function describe(
  { name, backedUpAt, isReplayed, segments, lastTime }: RestoreOutcome,
  zone: TimeZone,
): string {
  const backup = `as backed up at ${formatInstant(backedUpAt, zone)}`
  if (!isReplayed) return `${name}: ${backup}`
  const files = `${segments.toLocaleString('en')} archived ${segments === 1 ? 'segment' : 'segments'}`
  const last = lastTime === null ? '' : `, the last change of ${formatInstant(lastTime, zone)}`
  return `${name}: ${backup}, and ${files}${last}`
}
