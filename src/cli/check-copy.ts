import type { Settings } from '../config/settings.ts'
import type { CommandContext } from './context.ts'
import { CommandError, EXIT } from './exit.ts'
import { printable } from './table.ts'
import { note, say, type Terminal } from './terminal.ts'
import type { CheckReport } from './tools.ts'

/**
 * Reads a new copy of a data directory through: what was damaged before is damaged in it. Throws CommandError with the
 * exit code of damage.
 */
export async function checkCopy(settings: Settings, target: string, context: CommandContext): Promise<void> {
  const { historians } = await context.tools.checkData(
    { ...settings, dataDir: target, historians: new Map() },
    context.signal,
  )
  if (reportDamage(historians, context.terminal) > 0) {
    throw new CommandError(
      'The copy is whole, but holds stored data that are damaged. Keep earlier backups.',
      EXIT.damaged,
    )
  }
  say(context.terminal, 'checked: good')
}

/** Says what is damaged; gives the number of historians that are. */
export function reportDamage(historians: CheckReport['historians'], terminal: Terminal): number {
  for (const { name, problems } of historians) {
    for (const problem of problems) note(terminal, `${name}: ${printable(problem)}`)
  }
  return historians.filter(({ problemCount }) => problemCount > 0).length
}
