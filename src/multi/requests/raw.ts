import { intactPoints } from '../../calc/consumers/raw-points.ts'
import type { Evaluation } from '../../calc/graph/evaluation.ts'
import { instantNeed, type Need } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import type { SinglePoint } from '../../calc/graph/point-source.ts'
import {
  concatColumns,
  makeColumns,
  NO_POINTS,
  type PointColumns,
  STATUS_BAD,
  STATUS_OK,
  sliceColumns,
} from '../../series/columns.ts'
import { decidingPoints } from '../../series/deciding-points.ts'
import { type Instant, instantFromUs, isAccepted } from '../../time/instant.ts'
import { isRange, type Rest } from '../cursor.ts'
import { BOUNDARIES, type Boundary, type RawPointsDetails } from './raw-details.ts'
import {
  type AnswerContext,
  interpolatedPoint,
  leftOutOf,
  type Request,
  type RequestSize,
  type Result,
} from './request.ts'

/** Points that are compared before the event loop is checked for other work. */
const STEP_POINTS = 8_192

/** A point beside the raw points of the range: the nearest one at or outside a side, or the value exactly on it. */
interface BoundaryRead {
  readonly kind: 'nearest' | 'interpolated'
  readonly find: 'before-or-at' | 'after-or-at'
  readonly at: Instant
}

/** RAW_POINTS: a page of raw points, with boundary points in the order of the answer. */
export class RawPointsRequest implements Request {
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

  within(range: Request['range']): Request {
    return new RawPointsRequest({ ...this.details, ...range })
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

  async answer(operator: Operator, { evaluation }: AnswerContext): Promise<Result> {
    const { order, maxPoints } = this.details
    const [first, middle, last] = await Promise.all([
      boundaryPoint(this.#leading, operator),
      this.#range === null
        ? { points: NO_POINTS, more: false, damage: null }
        : intactPoints(operator, { ...this.#range, order, limit: maxPoints }, evaluation),
      boundaryPoint(this.#trailing, operator),
    ])
    // A trailing point counts only when the range is used up before it.
    const parts = [columnsOf(first), middle.points, ...(middle.more ? [] : [columnsOf(last)])]
    const all = concatColumns(parts)
    const points = sliceColumns(all, 0, maxPoints)
    const isTruncated = middle.more || all.times.length > maxPoints
    const rest = isTruncated ? restOf(this.details, points.times.at(-1)!) : null
    const given = await this.#deciding(points, operator, evaluation)
    return { kind: 'raw', points: given, rest, ...leftOutOf(middle) }
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

function restOf({ from, to, left, right, order }: RawPointsDetails, resumeAfter: number): Rest {
  const sides = [BOUNDARIES.indexOf(left), BOUNDARIES.indexOf(right)]
  return { type: 'RAW_POINTS', fields: [from, to, ...sides, order, resumeAfter] }
}

/** The request that goes on from a page; `null` for fields of a cursor that no page has left. */
export function resumeRawPoints(
  fields: readonly unknown[],
  { maxPoints, compared }: Pick<RawPointsDetails, 'maxPoints' | 'compared'>,
): RawPointsRequest | null {
  const [from, to, leftIndex, rightIndex, order, resumeAfter] = fields
  const left: Boundary | undefined = BOUNDARIES[leftIndex as number]
  const right: Boundary | undefined = BOUNDARIES[rightIndex as number]
  if (fields.length !== 6 || !isRange(from, to) || !isAccepted(resumeAfter as number)) return null
  if (left === undefined || right === undefined || (order !== 'asc' && order !== 'desc')) return null
  return new RawPointsRequest({
    from: from as Instant,
    to: to as Instant,
    left,
    right,
    order,
    maxPoints,
    resumeAfter: resumeAfter as Instant,
    compared,
  })
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

function columnsOf(point: SinglePoint | null): PointColumns {
  if (point === null) return NO_POINTS
  const columns = makeColumns(1)
  columns.times[0] = point.time
  columns.values[0] = point.value
  columns.statuses[0] = point.bad ? STATUS_BAD : STATUS_OK
  return columns
}
