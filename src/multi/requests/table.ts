import { aggregatedPoints, multipleAggregatedPoints } from './aggregates.ts'
import { gaps } from './gaps.ts'
import { interpolatedPoints } from './interpolated.ts'
import { intervals } from './intervals.ts'
import { plot } from './plot.ts'
import { adjacentPoints, currentPoint, findPoints, historicalPoint } from './points.ts'
import { rawPoints } from './raw.ts'
import type { RequestType } from './request-type.ts'

/**
 * The request types of INTERFACE.md section 8, by name. Whether a type fits the interface is decided here alone:
 * parsing, warnings, messages, the OpenAPI document and the reference read this table.
 */
export const REQUEST_TYPES: ReadonlyMap<string, RequestType> = new Map(
  [
    ...[currentPoint, historicalPoint, interpolatedPoints, rawPoints, ...findPoints, adjacentPoints],
    ...[aggregatedPoints, multipleAggregatedPoints, intervals, gaps, plot],
  ].map((type) => [type.name, type]),
)
