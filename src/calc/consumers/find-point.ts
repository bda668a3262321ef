import { FIXED_LIMITS } from '../../errors/limits.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { FindPoint } from '../../series/reads.ts'
import { formatInstant } from '../../time/format.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import type { Evaluation } from '../graph/evaluation.ts'
import type { Near, Reach } from '../graph/near.ts'
import type { FindPlace, NeedSink, RawNeed } from '../graph/need.ts'
import type { Operator } from '../graph/operator.ts'
import { pointOf, type SinglePoint } from '../graph/point-source.ts'
import { rawPoints } from './raw-points.ts'

/** BAD points that are read at first where a good one is looked for, and estimated; there are rarely more in a row. */
const BAD_RUN = 4
/** How much longer each further page is. */
const PAGE_GROWTH = 4
const LONGEST_PAGE = 20_000
const MOST_PASSED: number = FIXED_LIMITS.passedPoints.limit
/** Bounds that a search goes to before it reads pages: an input may have a good point where another has a BAD one. */
const FEW_BOUNDS = 3

/** Points that are read for a page of good ones: a second page where BAD points were left out of the first. */
export function goodPageCount(count: number): number {
  return 2 * count
}

/** Whether a raw point is not BAD and has a value. */
export function isGoodPoint({ bad, value }: SinglePoint): boolean {
  return !bad && !Number.isNaN(value)
}

/** How far from the place of a need the raw point next to it lies. */
export function reachFrom(operator: Operator, { find, at, count = 1, from = at, near }: PlacedFind): Reach {
  return operator.reach(find, count === 1 && from === at && near === undefined ? at : null)
}

/** How far back the first raw point of a page lies from the end of its range, which it is read from. */
export function pageReach(
  operator: Operator,
  { from, to, count }: RawNeed,
): Pick<Reach, 'mostUs' | 'slackUs'> {
  const { mostUs, isSure, slackUs = 0 } = operator.reach('before', null)
  const ofPage = isSure ? (count + HELD_POINTS) * mostUs : Number.POSITIVE_INFINITY
  return { mostUs: Math.min(to - from, ofPage), slackUs }
}

/** Points of a page that are read beside it: one shows that there are more, and one can be held back. */
const HELD_POINTS = 4

type PlacedFind = FindPlace & { readonly near?: Near | undefined }

/** Of a place that is a raw point. */
export const AT_PLACE: Reach = { mostUs: 0, isSure: true }

/** The first instant that a search looks at. */
export function firstOf(find: FindPoint, at: Instant): number {
  return find === 'before' ? at - 1 : find === 'after' ? at + 1 : at
}

/** Whether a search goes back in time. */
export function goesBack(find: FindPoint): boolean {
  return find === 'before' || find === 'before-or-at'
}

/**
 * The raw point next to an instant that is accepted; all others are passed by. `null` when there is none. Rejects with
 * LIMIT_PASSED_POINTS where very many are in between: those of a generated signal never end.
 */
export async function findRawPoint(
  operator: Operator,
  find: FindPoint,
  at: Instant,
  evaluation: Evaluation,
  accept: (point: SinglePoint) => boolean = isGoodPoint,
): Promise<SinglePoint | null> {
  const nearest = await operator.rawPoint(find, at)
  if (nearest === null || accept(nearest)) return nearest
  const isForGood = accept === isGoodPoint
  if (isForGood && operator.goodPoint !== undefined) return operator.goodPoint(find, at)
  const isBack = goesBack(find)
  let last: SinglePoint = nearest
  let passed = 0
  for (let step = 0, limit = BAD_RUN; ; step++) {
    if (isForGood) {
      const bound = await operator.goodBound(isBack ? 'before' : 'after', last.time)
      if (bound === null) return null
      const point = await operator.rawPoint(isBack ? 'before-or-at' : 'after-or-at', bound)
      if (point === null || accept(point)) return point
      last = point
      if (step < FEW_BOUNDS) continue
    }
    const [from, to] = isBack ? [MIN_INSTANT, last.time] : [instantFromUs(last.time + 1), END_INSTANT]
    if (from >= to || (isForGood && !(await operator.mayHaveValue(find, last.time)))) return null
    const page = await rawPoints(operator, { from, to, limit, order: isBack ? 'desc' : 'asc' }, evaluation)
    for (let i = 0; i < page.points.times.length; i++) {
      last = pointOf(page.points, i)
      if (accept(last)) return last
    }
    if (!page.more) return null
    passed += page.points.times.length
    if (passed > MOST_PASSED) throw tooManyPassed(find, at)
    limit = Math.min(limit * PAGE_GROWTH, LONGEST_PAGE)
  }
}

