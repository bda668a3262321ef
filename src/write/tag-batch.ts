import type { WriteBatch } from '../historian/contract.ts'
import type { CooperativeScheduler } from '../scheduling/cooperative-scheduler.ts'
import { forEach } from '../scheduling/each.ts'
import { makeColumns, NO_POINTS, type PointColumns } from '../series/columns.ts'

/** A tag with the points that it is to have. */
export interface TagToWrite {
  readonly tag: string
  readonly read: { points(): PointColumns }
}

/**
 * Puts the points of tags one after the other, copied unless only one tag has any; yields to the event loop whenever
 * that is due. Rejects with the reason of the scheduler's signal.
 * @param hold  called with the number of points before they are copied; may throw
 */
export async function batchOf(
  entries: readonly TagToWrite[],
  createTags: boolean,
  scheduler: CooperativeScheduler,
  hold: (points: number) => void = () => {},
): Promise<WriteBatch> {
  const tags: string[] = []
  const parts: PointColumns[] = []
  const offsets = new Uint32Array(entries.length + 1)
  let only = NO_POINTS
  await forEach(entries, scheduler, ({ tag, read }, index) => {
    const points = read.points()
    tags.push(tag)
    parts.push(points)
    offsets[index + 1] = offsets[index]! + points.times.length
    if (points.times.length > 0) only = points
  })
  const count = offsets[entries.length]!
  hold(count)
  if (only.times.length === count) return { tags, offsets, points: only, createTags }
  const all = makeColumns(count)
  await forEach(parts, scheduler, (points, index) => {
    if (points.times.length > 0) copyTo(all, offsets[index]!, points)
  })
  return { tags, offsets, points: all, createTags }
}

function copyTo(all: PointColumns, at: number, { times, values, statuses }: PointColumns): void {
  if (times.length > 1) {
    all.times.set(times, at)
    all.values.set(values, at)
    all.statuses.set(statuses, at)
    return
  }
  // What very many tags have: three calls take several times as long.
  all.times[at] = times[0]!
  all.values[at] = values[0]!
  all.statuses[at] = statuses[0]!
}
