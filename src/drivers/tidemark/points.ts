import type { CallContext, PointQuery } from '../../historian/contract.ts'
import { makeColumns, type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import { END_INSTANT, MIN_INSTANT } from '../../time/instant.ts'
import { notUnderstood } from './errors.ts'
import type { Instance } from './instance.ts'
import { ask, type LabelRequest } from './labels.ts'
import { readPoint, timeText } from './wire.ts'

const TYPES = {
  before: 'POINT_BEFORE',
  'before-or-at': 'POINT_BEFORE_OR_AT',
  after: 'POINT_AFTER',
  'after-or-at': 'POINT_AFTER_OR_AT',
} as const

/** Single raw points: a label each, all in one call. */
export async function readPoints(
  instance: Instance,
  queries: readonly PointQuery[],
  addressOf: (tag: string) => string,
  context: CallContext,
): Promise<PointColumns> {
  const points = makeColumns(queries.length)
  points.times.fill(Number.NaN)
  points.values.fill(Number.NaN)
  const asked: number[] = []
  const requests: LabelRequest[] = []
  queries.forEach(({ tag, find, at }, index) => {
    const type = typeOf(find, at)
    if (type === null) return
    asked.push(index)
    requests.push({ type, tag: addressOf(tag), details: { at: timeText(at) } })
  })
  const answers = await ask(instance, requests, { kind: 'read' }, context)
  answers.forEach((answer, i) => {
    if (answer === null) return
    const point = readPoint(answer.dataPoint)
    if (point === null) throw notUnderstood(instance.historian, 'a point of it is none')
    const index = asked[i]!
    points.times[index] = point.time
    points.values[index] = point.value
    if (point.bad && !Number.isNaN(point.time)) points.statuses[index] = STATUS_BAD
  })
  return points
}

/**
 * Outside what the interface accepts, the first or last instant that it does is meant too; null where nothing can be.
 */
function typeOf(find: PointQuery['find'], at: number): string | null {
  const isBefore = find === 'before' || find === 'before-or-at'
  if (at < MIN_INSTANT) return isBefore ? null : TYPES['after-or-at']
  if (at >= END_INSTANT) return isBefore ? TYPES['before-or-at'] : null
  return TYPES[find]
}
