import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { type KillModel, tagsOfWriter } from './kill-plan.ts'

const { signal } = new AbortController()
const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

/** Compares everything of a writer with what must be there; gives the first difference. */
export async function differenceOf(
  store: FileStore,
  writer: number,
  model: KillModel,
): Promise<string | null> {
  const tags = tagsOfWriter(writer)
  const read = await store.readRanges(
    tags.map((tag) => ({ tag, ...EVER })),
    signal,
  )
  const described = await store.findTags(tags, signal)
  for (const [index, tag] of tags.entries()) {
    const difference =
      model.differenceOf(tag, read[index]!.points) ??
      model.differenceOfText(tag, described[index]?.description ?? null)
    if (difference !== null) return difference
  }
  return null
}
