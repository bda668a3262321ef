import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { MetadataPut } from '../historian/contract.ts'
import { type AccessOptions, addAccessOptions, type CommandContext, openAccess } from './context.ts'
import { CommandError, EXIT } from './exit.ts'
import { joinErrors } from './hints.ts'
import { putMetadata, sentencesOf } from './metadata.ts'
import { say } from './terminal.ts'

/** Adds `tags import`, the other half of `tags list --json`. */
export function addTagsImport(tags: Command, context: CommandContext): void {
  addAccessOptions(tags.command('import'))
    .summary('create tags and set their metadata from a file')
    .description(
      'Creates the tags of a file that "tags list --json" printed, or sets their metadata to that of the file: ' +
        'description, units, stepped, maxGap and states. Points are not part of it; see import.',
    )
    .argument('<file>', 'JSON as "tags list --json" prints it; - for standard input')
    .addHelpText(
      'after',
      '\nExample:\n  tidemark tags list --historian local --limit 100000 --json > tags.json\n  tidemark tags import tags.json',
    )
    .action((file: string, options: AccessOptions) => importTags(file, options, context))
}

async function importTags(file: string, options: AccessOptions, context: CommandContext): Promise<void> {
  const entries = entriesOf(await textOf(file, context), file)
  const access = await openAccess(options, context)
  const answer = await putMetadata(access, 'upsert', entries).finally(() => access.close())
  const { entries: stored, problems, cause } = answer
  if (stored.size > 0 || problems.length === 0) {
    const count = stored.size.toLocaleString('en-US')
    say(context.terminal, `Imported the metadata of ${count} ${stored.size === 1 ? 'tag' : 'tags'}.`)
  }
  if (problems.length === 0) return
  const message = 'The metadata of some tags could not be stored'
  const code = stored.size > 0 ? EXIT.partly : EXIT.failed
  throw new CommandError(joinErrors(message, sentencesOf(problems)), code, cause)
}

async function textOf(file: string, { input }: CommandContext): Promise<string> {
  try {
    return String(file === '-' ? await buffer(input) : await readFile(file))
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Metadata by address. What the file does not have of a tag is cleared: the tag is then as it was when listed. */
function entriesOf(text: string, file: string): ReadonlyMap<string, MetadataPut> {
  let listed: unknown
  try {
    listed = JSON.parse(text)
  } catch {
    throw new CommandError(`${file} is no JSON: a list is expected, as tidemark tags list --json prints it`)
  }
  if (!Array.isArray(listed))
    throw new CommandError(`${file} holds no list of tags, as tags list --json prints it`)
  return new Map(listed.map((tag: unknown, index) => entryOf(tag, index, file)))
}

function entryOf(tag: unknown, index: number, file: string): readonly [string, MetadataPut] {
  const { qualifiedTagName, description, units, stepped, maxGap, states } = (tag ?? {}) as Record<
    string,
    unknown
  >
  if (typeof qualifiedTagName !== 'string')
    throw new CommandError(`${file}: entry ${index + 1} has no qualifiedTagName`)
  // Other fields are checked where they are stored, with the sentences of the interface.
  const metadata = { description, units, stepped, maxGap: maxGap ?? null, states: states ?? null }
  return [qualifiedTagName, metadata as MetadataPut]
}
