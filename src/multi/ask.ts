import type { Ask } from '../calc/series.ts'
import { never } from '../errors/tidemark-error.ts'
import type { Instant } from '../time/instant.ts'
import type { TimeZone } from '../time/zone.ts'
import { interpolationGrid, windowGrid } from './grids.ts'
import { type BoundaryRead, rawReads } from './raw-reads.ts'
import type { Request } from './requests.ts'

/** How many points and windows a request asks for, as the limits count them. */
export interface RequestSize {
  /** Requested points: maxPoints, count or steps; 1 for every other type. */
  readonly points: number
  readonly windows: number
}

/** What a request will ask of its series; execute.ts asks just this. */
export function asksOf(request: Request, size: RequestSize, zone: TimeZone): readonly Ask[] {
  switch (request.kind) {
    case 'current':
      return [{ kind: 'current', find: request.find, at: request.at }]
    case 'historical':
      return [valueAt(request.at)]
    case 'interpolated': {
      const { from, to } = request
      return [{ kind: 'values', grid: interpolationGrid(request, zone), count: size.points, from, to }]
    }
    case 'raw': {
      const { leading, range, trailing } = rawReads(request)
      return [
        ...(leading === null ? [] : boundaryAsks(leading)),
        ...(range === null ? [] : [{ kind: 'raw', ...range } as const]),
        ...(trailing === null ? [] : boundaryAsks(trailing)),
      ]
    }
    case 'find':
      return [{ kind: 'point', find: request.find, at: request.at }]
    case 'adjacent':
      return [
        { kind: 'point', find: 'before', at: request.at },
        { kind: 'point', find: 'before-or-at', at: request.at },
        { kind: 'point', find: 'after', at: request.at },
        valueAt(request.at),
      ]
    case 'aggregates': {
      const { from, to, names } = request
      return [{ kind: 'aggregates', grid: windowGrid(request, zone), windows: size.windows, from, to, names }]
    }
    default:
      return never(request)
  }
}

function boundaryAsks(read: BoundaryRead): readonly Ask[] {
  const point = { kind: 'point', find: read.find, at: read.at } as const
  return read.kind === 'nearest' ? [point] : [point, valueAt(read.at)]
}

function valueAt(at: Instant): Ask {
  return { kind: 'values', grid: String(at), count: 1, from: at, to: at }
}
