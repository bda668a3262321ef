import { isDamage } from './committer.ts'
import type { Owner } from './owner.ts'
import { countAll, countSpans } from './plan-changes.ts'
import type { PointReader } from './point-reader.ts'
import type { TagSpan } from './tag-spans.ts'

/*
 * What deletions would remove. They are counted as reads are, in one state: they wait for no changes that are under
 * way, and none wait for them. Both reject with WRITE_FAILED where another process owns the historian by now, which may
 * have changed what was counted.
 */

/** How many points each range would lose; one in several ranges counts for the first. */
export async function countDeletedPoints(
  owner: Owner,
  points: PointReader,
  ranges: readonly TagSpan[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const counts = await points.readTogether(ranges, signal, ({ has, blocksOf }, pace) =>
    countSpans(ranges, pace, (index) => (has(index) ? blocksOf(index) : null)),
  )
  owner.checkOwner()
  return counts
}

/** How many points tags have. Rejects with TAG_NOT_FOUND for a missing one. */
export async function countDeletedTags(
  owner: Owner,
  points: PointReader,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const tags = names.map((tag) => ({ tag }))
  const counts = await points.readTogether(tags, signal, async ({ has, blocksOf, missing }, pace) => {
    for (const index of names.keys()) {
      if (!has(index)) throw missing(index)
      if (pace.isDue()) await pace.pause()
    }
    const counted: number[] = []
    for (const index of names.keys()) {
      counted.push(await countAll(() => blocksOf(index), pace, isDamage))
      if (pace.isDue()) await pace.pause()
    }
    return counted
  })
  owner.checkOwner()
  return counts
}
