import { TidemarkError } from '../errors/tidemark-error.ts'
import type { CallContext, Historian, TagMetadata } from '../historian/contract.ts'
import { untilAborted } from '../historian/deadline.ts'
import { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach, mapEach } from '../scheduling/each.ts'
import type { TagName } from './target.ts'

/** The tags of a request by the historian that must be queried about them. */
export type TagsByHistorian = ReadonlyMap<Historian, readonly TagName[]>

/**
 * Items of a request under their historians, in the order in which they are added: while the request is read, as a pass
 * of its own over all of them would hold up the event loop.
 */
export class ByHistorian<Item> extends Map<Historian, Item[]> {
  add(historian: Historian, item: Item): void {
    const known = this.get(historian)
    if (known === undefined) this.set(historian, [item])
    else known.push(item)
  }
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
export async function findMissing(asked: TagsByHistorian, context: CallContext): Promise<Existence> {
  const missing = new Set<TagName>()
  const scheduler = new CooperativeScheduler(context.signal)
  const failures = await askAll([...asked.keys()], context, async (historian) => {
    const names = asked.get(historian)!
    const tags = await namesOf(names, scheduler)
    // Metadata of very many tags keep the garbage collector busy.
    const found = await (historian.hasTags?.(tags, context) ?? historian.findTags(tags, context))
    await forEach(names, scheduler, (name, index) => {
      if (!found[index]) missing.add(name)
    })
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
  const scheduler = new CooperativeScheduler(context.signal)
  await askAll([...tags.keys()], context, async (historian) => {
    const names = tags.get(historian)!
    try {
      const metadata = await historian.findTags(await namesOf(names, scheduler), context)
      await forEach(names, scheduler, (name, index) => {
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
  // Nothing is changed yet: a driver that does not end with its signal is not waited for.
  const answers = await Promise.allSettled(
    historians.map((historian) => untilAborted(context.signal, () => ask(historian))),
  )
  context.signal.throwIfAborted()
  const failures: TidemarkError[] = []
  for (const given of answers) {
    if (given.status === 'fulfilled') continue
    if (!(given.reason instanceof TidemarkError)) throw given.reason
    failures.push(given.reason)
  }
  return failures
}

function namesOf(names: readonly TagName[], scheduler: CooperativeScheduler): Promise<string[]> {
  return mapEach(names, scheduler, (name) => name.tag)
}
