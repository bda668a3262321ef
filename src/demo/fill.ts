import type { CallContext, Historian } from '../historian/contract.ts'
import { type TagPoints, writeBatch } from '../historian/write-batch.ts'
import { makeColumns, STATUS_BAD } from '../series/columns.ts'
import { type Instant, instantFromUs, US_PER_DAY } from '../time/instant.ts'
import { PLANT, type PlantTag, plantTimeAt, STEP_US } from './plant.ts'

/** How far back the demo goes when it is filled. */
export const DEMO_DAYS = 7

/** Steps in one write: six hours of 20 tags, some 43,000 points. */
const STEPS_PER_WRITE = 2160

/**
 * Brings the plant up to the present: makes its tags where they are missing, and writes what is missing of each tag
 * since its last point, at most of the last seven days.
 * @returns how many points were written
 */
export async function fillPlant(historian: Historian, now: Instant, context: CallContext): Promise<number> {
  const entries = PLANT.map(({ name, metadata }) => ({ name, metadata }))
  await historian.putTags(entries, 'create', context)
  const queries = PLANT.map(({ name }) => ({ tag: name, find: 'before-or-at' as const, at: now }))
  const last = await historian.readPoints(queries, context)
  const end = Math.floor(now / STEP_US) + 1
  const oldest = Math.ceil((now - DEMO_DAYS * US_PER_DAY) / STEP_US)
  const starts = PLANT.map((_, index) => {
    const time = last.times[index]!
    return Number.isNaN(time) ? oldest : Math.max(oldest, Math.floor(time / STEP_US) + 1)
  })

  let written = 0
  for (let from = Math.min(...starts); from < end; from += STEPS_PER_WRITE) {
    const to = Math.min(end, from + STEPS_PER_WRITE)
    const tags = PLANT.flatMap((tag, index) => {
      const start = Math.max(from, starts[index]!)
      return start < to ? [pointsOf(tag, start, to)] : []
    })
    const batch = writeBatch(tags, false)
    await historian.write(batch, context)
    written += batch.points.times.length
  }
  return written
}

/** Points of a tag for the steps from `from` up to and without `to`. */
export function pointsOf(tag: PlantTag, from: number, to: number): TagPoints {
  const points = makeColumns(to - from)
  const scale = 10 ** tag.digits
  for (let step = from; step < to; step++) {
    const time = plantTimeAt(step)
    const index = step - from
    points.times[index] = instantFromUs(step * STEP_US)
    points.values[index] = Math.round(tag.value(time) * scale) / scale
    if (tag.isBad(time)) points.statuses[index] = STATUS_BAD
  }
  return { tag: tag.name, points }
}
