import type { MetadataPut, PutMode, TagMetadata } from '../historian/contract.ts'
import type { Access, MetadataAnswer, MetadataProblem } from './access.ts'
import { CommandError, EXIT } from './exit.ts'
import { firstErrors } from './hints.ts'
import { printable } from './table.ts'
import { TagChunks } from './tag-chunks.ts'
import { say, type Terminal } from './terminal.ts'

/** Tags of one request, where the service takes as many. */
const CHUNK = 1000

/** Metadata of any number of tags, request by request. */
export function findMetadata(access: Access, addresses: readonly string[]): Promise<MetadataAnswer> {
  return inChunks([...new Set(addresses)], (chunk) => access.getMetadata(chunk))
}

/**
 * Creates tags, changes those that exist, or both, request by request; `maxGap` and `states` that are left out stay.
 * Those of a request that ends in an error, and of all further ones, are not stored.
 */
export function putMetadata(
  access: Access,
  mode: PutMode,
  entries: ReadonlyMap<string, Partial<MetadataPut>>,
): Promise<MetadataAnswer> {
  const change = mode === 'update' ? 'metadata/update' : 'metadata/create'
  const flags = mode === 'upsert' ? { updateIfExists: true } : {}
  return inChunks([...entries], (chunk) =>
    access.putMetadata(change, { entries: Object.fromEntries(chunk), ...flags }),
  )
}

/** One answer of those to all chunks. The error of a later request is a problem beside what was done before it. */
async function inChunks<Item>(
  items: readonly Item[],
  ask: (chunk: readonly Item[]) => Promise<MetadataAnswer>,
): Promise<MetadataAnswer> {
  const entries = new Map<string, TagMetadata>()
  const problems: MetadataProblem[] = []
  let cause: unknown
  try {
    await new TagChunks(CHUNK).each(items, async (chunk) => {
      const answer = await ask(chunk)
      for (const [address, metadata] of answer.entries) entries.set(address, metadata)
      problems.push(...answer.problems)
      cause ??= answer.cause
    })
  } catch (error) {
    if (entries.size === 0 || !(error instanceof CommandError)) throw error
    problems.push({ code: '', sentence: error.message })
    cause ??= error
  }
  return { entries, problems, cause }
}

/**
 * Says which tags a change was made for, one by one where there are others beside them.
 * @param done such as `Made`
 * @throws CommandError for the others: as done in part, or failed where nothing was done
 */
export function sayChanged(done: string, answer: MetadataAnswer, terminal: Terminal): void {
  const { entries, problems, cause } = answer
  const names = [...entries.keys()].map(printable)
  if (problems.length === 0 && names.length > 1) say(terminal, `${done} ${names.length} tags.`)
  else for (const name of names) say(terminal, `${done} ${name}.`)
  if (problems.length === 0) return
  const code = entries.size > 0 ? EXIT.partly : EXIT.failed
  throw new CommandError(firstErrors(sentencesOf(problems)).join('\n'), code, cause)
}

export function sentencesOf(problems: readonly MetadataProblem[]): readonly string[] {
  return problems.map(({ sentence }) => printable(sentence))
}
