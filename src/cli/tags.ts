import type { Command } from 'commander'
import type { TagMetadata } from '../historian/contract.ts'
import type { Access, SearchPage } from './access.ts'
import { type AccessOptions, addAccessOptions, type CommandContext, openAccess } from './context.ts'
import { CommandError, EXIT, usageError } from './exit.ts'
import { findMetadata, putMetadata, sayChanged, sentencesOf } from './metadata.ts'
import { addMetadataOptions, type MetadataOptions, metadataOf } from './metadata-options.ts'
import { option, wholeNumber, zoneId } from './options.ts'
import {
  addOutputOptions,
  type Cell,
  checkOutput,
  type OutputOptions,
  printTable,
  type Table,
} from './output.ts'
import { printable } from './table.ts'
import { addTagsImport } from './tags-import.ts'
import { note, say } from './terminal.ts'

interface ListOptions extends AccessOptions, OutputOptions {
  readonly historian?: string
  readonly limit: number
}

interface ShowOptions extends AccessOptions, OutputOptions {
  readonly zone?: string
}

interface ChangeOptions extends AccessOptions, MetadataOptions {}

interface CorrectOptions extends AccessOptions {
  readonly dryRun?: boolean
}

interface RenameOptions extends CorrectOptions {
  readonly aliases?: string
}

const DEFAULT_LIMIT = 1_000
/** Tags of one page; the most that the interface gives is ten times that. */
const PAGE = 10_000

export function addTagsCommand(program: Command, context: CommandContext): void {
  const tags = program
    .command('tags')
    .summary('list, search, show, describe, create, rename and delete tags')
    .description('Tags with their metadata, in a data directory or in a running service with --url.')

  addListOptions(tags.command('list'))
    .summary('list tags by address')
    .description('Lists the tags of all historians, or of --historian, with their metadata.')
    .addHelpText('after', '\nExample:\n  tidemark tags list --historian local --csv > tags.csv')
    .action((options: ListOptions) => listTags(undefined, options, context))

  addListOptions(tags.command('search'))
    .summary('find tags by words or a pattern')
    .description(
      'Finds tags whose name or description has all the words; with * or ? the text is one pattern over the whole name or description.',
    )
    .argument('<words...>', 'words, "several words" as they stand, or a pattern such as "P-1*"')
    .addHelpText('after', "\nExamples:\n  tidemark tags search feed pump\n  tidemark tags search 'P-1*.FLOW'")
    .action((words: string[], options: ListOptions) => listTags(searchText(words), options, context))

  addOutputOptions(addAccessOptions(tags.command('show')))
    .summary('show metadata and the current point of tags')
    .description('Shows the metadata of tags, and their last point.')
    .argument('<tag...>', 'tag addresses')
    .addOption(option('--zone <id>', 'IANA zone of the times printed').argParser(zoneId))
    .addHelpText('after', '\nExample:\n  tidemark tags show local/FLOW')
    .action((names: string[], options: ShowOptions) => showTags(names, options, context))

  addMetadataOptions(addAccessOptions(tags.command('describe')))
    .summary('change metadata of tags')
    .description('Changes what the options say of tags that exist; the rest of their metadata stays.')
    .argument('<tag...>', 'tag addresses')
    .addHelpText(
      'after',
      "\nExample:\n  tidemark tags describe local/FLOW --units m3/h --description 'Feed to T101'",
    )
    .action((names: string[], options: ChangeOptions) => describeTags(names, options, context))

  addMetadataOptions(addAccessOptions(tags.command('create')))
    .summary('make tags without points')
    .description('Makes tags that do not exist yet. Writing and importing points make tags too.')
    .argument('<tag...>', 'tag addresses')
    .addHelpText('after', '\nExample:\n  tidemark tags create local/PUMP --stepped')
    .action((names: string[], options: ChangeOptions) => createTags(names, options, context))

  addTagsImport(tags, context)

  addAccessOptions(tags.command('rename'))
    .summary('give a tag another name')
    .description('Renames a tag inside its historian; its points and metadata stay with it.')
    .argument('<old>', 'address of the tag')
    .argument('<new>', 'its new address')
    .addOption(
      option(
        '--aliases <rule>',
        'aliases that name it: refuse (default), follow, break (see docs/aliases.md)',
      ).choices(['refuse', 'follow', 'break']),
    )
    .addOption(option('--dry-run', 'check, and change nothing'))
    .addHelpText('after', '\nExample:\n  tidemark tags rename local/FLOW local/T101.FLOW --aliases follow')
    .action((old: string, renamed: string, options: RenameOptions) =>
      renameTag(old, renamed, options, context),
    )

  addAccessOptions(tags.command('delete'))
    .summary('delete tags with all their points')
    .description('Deletes tags with all their points. It cannot be taken back; --dry-run counts first.')
    .argument('<tag...>', 'tag addresses')
    .addOption(option('--dry-run', 'count the points, and delete nothing'))
    .addHelpText('after', '\nExample:\n  tidemark tags delete local/OLD --dry-run')
    .action((names: string[], options: CorrectOptions) => deleteTags(names, options, context))
}

