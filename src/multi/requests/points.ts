import { type CurrentNeed, instantNeed, type Need, type PointNeed } from '../../calc/graph/need.ts'
import type { Operator } from '../../calc/graph/operator.ts'
import type { FindPoint } from '../../series/reads.ts'
import type { Instant } from '../../time/instant.ts'
import { optional, TIME } from './detail.ts'
import {
  interpolatedPoint,
  noPoint,
  ONE_POINT,
  type Request,
  type RequestSize,
  type Result,
} from './request.ts'
import { AT, MAX_GAP, type RequestType, requestType } from './request-type.ts'

/** A request about one instant. */
abstract class InstantRequest implements Request {
  readonly at: Instant

  constructor(at: Instant) {
    this.at = at
  }

  get range(): Request['range'] {
    return { from: this.at, to: this.at }
  }

  size(): RequestSize {
    return ONE_POINT
  }

  abstract needs(): readonly Need[]
  abstract answer(operator: Operator): Promise<Result>
}

/** CURRENT_POINT, and POINT_BEFORE with its three siblings: one raw point. */
class RawPointRequest extends InstantRequest {
  readonly plainPoint: CurrentNeed | PointNeed

  constructor(point: CurrentNeed | PointNeed) {
    super(point.at)
    this.plainPoint = point
  }

  needs(): readonly Need[] {
    return [this.plainPoint]
  }

  async answer(operator: Operator): Promise<Result> {
    const { plainPoint: wanted, at } = this
    const found =
      wanted.kind === 'current'
        ? await operator.currentPoint(wanted.find, at)
        : await operator.rawPoint(wanted.find, at)
    if (found === null) return { kind: 'point', point: noPoint(at) }
    // A constant has no timestamp of its own: it is current at the requested time.
    const { time, value, bad } = found
    return { kind: 'point', point: { time: time ?? at, value, bad } }
  }
}

const NOW = optional(
  'now',
  TIME,
  'The last point strictly before it; without it the last at or before the `now` of the call.',
)

export const currentPoint = requestType({
  name: 'CURRENT_POINT',
  details: [NOW],
  result:
    "`dataPoint`: the last point at or before the call's `now`; with `now` in the details strictly before that",
  read: (details, now) => {
    const before = details.get(NOW)
    const [find, at] = before === null ? (['before-or-at', now] as const) : (['before', before] as const)
    return new RawPointRequest({ kind: 'current', find, at })
  },
})

/** HISTORICAL_POINT. */
class HistoricalPointRequest extends InstantRequest {
  needs(): readonly Need[] {
    return [instantNeed(this.at)]
  }

  async answer(operator: Operator): Promise<Result> {
    return { kind: 'point', point: await interpolatedPoint(operator, this.at) }
  }
}

export const historicalPoint = requestType({
  name: 'HISTORICAL_POINT',
  details: [AT, MAX_GAP],
  result: '`dataPoint`: the interpolated value at `at`',
  read: (details) => new HistoricalPointRequest(details.get(AT)),
})

function findType(name: string, find: FindPoint, which: string): RequestType {
  return requestType({
    name,
    details: [AT],
    result: `\`dataPoint\`: the ${which} \`at\``,
    read: (details) => new RawPointRequest({ kind: 'point', find, at: details.get(AT) }),
  })
}

export const findPoints: readonly RequestType[] = [
  findType('POINT_BEFORE', 'before', 'last raw point before'),
  findType('POINT_BEFORE_OR_AT', 'before-or-at', 'last raw point before or at'),
  findType('POINT_AFTER', 'after', 'first raw point after'),
  findType('POINT_AFTER_OR_AT', 'after-or-at', 'first raw point after or at'),
]

/** ADJACENT_POINTS. */
class AdjacentPointsRequest extends InstantRequest {
  needs(): readonly Need[] {
    const { at } = this
    return [
      { kind: 'point', find: 'before', at },
      { kind: 'point', find: 'before-or-at', at },
      { kind: 'point', find: 'after', at },
      instantNeed(at),
    ]
  }

  async answer(operator: Operator): Promise<Result> {
    const { at } = this
    const [before, atOrBefore, after, value] = await Promise.all([
      operator.rawPoint('before', at),
      operator.rawPoint('before-or-at', at),
      operator.rawPoint('after', at),
      interpolatedPoint(operator, at),
    ])
    const exact = atOrBefore?.time === at ? atOrBefore : value.bad ? null : value
    return { kind: 'adjacent', before, at: exact, after }
  }
}

export const adjacentPoints = requestType({
  name: 'ADJACENT_POINTS',
  details: [AT, MAX_GAP],
  result: '`before`, `at`, `after`: the raw points around `at`, and the point there',
  read: (details) => new AdjacentPointsRequest(details.get(AT)),
})
