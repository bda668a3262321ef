import { type IntactPoints, intactPoints } from '../../calc/consumers/raw-points.ts'
import type { Evaluation } from '../../calc/graph/evaluation.ts'
import { instantNeed, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import { columnsOf, type SinglePoint } from '../../calc/graph/point-source.ts'
import { FIXED_LIMITS } from '../../errors/limits.ts'
import {
  concatColumns,
  NO_POINTS,
  type PointColumns,
  reverseColumns,
  sliceColumns,
} from '../../series/columns.ts'
import { decidingPoints } from '../../series/deciding-points.ts'
import type { Comparisons } from '../../series/reads.ts'
import { type Instant, instantFromUs, MIN_INSTANT } from '../../time/instant.ts'
import { type Rest, rangeDetails } from '../cursor.ts'
import {
  COUNT,
  type Details,
  type DetailType,
  FIXED_DURATION,
  GOOD_FOR,
  needed,
  oneOf,
  optional,
  readFixedDuration,
} from './detail.ts'
import {
  type AnswerContext,
  interpolatedPoint,
  type Request,
  type RequestSize,
  type Result,
} from './request.ts'
import { CURSOR, DEFAULT_POINTS, endOf, FROM, readRange, requestType, TO } from './request-type.ts'

/** Points that are compared before the event loop is checked for other work. */
const STEP_POINTS = 8_192

const BOUNDARIES = ['INCLUDE', 'EXCLUDE', 'NEAREST', 'INTERPOLATED'] as const
type Boundary = (typeof BOUNDARIES)[number]

/** The details of RAW_POINTS. */
interface RawPointsDetails {
  readonly from: Instant
  readonly to: Instant
  readonly left: Boundary
  readonly right: Boundary
  readonly order: 'asc' | 'desc'
  /** At least 1; boundary points count too. */
  readonly maxPoints: number
  /** Time of the last point of the page before, when a cursor goes on from it. */
  readonly resumeAfter: Instant | null
  /** Points that make no difference to these may be left out; `null` for none. */
  readonly compared: Comparisons | null
  /** Set where the newest points before `to` are wanted, however old they are: the order of the answer. */
  readonly lastIn: 'asc' | 'desc' | null
}

/** A point beside the raw points of the range: the nearest one at or outside a side, or the value exactly on it. */
interface BoundaryRead {
  readonly kind: 'nearest' | 'interpolated'
  readonly find: 'before-or-at' | 'after-or-at'
  readonly at: Instant
}

/** RAW_POINTS: a page of raw points, with boundary points in the order of the answer. */
class RawPointsRequest implements Request {
  readonly details: RawPointsDetails
  /** Comes before all others; `null` too when a cursor goes on, since the first page has it. */
  readonly #leading: BoundaryRead | null
  readonly #trailing: BoundaryRead | null
  /**
   * Whole microseconds make every boundary half-open: what excludes `from` begins one microsecond later. `null` when
   * empty.
   */
  readonly #range: { readonly from: Instant; readonly to: Instant } | null

  constructor(details: RawPointsDetails) {
    this.details = details
    const { left, right, order, resumeAfter } = details
    // A point on the boundary itself comes from the boundary's own read, so the range then leaves it out.
    let from: number = left === 'INCLUDE' ? details.from : details.from + 1
    let to: number = right === 'INCLUDE' ? details.to + 1 : details.to
    if (resumeAfter !== null && order === 'asc') from = Math.max(from, resumeAfter + 1)
    if (resumeAfter !== null && order === 'desc') to = Math.min(to, resumeAfter)
    this.#range = from < to ? { from: instantFromUs(from), to: instantFromUs(to) } : null
    const sides = [
      boundaryRead(left, 'before-or-at', details.from),
      boundaryRead(right, 'after-or-at', details.to),
    ] as const
    this.#leading = resumeAfter !== null ? null : order === 'asc' ? sides[0] : sides[1]
    this.#trailing = order === 'asc' ? sides[1] : sides[0]
  }

  get range(): Request['range'] {
    return { from: this.details.from, to: this.details.to }
  }

  within(range: Request['range']): Request | undefined {
    return this.details.lastIn === null ? new RawPointsRequest({ ...this.details, ...range }) : undefined
  }

  get maxGapUs(): number | undefined {
    return this.details.compared?.maxGapUs
  }

  operatorFor(operator: Operator): Operator {
    const { compared } = this.details
    if (compared === null || !isStored(operator)) return operator
    return operator.compared?.(compared.thresholds) ?? operator
  }

  size(): RequestSize {
    return { points: this.details.maxPoints, windows: 0 }
  }

  needs(): readonly Need[] {
    const { order, maxPoints: count } = this.details
    const range = this.#range
    return [
      ...boundaryNeeds(this.#leading),
      ...(range === null ? [] : [{ kind: 'raw', ...range, order, count, isPage: true } as const]),
      ...boundaryNeeds(this.#trailing),
    ]
  }

  async answer(operator: Operator, { evaluation }: AnswerContext): Promise<Result & { kind: 'raw' }> {
    const { order, maxPoints, lastIn } = this.details
    const [first, middle, last] = await Promise.all([
      boundaryPoint(this.#leading, operator),
      this.#range === null
        ? { points: NO_POINTS, more: false, damage: null }
        : intactPoints(operator, { ...this.#range, order, limit: maxPoints }, evaluation),
      boundaryPoint(this.#trailing, operator),
    ])
    // A trailing point counts only when the range is used up before it.
    const parts = [pointsOf(first), middle.points, ...(middle.more ? [] : [pointsOf(last)])]
    const all = concatColumns(parts)
    const points = sliceColumns(all, 0, maxPoints)
    const isTruncated = middle.more || all.times.length > maxPoints
    const rest = isTruncated && lastIn === null ? restOf(this.details, points.times.at(-1)!) : null
    const deciding = await this.#deciding(points, operator, evaluation)
    const given = lastIn === 'asc' ? reverseColumns(deciding) : deciding
    const { missing, damage }: IntactPoints = middle
    const leftOut = missing === undefined ? {} : { leftOut: { missing, cause: damage } }
    return { kind: 'raw', points: given, rest, ...leftOut }
  }

  /** The points that comparisons need; the last one is among them, after which a cursor goes on. */
  async #deciding(points: PointColumns, operator: Operator, evaluation: Evaluation): Promise<PointColumns> {
    const { compared } = this.details
    if (compared === null || !isStored(operator)) return points
    const parts: PointColumns[] = []
    for (let start = 0; start < points.times.length; start += STEP_POINTS) {
      const part = sliceColumns(points, start, Math.min(start + STEP_POINTS, points.times.length))
      parts.push(decidingPoints(part, compared))
      await evaluation.pause()
    }
    return concatColumns(parts)
  }
}

/** Whether an operator is a stored tag: a calculation may have jumps that its raw points alone do not show. */
function isStored({ inputs, varies }: Operator): boolean {
  return inputs.length === 0 && varies === 'data'
}

function restOf({ from, to, left, right, order }: RawPointsDetails, resumeAt: number): Rest {
  const details = { ...rangeDetails({ from, to }), leftBoundary: left, rightBoundary: right, order }
  return { type: 'RAW_POINTS', details, resumeAt }
}

function boundaryRead(boundary: Boundary, find: BoundaryRead['find'], at: Instant): BoundaryRead | null {
  if (boundary === 'NEAREST') return { kind: 'nearest', find, at }
  return boundary === 'INTERPOLATED' ? { kind: 'interpolated', find, at } : null
}

function boundaryNeeds(read: BoundaryRead | null): readonly Need[] {
  if (read === null) return []
  const { find, at } = read
  const point = { kind: 'point', find, at } as const
  return read.kind === 'nearest' ? [point] : [point, instantNeed(at)]
}

async function boundaryPoint(read: BoundaryRead | null, operator: Operator): Promise<SinglePoint | null> {
  if (read === null) return null
  const { find, at } = read
  if (read.kind === 'nearest') return operator.rawPoint(find, at)
  const [raw, value] = await Promise.all([operator.rawPoint(find, at), interpolatedPoint(operator, at)])
  if (raw?.time === at) return raw
  return value.bad ? null : value
}

function pointsOf(point: SinglePoint | null): PointColumns {
  return point === null ? NO_POINTS : columnsOf([point])
}

/** More states than a tag has, each of which is a threshold. */
const MOST_THRESHOLDS: number = FIXED_LIMITS.comparedThresholds.limit

const COMPARED_DETAILS = [
  needed(
    'thresholds',
    { takes: { kind: 'numbers', most: MOST_THRESHOLDS }, read: (input) => input },
    'The numbers that the signal is compared with.',
  ),
  optional('maxGap', GOOD_FOR, 'How long good points are good for; without limit when left out.'),
]
const COMPARISONS: DetailType<Comparisons> = {
  takes: { kind: 'object', details: COMPARED_DETAILS },
  read: (input, details, name) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw details.invalid(name, 'an object')
    const known = COMPARED_DETAILS.map((one) => one.name)
    details.context.warnings.checkFields(input, known, details.placeOf(name))
    const { thresholds, maxGap } = input as Readonly<Record<string, unknown>>
    const areNumbers = Array.isArray(thresholds) && thresholds.every((one) => Number.isFinite(one))
    if (!areNumbers || thresholds.length === 0 || thresholds.length > MOST_THRESHOLDS)
      throw details.invalid(name, `an object with 1 to ${MOST_THRESHOLDS} numbers as thresholds`)
    if (maxGap === undefined || maxGap === null) return { thresholds }
    const maxGapUs = readFixedDuration(maxGap)
    if (maxGapUs === null) throw details.invalid(name, `as maxGap ${FIXED_DURATION}`)
    return { thresholds, maxGapUs }
  },
}

const RANGE_BEGIN = { ...FROM, unless: ['last', 'cursor'] }
const MAX_POINTS = optional(
  'maxPoints',
  COUNT,
  'Most points of one page, boundary points among them.',
  DEFAULT_POINTS,
)
const LEFT = boundary('left', 'INCLUDE')
const RIGHT = boundary('right', 'EXCLUDE')
const ORDER = optional('order', oneOf(['asc', 'desc']), '`desc` is newest first.', 'asc')
const LAST = optional(
  'last',
  COUNT,
  'The newest points before `to`, in place of from, maxPoints and cursor; boundaries are ignored.',
)
const COMPARED = optional(
  'compared',
  COMPARISONS,
  'Leaves out points of a stored tag that make no difference to whether its signal is above, on or below each threshold.',
)

function boundary(side: 'left' | 'right', otherwise: Boundary) {
  const meaning = `What stands at the ${side} boundary. NEAREST adds the nearest raw point outside, INTERPOLATED a point exactly on it.`
  return optional(`${side}Boundary`, oneOf(BOUNDARIES), meaning, otherwise)
}

export const rawPoints = requestType({
  name: 'RAW_POINTS',
  details: [RANGE_BEGIN, TO, MAX_POINTS, LEFT, RIGHT, ORDER, LAST, CURSOR, COMPARED],
  result: '`dataPoints`: a page of the raw points, with `next` beside `results`, or the newest ones',
  read: (details, _now, resumeAfter) =>
    details.has(LAST)
      ? readLast(details)
      : new RawPointsRequest({
          ...readRange(details),
          left: details.get(LEFT),
          right: details.get(RIGHT),
          order: details.get(ORDER),
          maxPoints: details.get(MAX_POINTS),
          resumeAfter,
          compared: details.get(COMPARED),
          lastIn: null,
        }),
  cursorOf: (details) => (details.has(LAST) ? null : details.get(CURSOR)),
})

function readLast(details: Details): Request {
  for (const other of [FROM, MAX_POINTS, CURSOR, COMPARED]) {
    if (details.has(other)) throw details.invalid('last', `either last or ${other.name}, not both,`)
  }
  return new RawPointsRequest({
    lastIn: details.get(ORDER),
    from: MIN_INSTANT,
    to: endOf(details),
    left: 'INCLUDE',
    right: 'EXCLUDE',
    order: 'desc',
    maxPoints: details.get(LAST)!,
    resumeAfter: null,
    compared: null,
  })
}
