import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import type { TagName } from './target.ts'

/** The tags of a request by the historian that must be queried about them. */
export type TagsByHistorian = ReadonlyMap<Historian, readonly TagName[]>

/** Sorts found tags under their historians, in the order of the request. */
export function groupByHistorian<Item extends { readonly historian: Historian }>(
  items: readonly Item[],
): ReadonlyMap<Historian, readonly Item[]> {
  return Map.groupBy(items, (item) => item.historian)
}

export interface Existence {
  readonly missing: ReadonlySet<TagName>
  /** Why a historian could not say, one error for each that could not. */
  readonly failures: readonly TidemarkError[]
}

/**
 * Queries all historians in parallel for which of its tags do not exist. An aborted call throws its reason, and so does
 * what is no TidemarkError.
 */
export async function findMissing(tags: TagsByHistorian, context: CallContext): Promise<Existence> {
  const missing = new Set<TagName>()
  const failures = await askAll([...tags.keys()], context, async (historian) => {
    const names = tags.get(historian)!
    const found = await historian.findTags(namesOf(names), context)
    for (let index = 0; index < names.length; index++) {
      if ((found[index] ?? null) === null) missing.add(names[index]!)
    }
  })
  return { missing, failures }
}

/** Metadata of the tags that exist, and why historians could not say; throws as `findMissing` does. */
export async function findMetadata(
  tags: TagsByHistorian,
  context: CallContext,
): Promise<{
  readonly found: ReadonlyMap<TagName, TagMetadata>
  readonly failed: ReadonlyMap<Historian, TidemarkError>
}> {
  const found = new Map<TagName, TagMetadata>()
  const failed = new Map<Historian, TidemarkError>()
  await askAll([...tags.keys()], context, async (historian) => {
    const names = tags.get(historian)!
    try {
      const metadata = await historian.findTags(namesOf(names), context)
      names.forEach((name, index) => {
        if (metadata[index]) found.set(name, metadata[index])
      })
    } catch (error) {
      if (error instanceof TidemarkError) failed.set(historian, error)
      throw error
    }
  })
  return { found, failed }
}

/** Checks whether historians can be reached, and gives the errors of unreachable ones. */
export async function findUnreachable(
  historians: readonly Historian[],
  context: CallContext,
): Promise<readonly TidemarkError[]> {
  return askAll(historians, context, async (historian) => historian.checkHealth(context))
}

async function askAll(
  historians: readonly Historian[],
  context: CallContext,
  ask: (historian: Historian) => Promise<void>,
): Promise<readonly TidemarkError[]> {
  const answers = await Promise.allSettled(historians.map(ask))
  context.signal.throwIfAborted()
  const failures: TidemarkError[] = []
  for (const given of answers) {
    if (given.status === 'fulfilled') continue
    if (!(given.reason instanceof TidemarkError)) throw given.reason
    failures.push(given.reason)
  }
  return failures
}

function namesOf(names: readonly TagName[]): string[] {
  return names.map((name) => name.tag)
}
