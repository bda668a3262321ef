import { isUnreadable } from '../damage.ts'
import type { RunExtent } from '../parts/part.ts'
import { NO_WATERMARK } from '../retention/tag-watermarks.ts'
import type { PartSet } from './part-set.ts'
import type { TagMemory } from './tag-sources.ts'

/** What of memory is asked for of each tag. */
interface MemoryOfTags {
  layers(tag: number): TagMemory['layers']
  tombstones(tag: number): TagMemory['tombstones']
}

const extent: RunExtent = { count: 0, firstTime: 0, lastTime: 0 }

/**
 * How many points a tag has whose parts and memory hold points of times apart from each other, none of them hidden or
 * taken away; `null` for any other, which is to be counted by its blocks. Of the very many tags of one request it
 * leaves hardly any garbage.
 */
export function countApart(
  tag: number,
  set: Pick<PartSet, 'parts' | 'tombstones' | 'lostTombstones'>,
  memory: MemoryOfTags,
  watermark: number,
): number | null {
  if (watermark !== NO_WATERMARK || set.lostTombstones !== null) return null
  if (set.tombstones(tag).length > 0 || memory.tombstones(tag).length > 0) return null
  let count = 0
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  try {
    for (const { info, part, damage } of set.parts) {
      if (info.points === 0 || part?.has(tag) === false) continue
      if (part === null || damage !== null) return null
      part.measure(tag, extent)
      if (extent.firstTime <= last && extent.lastTime >= first) return null
      first = Math.min(first, extent.firstTime)
      last = Math.max(last, extent.lastTime)
      count += extent.count
    }
  } catch (error) {
    // What is damaged is told, or left out, where blocks are counted.
    if (!isUnreadable(error)) throw error
    return null
  }
  // Last, as they are copies.
  const layers = memory.layers(tag)
  if (layers.length === 0) return count
  const { times } = layers[0]!
  return layers.length > 1 || (times[0]! <= last && times.at(-1)! >= first) ? null : count + times.length
}
