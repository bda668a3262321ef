import { TidemarkError } from '../../../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../../../series/aggregate-names.ts'
import { concatColumns, type PointColumns } from '../../../series/columns.ts'
import { isGood } from '../../../series/interpolate.ts'
import { MIN_INSTANT } from '../../../time/instant.ts'
import { type Chunk, emptyUntilOf, type Limit } from '../../graph/chunk.ts'
import type { Operator } from '../../graph/operator.ts'
import { type BufferedPart, valuesIn } from './buffered-input.ts'
import { pointsOf } from './cells.ts'
import { larger, smaller, type Windows } from './folds.ts'
import { distinctTimes, valuesOf } from './indexes.ts'
import { finite, type RollingOp } from './ops.ts'
import { SegmentSums } from './segment-sums.ts'
import { vertexValues } from './vertex-values.ts'
import { type RollingWindow, type WindowBounds, withoutCut } from './window.ts'

const NONE = new Float64Array(0)
const NO_INDEXES = new Int32Array(0)
const NO_WINDOWS: Windows = { first: NO_INDEXES, end: NO_INDEXES, pivots: NO_INDEXES }

/**
 * The operation over the window of each time, from memory: each raw point is a cell of its own. What is prepared is
 * kept for the next times.
 * @param extrapolationLimits, closedIntegrals of the input
 */
export function bufferedWindows(
  op: RollingOp,
  window: RollingWindow,
  held: BufferedPart,
  extrapolationLimits: readonly number[],
  closedIntegrals: Operator['closedIntegrals'],
): (times: Float64Array, limit: Limit) => Float64Array {
  const { segments } = held
  const sums = op.integrals !== undefined && segments !== null ? new SegmentSums(segments) : null
  // Where the input itself is not needed any more, all that is inside of it is not kept for this chunk either. Windows
  // at the first accepted instant have no length.
  const isCovered = sums !== null && held.from > MIN_INSTANT && sums.covers(held)
  const isInputNeeded = op.bounds === 'both' || (op.bounds !== undefined && !isCovered)
  const chunks = isInputNeeded ? held.chunks : []
  const { times: cellTimes, cells } = cellsOf(op, held, extrapolationLimits)
  const hasCells = op.cells !== undefined || op.extreme !== undefined
  // Approached from the left, and since raw times are whole microseconds, a window is that of one microsecond before.
  const earlier = (times: Float64Array): WindowBounds =>
    window.boundsAt(
      times.map((t) => t - 1),
      'at',
    )
  return (times, limit) => {
    const bounds = window.boundsAt(times, limit)
    const { integrals, coveredUs } = sums?.between(bounds) ??
      closedIntegrals?.(bounds.starts, bounds.ends) ?? {
        integrals: new Float64Array(times.length),
        coveredUs: new Float64Array(times.length),
      }
    const needsLast = op.bounds !== undefined && coveredUs.some((length) => length === 0)
    const [first, last] =
      op.bounds === 'both'
        ? valuesAtBounds(op, chunks, bounds, limit)
        : [NONE, needsLast ? valuesIn(chunks, bounds.ends, limit) : NONE]
    const windows = hasCells ? pointsOf(cellTimes, limit === 'before' ? earlier(times) : bounds) : NO_WINDOWS
    return finite(op.fold({ integrals, coveredUs, cells, windows, first, last }))
  }
}

/**
 * The input at both bounds of windows, in one read: windows inside each other would otherwise read their input twice as
 * often at each level.
 */
function valuesAtBounds(
  { ofStart }: RollingOp,
  chunks: readonly Chunk[],
  bounds: WindowBounds,
  limit: Limit,
): readonly [first: Float64Array, last: Float64Array] {
  const { starts, ends } = bounds
  const times = distinctTimes(starts, ends)
  const values = valuesIn(chunks, times, limit)
  const first = valuesOf(times, values, starts)
  return [ofStart === true ? withoutCut(first, bounds) : first, valuesOf(times, values, ends)]
}

/**
 * Until when windows have no value, as a field of a chunk up to an instant: as long as they end, or begin where that is
 * what counts, before there is a value of the input.
 */
export function emptyWindowsUntil(
  { ofNothing, ofStart }: RollingOp,
  window: RollingWindow,
  { chunks }: BufferedPart,
): { readonly emptyUntil?: number } {
  const { emptyUntil } = emptyUntilOf(chunks)
  if (emptyUntil === undefined || ofNothing === true || !window.isTrailing) return {}
  return { emptyUntil: emptyUntil + (ofStart === true ? (window.lengthUs ?? 0) : 0) }
}

interface PointCells {
  readonly times: Float64Array
  readonly cells: AggregateColumns
}

/** Each raw point as a cell, or each vertex where it is the extremes of the signal that are wanted. */
function cellsOf(
  { cells = [], extreme }: RollingOp,
  { chunks, raw, from, to }: BufferedPart,
  extrapolationLimits: readonly number[],
): PointCells {
  // A part of all that is held, which would be kept by it.
  if (extreme === undefined && cells.length === 0) return { times: NONE, cells: {} }
  if (extreme === undefined) {
    return { times: raw.times, cells: Object.fromEntries(cells.map((name) => [name, pointCell(name, raw)])) }
  }
  const pick = extreme === 'min' ? smaller : larger
  const vertices = chunks.map((chunk, i) => {
    const { times, values } = vertexValues(chunk, extrapolationLimits, extreme, from, to)
    // Where two chunks join, the limit from the left is that of the earlier one.
    const last = chunks[i - 1]
    if (last !== undefined && times[0] === chunk.from && last.to === chunk.from)
      values[0] = pick(values[0]!, last.valuesAt(times.subarray(0, 1), 'before')[0]!)
    return { times, values, statuses: new Uint8Array(times.length) }
  })
  const { times, values } = concatColumns(vertices)
  return { times, cells: { [extreme]: values } }
}

/** An aggregate of each raw point by itself; not to be changed. */
function pointCell(name: AggregateName, raw: PointColumns): Float64Array {
  const { length } = raw.times
  switch (name) {
    case 'count':
      return new Float64Array(length).fill(1)
    case 'numGood':
      return whereGood(raw, new Float64Array(length).fill(1), 0)
    case 'numBad':
      return whereGood(raw, new Float64Array(length), 1)
    case 'variance':
      return whereGood(raw, new Float64Array(length), Number.NaN)
    case 'sum':
    case 'avg':
      return whereGood(raw, raw.values, Number.NaN)
    default:
      throw new TidemarkError('BUG', { what: `rolling windows do not fold ${name}` })
  }
}

/** A column of raw points with another value where they are not good; the column itself where all are. */
function whereGood(raw: PointColumns, column: Float64Array, other: number): Float64Array {
  let found: Float64Array | null = null
  for (let i = 0; i < column.length; i++) {
    if (isGood(raw, i)) continue
    found ??= column.slice()
    found[i] = other
  }
  return found ?? column
}
