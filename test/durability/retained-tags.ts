import type { FileStore } from '../../src/storage/engine/file-store.ts'
import { RETAINED, type RetainedTag } from './retention-plan.ts'

const EVER = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER, order: 'asc', limit: 1e7 } as const

/** What is there of the tags with a rule, by name; points and descriptions of one state where nobody writes. */
export async function readRetained(
  store: FileStore,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RetainedTag>> {
  const read = await store.readRanges(
    RETAINED.map((tag) => ({ tag, ...EVER })),
    signal,
  )
  const records = await store.findTags(RETAINED, signal)
  return new Map(
    RETAINED.flatMap((tag, i) => {
      const record = records[i]
      return record == null
        ? []
        : [[tag, { points: read[i]!.points, description: record.description }] as const]
    }),
  )
}
