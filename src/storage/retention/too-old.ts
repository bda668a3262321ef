import type { TooOldPoints } from '../../historian/contract.ts'
import { makeColumns } from '../../series/columns.ts'
import type { PointsOfTags } from '../wal/wal-record.ts'
import { NO_WATERMARK } from './tag-watermarks.ts'

/** So many are named; all are counted. */
const MOST_NAMED = 1_000

/**
 * Takes the points at or before their tag's watermark out of those of a request.
 * @param watermarks  of the tags, in their order
 * @returns           the argument and `null` when there are none
 */
export function withoutTooOld(
  all: PointsOfTags,
  watermarks: Float64Array,
): { readonly points: PointsOfTags; readonly tooOld: TooOldPoints | null } {
  const { tags, offsets } = all
  const { times } = all.points
  const old = new Uint8Array(times.length)
  let count = 0
  const indexes: number[] = []
  const oldest: number[] = []
  for (let i = 0; i < tags.length; i++) {
    if (offsets[i] === offsets[i + 1]) continue
    const watermark = watermarks[i]!
    if (watermark === NO_WATERMARK) continue
    for (let at = offsets[i]!; at < offsets[i + 1]!; at++) {
      if (times[at]! > watermark) continue
      old[at] = 1
      count++
      if (indexes.length === MOST_NAMED) continue
      indexes.push(at)
      oldest.push(watermark + 1)
    }
  }
  if (count === 0) return { points: all, tooOld: null }
  const tooOld = { count, indexes: Uint32Array.from(indexes), oldest: Float64Array.from(oldest) }
  return { points: takeOut(all, old, count), tooOld }
}

function takeOut({ tags, offsets, points }: PointsOfTags, old: Uint8Array, count: number): PointsOfTags {
  const kept = makeColumns(points.times.length - count)
  const ends = new Uint32Array(offsets.length)
  let to = 0
  for (let i = 0; i < tags.length; i++) {
    for (let at = offsets[i]!; at < offsets[i + 1]!; at++) {
      if (old[at] === 1) continue
      kept.times[to] = points.times[at]!
      kept.values[to] = points.values[at]!
      kept.statuses[to++] = points.statuses[at]!
    }
    ends[i + 1] = to
  }
  return { tags, offsets: ends, points: kept }
}