function tooManyPassed(find: FindPoint, at: Instant): TidemarkError {
  const side = goesBack(find) ? 'before' : 'after'
  return new TidemarkError('LIMIT_PASSED_POINTS', { limit: MOST_PASSED, side, at: formatInstant(at, UTC) })
}

/**
 * The first instant from one on at which no input lacks its first good point; `null` when one has none.
 * @param bounds of the inputs in a search: for each its next good point, where it finds these
 */
export async function beginningOf(
  inputs: readonly Operator[],
  bounds: readonly (Instant | null)[],
  at: Instant,
): Promise<Instant | null> {
  const starts = await Promise.all(
    inputs.map(async (input, i) => {
      const bound = bounds[i] ?? null
      // One that was found by then is not looked for again.
      const hasBegun = input.goodPoint === undefined || (bound !== null && bound <= at)
      return hasBegun || (await input.goodPoint!('before-or-at', at)) !== null ? at : bound
    }),
  )
  return starts.includes(null) ? null : starts.reduce((a, b) => (a! > b! ? a : b), at)
}

/** When the last hold of a signal ends; from then on it has values between good raw points alone. */
function endOfHold({ extrapolationLimits }: Operator): Instant {
  const last = Math.max(...extrapolationLimits)
  return Number.isFinite(last) ? instantFromUs(last) : instantFromUs(END_INSTANT - 1)
}

/** The last instant up to one at which no input has ended. */
export async function endOf(inputs: readonly Operator[], at: Instant): Promise<Instant> {
  const ends = await Promise.all(
    inputs.map(async (input) => {
      const end = endOfHold(input)
      if (end >= at) return at
      if (input.stepInterpolated === undefined) {
        // A value may go on behind all holds: that of a constant, of EPOCH_MS, or of a window that moves on.
        return (await input.mayHaveValue('after', instantFromUs(end + 1))) ? at : end
      }
      // A signal that is that of its good raw points ends at the last of them.
      if (await input.mayHaveValue('after-or-at', at)) return at
      const last = await input.goodBound('before-or-at', at)
      return last === null || last < end ? end : last
    }),
  )
  return ends.reduce((a, b) => (a < b ? a : b), at)
}

/** What `endOf` needs of an input. */
export function endNeeds(input: Operator, place: FindPlace, sink: NeedSink): void {
  if (place.at <= endOfHold(input)) return
  input.goodBoundNeeds(place, sink)
  input.goodBoundNeeds({ ...place, find: 'after' }, sink)
}

/** What `findRawPoint` needs of a good point: those beside each bound, and a few that are passed by. */
export function findNeeds(operator: Operator, place: FindPlace, sink: NeedSink): void {
  const { find, at, count = 1 } = place
  const isFound = operator.goodPoint !== undefined
  const isFirst = isMostlyGood(operator)
  if (isFirst || isFound) sink.need(operator, { kind: 'point', find, at, count })
  if (isFirst) return
  operator.goodBoundNeeds(place, sink)
  if (!isFound) passingNeeds(operator, place, sink)
}

/** What `findRawPoint` needs where no more than a few points are passed by, one after the other. */
export function passingNeeds(operator: Operator, { find, at, count = 1 }: FindPlace, sink: NeedSink): void {
  const isFirst = isMostlyGood(operator)
  // The points at bounds are others than that next to the instant.
  sink.need(operator, { kind: 'point', find, at, count: isFirst ? count : (1 + FEW_BOUNDS) * count })
  if (isFirst) return
  const [from, to] = goesBack(find) ? [MIN_INSTANT, at] : [at, END_INSTANT]
  const order = goesBack(find) ? 'desc' : 'asc'
  if (operator.varies === 'data' && from < to)
    sink.need(operator, { kind: 'raw', from, to, order, count: BAD_RUN * count })
}

/** Whether the estimate takes the raw point next to an instant for good. */
export function isMostlyGood({ isNeverBad, isSeldomBad }: Operator): boolean {
  return isNeverBad || isSeldomBad === true
}
