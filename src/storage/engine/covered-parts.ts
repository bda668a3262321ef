import { Damage, isUnreadable } from '../damage.ts'
import { coveredShare, RECLAIMED_SHARE } from '../merge/reclaim.ts'
import type { Part, PartInfo } from '../parts/part.ts'
import type { TombstoneList } from '../parts/tombstone-list.ts'
import type { PartSet } from './part-set.ts'

const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * The smallest part of whose points much was taken away, and that there is room for without them: it is worth to be
 * written anew; `null` for none. Rejects with the system's errors but EIO, and the signal's reason.
 * @param excluded  names of parts that are not looked at
 * @param fits      whether there is room for so many bytes
 * @param damaged   takes the names of parts that are found to be damaged
 */
export async function findCovered(
  set: PartSet,
  excluded: ReadonlySet<string>,
  fits: (bytes: number) => boolean,
  damaged: (name: string) => void,
  signal: AbortSignal,
): Promise<PartInfo | null> {
  const tombstones = set.tombstonesWithout(NO_NAMES)
  if (tombstones.length === 0) return null
  for (const { info, part } of set.parts.toSorted((a, b) => a.info.bytes - b.info.bytes)) {
    if (part === null || excluded.has(info.name)) continue
    const share = await shareOf(part, tombstones, damaged, signal)
    if (share >= RECLAIMED_SHARE && fits((1 - share) * info.bytes)) return info
  }
  return null
}

async function shareOf(
  part: Part,
  tombstones: readonly TombstoneList[],
  damaged: (name: string) => void,
  signal: AbortSignal,
): Promise<number> {
  try {
    return await coveredShare(part, tombstones, signal)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    if (error instanceof Damage) damaged(part.info.name)
    return 0
  }
}