function addListOptions(command: Command): Command {
  return addOutputOptions(
    addAccessOptions(command)
      .addOption(option('--historian <name>', 'only tags of this historian'))
      .addOption(
        option('--limit <n>', 'at most so many tags').argParser(wholeNumber(1)).default(DEFAULT_LIMIT),
      ),
  )
}

/** One argument is a text as it stands; of several, those with blanks were in quotes of the shell. */
function searchText(words: readonly string[]): string {
  if (words.length === 1) return words[0]!
  return words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')
}

async function listTags(
  search: string | undefined,
  options: ListOptions,
  context: CommandContext,
): Promise<void> {
  checkOutput(options)
  const { found, more } = await withAccess(options, context, (access) => collect(access, search, options))
  const { terminal } = context
  if (options.json === true) say(terminal, JSON.stringify(found, null, 2))
  else if (found.length > 0) printTable(metadataTable(found), options, terminal)
  if (more) note(terminal, `There are more than ${options.limit} tags: raise --limit, or search for less.`)
  if (found.length > 0) return
  if (search === undefined)
    note(terminal, 'There are no tags yet: tidemark import loads points and makes their tags.')
  else throw new CommandError(`No tag matches ${printable(search)}; tidemark tags list shows all`)
}

async function collect(access: Access, search: string | undefined, { historian, limit }: ListOptions) {
  const found: SearchPage['tags'][number][] = []
  for (let cursor: string | undefined; ; ) {
    const page = await access.searchTags({
      historian,
      search,
      limit: Math.min(PAGE, limit - found.length),
      cursor,
    })
    found.push(...page.tags)
    if (page.next === undefined || found.length >= limit) return { found, more: page.next !== undefined }
    cursor = page.next
  }
}

function metadataTable(found: SearchPage['tags']): Table {
  const hasMaxGap = found.some(({ maxGap }) => maxGap !== undefined)
  const hasStates = found.some(({ states }) => states !== undefined)
  return {
    header: [
      'tag',
      'units',
      'stepped',
      ...(hasMaxGap ? ['maxGap'] : []),
      ...(hasStates ? ['states'] : []),
      'description',
    ],
    rows: found.map(({ qualifiedTagName, ...metadata }) => [
      qualifiedTagName,
      metadata.units ?? '',
      metadata.stepped ? 'yes' : '',
      ...(hasMaxGap ? [metadata.maxGap ?? ''] : []),
      ...(hasStates ? [statesText(metadata)] : []),
      metadata.description ?? '',
    ]),
  }
}

function statesText({ states }: TagMetadata): string {
  return Object.entries(states ?? {})
    .map(([value, name]) => `${value}=${name}`)
    .join(', ')
}

