import type { Command } from 'commander'
import type { AliasPage } from './access.ts'
import { type AccessOptions, addAccessOptions, type CommandContext, openAccess } from './context.ts'
import { option } from './options.ts'
import { formatTable, printable } from './table.ts'
import { note, say } from './terminal.ts'

interface ListOptions extends AccessOptions {
  readonly prefix?: string
  readonly json?: boolean
}

interface PutOptions extends AccessOptions {
  readonly description?: string
  readonly units?: string
}

export function addAliasCommand(program: Command, context: CommandContext): void {
  const alias = program
    .command('alias')
    .summary('list, put and delete aliases')
    .description('Aliases: tags and calculations under a name of their own, read as aliases/<name>.')

  addAccessOptions(alias.command('list'))
    .summary('list aliases by name')
    .description('Lists the aliases and what they refer to.')
    .addOption(option('--prefix <text>', 'only names that begin so'))
    .addOption(option('--json', 'print the aliases as JSON'))
    .addHelpText('after', '\nExample:\n  tidemark alias list --prefix line1/')
    .action((options: ListOptions) => listAliases(options, context))

  addAccessOptions(alias.command('put'))
    .summary('make or change an alias')
    .description('Makes an alias, or replaces it as a whole.')
    .argument('<name>', 'its name, without aliases/')
    .argument('<tag>', 'the tag address or calculation that it refers to')
    .addOption(option('--description <text>', 'what it is'))
    .addOption(option('--units <units>', 'such as m3/h'))
    .addHelpText(
      'after',
      "\nExample:\n  tidemark alias put line1/power 'calc/MUL(local/U, local/I)' --units W",
    )
    .action((name: string, tag: string, options: PutOptions) => putAlias(name, tag, options, context))

  addAccessOptions(alias.command('delete'))
    .summary('remove an alias')
    .description('Removes an alias. What it referred to stays.')
    .argument('<name>', 'its name, without aliases/')
    .addHelpText('after', '\nExample:\n  tidemark alias delete line1/power')
    .action((name: string, options: AccessOptions) => deleteAlias(name, options, context))
}

async function listAliases(options: ListOptions, context: CommandContext): Promise<void> {
  const access = await openAccess(options, context)
  const found: AliasPage['aliases'][number][] = []
  try {
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await access.listAliases({ prefix: options.prefix, cursor })
      found.push(...page.aliases)
      cursor = page.next
      more = cursor !== undefined
    }
  } finally {
    await access.close()
  }
  const { terminal } = context
  if (options.json === true) say(terminal, JSON.stringify(found, null, 2))
  else if (found.length === 0) note(terminal, 'There are no such aliases; tidemark alias put makes one.')
  else {
    const rows = found.map(({ name, tag, units, description }) => [name, tag, units ?? '', description ?? ''])
    terminal.out.write(formatTable(['name', 'refers to', 'units', 'description'], rows))
  }
}

async function putAlias(
  name: string,
  tag: string,
  {
    description = null,
    units = null,
    ...options
  }: Omit<PutOptions, 'description' | 'units'> & {
    readonly description?: string | null
    readonly units?: string | null
  },
  context: CommandContext,
): Promise<void> {
  const access = await openAccess(options, context)
  const { isNew, warnings } = await access
    .putAlias(name, { tag, description, units })
    .finally(() => access.close())
  say(context.terminal, `${isNew ? 'Made' : 'Changed'} aliases/${printable(name)}.`)
  for (const warning of warnings) note(context.terminal, printable(warning))
}

async function deleteAlias(name: string, options: AccessOptions, context: CommandContext): Promise<void> {
  const access = await openAccess(options, context)
  await access.deleteAlias(name).finally(() => access.close())
  say(context.terminal, `Deleted aliases/${printable(name)}.`)
}
