import type { TooOldPoints } from '../../historian/contract.ts'
import { makeColumns } from '../../series/columns.ts'
import { type ReadPace, STEPS_OF_WORK } from '../pause.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'
import { NO_WATERMARK } from './tag-watermarks.ts'

/** So many are named; all are counted. */
const MOST_NAMED = 1_000
/** So many points of a tag are looked at, or copied, between two looks at the clock: some ten microseconds. */
const STRETCH = 8_192

/**
 * Takes the points at or before their tag's watermark out of those of a request, in slices.
 * @param watermarks  of the tags, in their order
 * @returns           the argument and `null` when there are none
 */
export async function withoutTooOld(
  all: PointsOfTags,
  watermarks: Float64Array,
  pace: ReadPace,
): Promise<{ readonly points: PointsOfTags; readonly tooOld: TooOldPoints | null }> {
  const { tags, offsets } = all
  const { times } = all.points
  const old = new Uint8Array(times.length)
  let count = 0
  const indexes: number[] = []
  const oldest: number[] = []
  for (let i = 0; i < tags.length; i++) {
    const watermark = watermarks[i]!
    const end = offsets[i + 1]!
    for (let at = offsets[i]!, stop: number; watermark !== NO_WATERMARK && at < end; at = stop) {
      stop = Math.min(end, at + STRETCH)
      for (let point = at; point < stop; point++) {
        if (times[point]! > watermark) continue
        old[point] = 1
        count++
        if (indexes.length === MOST_NAMED) continue
        indexes.push(point)
        oldest.push(watermark + 1)
      }
      if (stop < end && pace.isDue(STEPS_OF_WORK)) await pace.pause()
    }
    if (pace.isDue()) await pace.pause()
  }
  if (count === 0) return { points: all, tooOld: null }
  const tooOld = { count, indexes: Uint32Array.from(indexes), oldest: Float64Array.from(oldest) }
  return { points: await takeOut(all, old, count, pace), tooOld }
}

async function takeOut(
  { tags, offsets, points }: PointsOfTags,
  old: Uint8Array,
  count: number,
  pace: ReadPace,
): Promise<PointsOfTags> {
  const kept = makeColumns(points.times.length - count)
  const ends = new Uint32Array(offsets.length)
  let to = 0
  for (let i = 0; i < tags.length; i++) {
    const end = offsets[i + 1]!
    for (let at = offsets[i]!, stop: number; at < end; at = stop) {
      stop = Math.min(end, at + STRETCH)
      for (let point = at; point < stop; point++) {
        if (old[point] === 1) continue
        kept.times[to] = points.times[point]!
        kept.values[to] = points.values[point]!
        kept.statuses[to++] = points.statuses[point]!
      }
      if (stop < end && pace.isDue(STEPS_OF_WORK)) await pace.pause()
    }
    ends[i + 1] = to
    if (pace.isDue()) await pace.pause()
  }
  return { tags, offsets: ends, points: kept }
}