async function showTags(
  names: readonly string[],
  options: ShowOptions,
  context: CommandContext,
): Promise<void> {
  checkOutput(options)
  const wanted = [...new Set(names)]
  const { metadata, answer } = await withAccess(options, context, async (access) => ({
    metadata: await findMetadata(access, wanted),
    answer: await access.multi({
      ...(options.zone !== undefined && { timeZone: options.zone }),
      requests: Object.fromEntries(wanted.map((tag) => [tag, { type: 'CURRENT_POINT', tag }])),
    }),
  }))
  const { terminal } = context
  const { entries, problems, cause } = metadata
  const found = wanted.filter((tag) => entries.has(tag))
  if (options.json === true) {
    say(
      terminal,
      JSON.stringify(
        Object.fromEntries(found.map((tag) => [tag, { ...entries.get(tag), ...answer.results[tag] }])),
        null,
        2,
      ),
    )
  } else if (found.length > 0) {
    const table = metadataTable(found.map((tag) => ({ qualifiedTagName: tag, ...entries.get(tag)! })))
    const rows = table.rows.map((row, index) => [...row, ...currentPoint(answer.results[found[index]!])])
    printTable({ header: [...table.header, 'last', 'value', 'status'], rows }, options, terminal)
  }
  const { errorSentences } = await import('./multi-call.ts')
  const errors = Object.fromEntries(Object.entries(answer.errors).filter(([tag]) => entries.has(tag)))
  const points = errorSentences({ ...answer, errors }).map(printable)
  const sentences = [...new Set([...sentencesOf(problems), ...points])]
  if (sentences.length === 0) return
  throw new CommandError(sentences.join('\n'), found.length > 0 ? EXIT.partly : EXIT.failed, cause)
}

function currentPoint(result: Readonly<Record<string, unknown>> | undefined): readonly Cell[] {
  const point = result?.dataPoint as { timestamp: string; value: number | null; status: string } | undefined
  if (point === undefined || point.value === null) return ['', null, '']
  return [{ time: point.timestamp }, point.value, point.status]
}

async function describeTags(
  names: readonly string[],
  options: ChangeOptions,
  context: CommandContext,
): Promise<void> {
  const changes = metadataOf(options)
  if (Object.keys(changes).length === 0)
    throw usageError('Say what changes: --description, --units, --stepped, --max-gap or --states')
  const answer = await withAccess(options, context, async (access) => {
    const { entries: existing, problems, cause } = await findMetadata(access, names)
    // What is not known of a tag would be cleared.
    const entries = new Map(
      Array.from(existing, ([tag, { description, units, stepped }]) => [
        tag,
        { description, units, stepped, ...changes },
      ]),
    )
    const done = await putMetadata(access, 'update', entries)
    return { ...done, problems: [...problems, ...done.problems], cause: cause ?? done.cause }
  })
  sayChanged('Changed', answer, context.terminal)
}

async function createTags(
  names: readonly string[],
  options: ChangeOptions,
  context: CommandContext,
): Promise<void> {
  const entries = new Map(names.map((tag) => [tag, metadataOf(options)]))
  const answer = await withAccess(options, context, (access) => putMetadata(access, 'create', entries))
  sayChanged('Made', answer, context.terminal)
}

async function renameTag(
  old: string,
  renamed: string,
  { aliases, dryRun = false, ...options }: RenameOptions,
  context: CommandContext,
): Promise<void> {
  const body = { renames: { [old]: renamed }, dryRun, ...(aliases !== undefined && { aliases }) }
  const answer = await withAccess(options, context, (access) => access.change('metadata/rename', body))
  const { terminal } = context
  say(
    terminal,
    dryRun
      ? `${printable(old)} can be renamed to ${printable(renamed)}.`
      : `Renamed ${printable(old)} to ${printable(renamed)}.`,
  )
  for (const [alias, tag] of Object.entries(answer.aliases ?? {})) {
    say(
      terminal,
      `aliases/${printable(alias)} ${dryRun ? 'would refer' : 'refers'} to ${printable(String(tag))}.`,
    )
  }
}

async function deleteTags(
  names: readonly string[],
  { dryRun = false, ...options }: CorrectOptions,
  context: CommandContext,
): Promise<void> {
  const answer = await withAccess(options, context, (access) =>
    access.change('metadata/delete', { tags: names, dryRun }),
  )
  for (const [tag, points] of Object.entries(answer.deleted ?? {})) {
    const count = Number(points).toLocaleString('en-US')
    say(context.terminal, `${dryRun ? 'Would delete' : 'Deleted'} ${printable(tag)} with ${count} points.`)
  }
}

async function withAccess<Done>(
  options: AccessOptions,
  context: CommandContext,
  work: (access: Access) => Promise<Done>,
): Promise<Done> {
  const access = await openAccess(options, context)
  return await work(access).finally(() => access.close())
}
