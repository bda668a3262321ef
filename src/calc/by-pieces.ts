import { WindowAggregator } from '../series/aggregate.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import {
  concatColumns,
  NO_POINTS,
  type PointColumns,
  reverseColumns,
  sliceColumns,
} from '../series/columns.ts'
import { SpanIntegrator, timeAverages } from '../series/integrate.ts'
import type { Integrals, RangeResult } from '../series/reads.ts'
import { type Instant, instantFromUs } from '../time/instant.ts'
import { ChordReader, type Chords, planChords } from './chords.ts'
import { breathe, pagePoints } from './page.ts'
import { windowSpans } from './read-memo.ts'
import type { Ask, Ledger, PieceRange, RawRange, Series, SeriesContext } from './series.ts'

/**
 * Raw points, integrals and aggregates of any series through its pieces: what a calculation gets for nothing once it has
 * pieces. Everything is streamed, so that memory is that of a page for each input, however long the range.
 */

/** Raw points of a range, in its order. */
export async function rawPointsByPieces(
  series: Series,
  range: RawRange,
  context: SeriesContext,
): Promise<RangeResult> {
  const { limit, order } = range
  const stream = series.pieces(firstPiece(range))
  const parts: PointColumns[] = []
  let count = 0
  for (;;) {
    const piece = await stream.next()
    if (piece === null) break
    parts.push(piece.raw)
    count += piece.raw.times.length
    // One more than asked for shows that there are more.
    if (count > limit) break
    if (parts.length > 1) await breathe(context)
  }
  if (count === 0) return { points: NO_POINTS, more: false }
  const points = order === 'asc' ? concatColumns(parts) : reverseColumns(concatColumns(parts.reverse()))
  return { points: sliceColumns(points, 0, limit), more: count > limit }
}

export function planRawByPieces(series: Series, range: RawRange, ledger: Ledger): void {
  series.plan({ kind: 'pieces', widened: null, ...firstPiece(range) }, ledger)
}

/** One point more than asked for shows that there are more, and one can be held back at the cut. */
function firstPiece({ from, to, order, limit }: RawRange): PieceRange {
  return { from, to, order, page: limit + 2, extent: 'first' }
}

/** Integrals over spans that do not overlap, ascending. */
export async function integralsByPieces(
  series: Series,
  starts: Float64Array,
  ends: Float64Array,
  context: SeriesContext,
): Promise<Integrals> {
  const integrator = new SpanIntegrator(starts, ends)
  const from = starts[0]
  const to = ends.at(-1)
  if (from !== undefined && to !== undefined && from < to) {
    await forEachChords(new ChordReader(series, context, streamOf(from, to, context)), context, (chords) =>
      addChords(integrator, chords),
    )
  }
  return integrator.result()
}

/** Aggregates over windows that join. */
export async function aggregatesByPieces(
  series: Series,
  edges: Float64Array,
  names: readonly AggregateName[],
  context: SeriesContext,
): Promise<AggregateColumns> {
  const range = streamOf(edges[0]!, edges.at(-1)!, context)
  const aggregator = new WindowAggregator(edges, names)
  if (names.includes('timeAvg')) {
    const integrator = new SpanIntegrator(...windowSpans(edges))
    const reader = new ChordReader(series, context, range, (piece) => aggregator.add(piece.raw))
    await forEachChords(reader, context, (chords) => addChords(integrator, chords))
    return { ...aggregator.finish(), timeAvg: timeAverages(integrator.result()) }
  }
  const stream = series.pieces(range)
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
    aggregator.add(piece.raw)
    await breathe(context)
  }
  return aggregator.finish()
}

/**
 * Plans integrals or aggregates by pieces.
 * @param name of the series, the same only for equal series in equal contexts
 */
export function planByPieces(
  series: Series,
  ask: Ask & { readonly kind: 'integrals' | 'aggregates' },
  name: string,
  context: SeriesContext,
  ledger: Ledger,
): void {
  if (ask.from >= ask.to) return
  const range = streamOf(ask.from, ask.to, context)
  // Spans may begin later and end earlier than the range, so that it is no read of that range.
  const widened = ask.kind === 'integrals' || ask.inside === true ? `inside ${ask.grid}` : null
  if (ask.kind === 'integrals' || ask.names.includes('timeAvg'))
    planChords(series, range, name, widened, ledger)
  else
    series.plan({ kind: 'pieces', widened, ...(widened === null ? {} : { inside: true }), ...range }, ledger)
}

function addChords(integrator: SpanIntegrator, { times, at, before }: Chords): void {
  for (let i = 1; i < times.length; i++) {
    const value1 = at[i - 1]!
    const value2 = before[i]!
    if (!Number.isNaN(value1) && !Number.isNaN(value2)) {
      integrator.segment(times[i - 1]!, value1, times[i]!, value2)
    }
  }
}

async function forEachChords(
  reader: ChordReader,
  context: SeriesContext,
  visit: (chords: Chords) => void,
): Promise<void> {
  for (let chords = await reader.next(); chords !== null; chords = await reader.next()) {
    visit(chords)
    await breathe(context)
  }
}

/** A range that is streamed whole. */
export function streamOf(from: number, to: number, context: SeriesContext): PieceRange {
  const range = { from: instantFromUs(from), to: instantFromUs(to) } satisfies { from: Instant; to: Instant }
  return { ...range, order: 'asc', page: pagePoints(context), extent: 'all' }
}
