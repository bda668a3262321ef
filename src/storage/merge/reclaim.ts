import { lowerBound } from '../../series/columns.ts'
import type { Span } from '../blocks/spans.ts'
import type { Part, PartRun } from '../parts/part.ts'
import { SmallRun } from '../parts/runs.ts'
import { TombstoneBuilder } from '../parts/tombstone-columns.ts'
import type { TombstoneList } from '../parts/tombstone-list.ts'
import { Pacer } from '../pause.ts'
import { TombstoneMap } from './tombstone-map.ts'

/** A part is written anew by itself when tombstones cover so much of its points. */
export const RECLAIMED_SHARE = 0.3

/**
 * How much of the points of a part tombstones cover, from 0 to 1, in slices of some milliseconds. Of large runs only
 * whole blocks count: a merge of this part alone leaves none of those, so that it is not merged for them again. Reads
 * the index of the tags that have tombstones, and pages of small runs. Rejects with Damage, the system's errors and the
 * signal's reason.
 * @param tombstones  of all parts; those count that are newer than this one
 */
export async function coveredShare(
  part: Part,
  tombstones: readonly TombstoneList[],
  signal: AbortSignal,
): Promise<number> {
  const { points, firstTime, lastTime, lastSequence } = part.info
  if (points === 0) return 0
  const pacer = new Pacer()
  const covering = new TombstoneBuilder()
  for (const { columns } of tombstones) {
    const { tags, from, to, sequences } = columns
    for (let i = 0; i < tags.length; i++) {
      const sequence = sequences[i]!
      const covers =
        sequence > lastSequence && from[i]! <= lastTime && to[i]! > firstTime && part.has(tags[i]!)
      if (covers) covering.add(tags[i]!, from[i]!, to[i]!, sequence)
      if (pacer.isDue()) await pacer.pause(signal)
    }
  }
  const columns = covering.sorted()
  const byTag = new TombstoneMap([columns])
  let covered = 0
  for (let i = 0; i < columns.tags.length; i++) {
    const tag = columns.tags[i]!
    if (i > 0 && columns.tags[i - 1] === tag) continue
    covered += coveredOf(part.run(tag)!, byTag.cuts(tag, lastSequence))
    if (pacer.isDue()) await pacer.pause(signal)
  }
  return covered / points
}

/** Points of a run within spans; of a large run only those of whole blocks. */
export function coveredOf(run: PartRun, cuts: readonly Span[]): number {
  let covered = 0
  for (const { from, to } of cuts) {
    if (run instanceof SmallRun) {
      covered += lowerBound(run.points.times, to) - lowerBound(run.points.times, from)
      continue
    }
    for (let block = Math.max(0, run.blockBefore(from)); block < run.blocks; block++) {
      if (run.blockFirst(block) < from) continue
      if (run.blockLast(block) >= to) break
      covered += run.blockCount(block)
    }
  }
  return covered
}
