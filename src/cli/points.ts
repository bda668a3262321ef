import type { Command } from 'commander'
import { type AccessOptions, addAccessOptions, type CommandContext, openAccess } from './context.ts'
import { option, zoneId } from './options.ts'
import { printable } from './table.ts'
import { say } from './terminal.ts'

interface DeleteOptions extends AccessOptions {
  readonly from: string
  readonly to: string
  readonly now?: string
  readonly zone?: string
  readonly dryRun?: boolean
}

export function addPointsCommand(program: Command, context: CommandContext): void {
  const points = program
    .command('points')
    .summary('delete points of tags')
    .description(
      'Points of tags: import writes them, export and query read them, points delete removes them.',
    )

  addAccessOptions(points.command('delete'))
    .summary('delete the points of a range')
    .description(
      'Deletes the points of tags from --from up to and without --to. It cannot be taken back; --dry-run counts first.',
    )
    .argument('<tag...>', 'tag addresses')
    .addOption(option('--from <time>', 'first instant, in every form of the interface').makeOptionMandatory())
    .addOption(option('--to <time>', 'end, not included').makeOptionMandatory())
    .addOption(option('--now <time>', 'reference of relative times (default: the present)'))
    .addOption(option('--zone <id>', 'IANA zone of times without one').argParser(zoneId))
    .addOption(option('--dry-run', 'count, and delete nothing'))
    .addHelpText(
      'after',
      "\nExample:\n  tidemark points delete local/FLOW --from '22.04.2026 10:00' --to '22.04.2026 10:05' --dry-run",
    )
    .action((names: string[], options: DeleteOptions) => deletePoints(names, options, context))
}

async function deletePoints(
  names: readonly string[],
  { from, to, now, zone, dryRun = false, ...options }: DeleteOptions,
  context: CommandContext,
): Promise<void> {
  const access = await openAccess(options, context)
  const body = {
    ranges: Object.fromEntries(names.map((tag) => [tag, [{ from, to }]])),
    dryRun,
    ...(now !== undefined && { now }),
    ...(zone !== undefined && { timeZone: zone }),
  }
  const answer = await access.change('delete/points', body).finally(() => access.close())
  for (const [tag, count] of Object.entries(answer.deleted ?? {})) {
    const points = Number(count).toLocaleString('en-US')
    say(context.terminal, `${dryRun ? 'Would delete' : 'Deleted'} ${points} points of ${printable(tag)}.`)
  }
}
