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
  const { times } = all.points
  const old = new Uint8Array(times.length)
  let count = 0
  const indexes: number[] = []
  const oldest: number[] = []
  await eachStretch(all, pace, (tag, from, to) => {
    const watermark = watermarks[tag]!
    if (watermark === NO_WATERMARK) return
    for (let at = from; at < to; at++) {
      if (times[at]! > watermark) continue
      old[at] = 1
      count++
      if (indexes.length === MOST_NAMED) continue
      indexes.push(at)
      oldest.push(watermark + 1)
    }
  })
  if (count === 0) return { points: all, tooOld: null }
  const tooOld = { count, indexes: Uint32Array.from(indexes), oldest: Float64Array.from(oldest) }
  return { points: await takeOut(all, old, count, pace), tooOld }
}

async function takeOut(
  all: PointsOfTags,
  old: Uint8Array,
  count: number,
  pace: ReadPace,
): Promise<PointsOfTags> {
  const { tags, offsets, points } = all
  const kept = makeColumns(points.times.length - count)
  const ends = new Uint32Array(offsets.length)
  let end = 0
  await eachStretch(all, pace, (tag, from, to) => {
    for (let at = from; at < to; at++) {
      if (old[at] === 1) continue
      kept.times[end] = points.times[at]!
      kept.values[end] = points.values[at]!
      kept.statuses[end++] = points.statuses[at]!
    }
    ends[tag + 1] = end
  })
  return { tags, offsets: ends, points: kept }
}

/**
 * Goes through the points of each tag in slices.
 * @param take  gets the index of the tag and those of the points, [from, to); no points for a tag without any
 */
async function eachStretch(
  { tags, offsets }: PointsOfTags,
  pace: ReadPace,
  take: (tag: number, from: number, to: number) => void,
): Promise<void> {
  for (let tag = 0; tag < tags.length; tag++) {
    const end = offsets[tag + 1]!
    let from = offsets[tag]!
    do {
      const to = Math.min(end, from + STRETCH)
      take(tag, from, to)
      if (pace.isDue(to - from < STRETCH ? 1 : STEPS_OF_WORK)) await pace.pause()
      from = to
    } while (from < end)
  }
}
