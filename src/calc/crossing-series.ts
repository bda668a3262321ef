import { never } from '../errors/tidemark-error.ts'
import type { AggregateColumns, AggregateName } from '../series/aggregate-names.ts'
import type { PointColumns } from '../series/columns.ts'
import type { Side } from '../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import {
  aggregatesByPieces,
  integralsByPieces,
  planByPieces,
  planRawByPieces,
  rawPointsByPieces,
  streamOf,
} from './by-pieces.ts'
import { CarryStream, type Surroundings } from './carry-stream.ts'
import { answer, type Comparison, comparisonRule } from './comparison.ts'
import { findChanges, isEarly, type Pair, type Stretches } from './crossings.ts'
import { ElementwiseSeries, type UnionPiece, UnionStream } from './elementwise.ts'
import { goesBack } from './good-points.ts'
import { timesFor } from './read-memo.ts'
import type {
  Ask,
  CurrentPoint,
  Ledger,
  Piece,
  PieceRange,
  PieceStream,
  RawRange,
  Series,
  SeriesContext,
  SinglePoint,
} from './series.ts'

/** Both values one microsecond before an instant; `null` before the first accepted one. */
type Before = Pair | null

/**
 * The answer to a comparison of two series that are not both held: 1 or 0, held between its raw points. These stand at the
 * raw points of both, and at the first microsecond at which a crossing in between has changed the answer. A change that
 * lies nearer to the microsecond before has another raw point there, the last with the answer that was, and counts from
 * there; so times of a comparison that holds are exact to half a microsecond, and wholly so for crossings at whole ones.
 * @source CALCULATIONS.md, section 2
 */
export class CrossingSeries implements Series {
  readonly stepped = true
  readonly varies: 'nothing' | 'time' | 'data'
  readonly straight: boolean
  readonly holdEnds: readonly Instant[]
  readonly #comparison: Comparison
  readonly #a: Series
  readonly #b: Series
  /** The same without crossings. */
  readonly #plain: ElementwiseSeries
  readonly #name: string
  readonly #context: SeriesContext

  /** @param name the same only for equal series in equal contexts */
  constructor(comparison: Comparison, a: Series, b: Series, name: string, context: SeriesContext) {
    this.#comparison = comparison
    this.#a = a
    this.#b = b
    this.#plain = new ElementwiseSeries(comparisonRule(comparison), [a, b], `${name} plain`, context)
    this.#name = name
    this.#context = context
    this.varies = this.#plain.varies
    this.holdEnds = this.#plain.holdEnds
    // What bends between its raw points may cross twice there, which nobody looks for.
    this.straight = a.straight && b.straight
  }

  plan(ask: Ask, ledger: Ledger): void {
    switch (ask.kind) {
      case 'values':
      case 'current':
        this.#plain.plan(ask, ledger)
        break
      case 'point':
      case 'raw-time':
        this.#plain.plan(ask, ledger)
        this.#planNear(ask, ledger)
        break
      case 'raw':
        planRawByPieces(this, ask, ledger)
        break
      case 'pieces':
        this.#planPieces(ask, ledger)
        break
      case 'integrals':
      case 'aggregates':
        planByPieces(this, ask, this.#name, this.#context, ledger)
        break
      default:
        never(ask)
    }
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.#plain.valuesAt(times)
  }

  currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.#plain.currentPoint(find, at)
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const [time] = await this.#near(find, at)
    return time
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const [time, crossing] = await this.#near(find, at)
    if (crossing !== null || time === null) return crossing
    return this.#plain.rawPoint(find, at)
  }

  rawPoints(range: RawRange): Promise<RangeResult> {
    return rawPointsByPieces(this, range, this.#context)
  }

  pieces(range: PieceRange): PieceStream {
    const carrier = {
      context: this.#context,
      open: (range: PieceRange) =>
        new UnionStream([this.#a.pieces(range), this.#b.pieces(range)], range, {
          combine: ([a, b], length) => this.#answers({ a: a!, b: b! }, length),
          matters: () => true,
        }),
      lookUp: (at: Instant) => this.#lookUp(at),
      carry: (piece: UnionPiece, around: Surroundings<UnionPiece, Before>) => this.#carry(piece, around),
    }
    return new CarryStream<UnionPiece, Before>(carrier, range)
  }

  integrals(starts: Float64Array, ends: Float64Array): Promise<Integrals> {
    return integralsByPieces(this, starts, ends, this.#context)
  }

  aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    return aggregatesByPieces(this, edges, names, this.#context)
  }

  #answers({ a, b }: Pair, length: number): Float64Array {
    const answers = new Float64Array(length)
    for (let i = 0; i < length; i++) answers[i] = answer(this.#comparison, a[i]!, b[i]!)
    return answers
  }

  async #lookUp(at: Instant): Promise<Before> {
    if (at <= MIN_INSTANT) return null
    const times = timesFor(this.#context.source, at - 1)
    const [a, b] = await Promise.all([this.#a.valuesAt(times), this.#b.valuesAt(times)])
    return { a, b }
  }

  async #carry(
    piece: UnionPiece,
    around: Surroundings<UnionPiece, Before>,
  ): Promise<{ piece: Piece; after: Before }> {
    // Where the range begins with a raw point, nothing depends on what was before it.
    const isKnown = around.isFirst && piece.raw.times[0] === piece.from
    const stretch = new ComparedStretch(this.#comparison, piece, isKnown ? null : await around.before())
    return { piece: stretch.toPiece(this.holdEnds), after: stretch.readAt(piece.to - 1) }
  }

  /** The raw time next to an instant, and the point itself when it is a crossing and no raw point of the inputs. */
  async #near(
    find: FindPoint,
    at: Instant,
  ): Promise<readonly [time: Instant | null, crossing: SinglePoint | null]> {
    const back = goesBack(find)
    const time = await this.#plain.rawTime(find, at)
    if (time === null) return [null, null]
    const isAt = find === 'before-or-at' || find === 'after-or-at'
    if (isAt && time === at) return [time, null]
    const [from, to] = back ? [time, isAt ? at + 1 : at] : [isAt ? at : at + 1, time]
    if (from >= to) return [time, null]
    const stream = this.pieces(streamOf(from, to, this.#context))
    let found: SinglePoint | null = null
    for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
      const { raw } = piece
      const index = back ? raw.times.length - 1 : 0
      const crossing = raw.times[index]
      if (crossing === undefined || crossing === time) continue
      found = { time: instantFromUs(crossing), value: raw.values[index]!, bad: raw.statuses[index] !== 0 }
      if (!back) break
    }
    return found === null ? [time, null] : [found.time, found]
  }

  #planNear(ask: Ask & { readonly kind: 'point' | 'raw-time' }, ledger: Ledger): void {
    const { find, at } = ask
    const near = ask.kind === 'raw-time' ? (ask.near ?? '') : ''
    const count = ask.kind === 'raw-time' ? (ask.count ?? 1) : 1
    const name = `${this.#name} ${find} ${at} ${near}`
    if (ask.kind === 'point') this.#plain.plan({ kind: 'raw-time', find, at }, ledger)
    const end = Math.min(at + 1, END_INSTANT)
    if (at < end) {
      this.#plain.plan({ kind: 'pieces', ...streamOf(at, end, this.#context), widened: name }, ledger)
    }
    this.#planLookUp(at, name, near !== '', ledger)
    if (count === 1) return
    // A look-up reads at most so many points of each tag, neighbours included.
    const values = { kind: 'values', grid: `${name} all`, count: 10 * count, from: at, to: at } as const
    this.#plain.plan(values, ledger)
  }

  /** @param isNear when the instant is only near `at` */
  #planLookUp(at: Instant, name: string, isNear: boolean, ledger: Ledger): void {
    const before = instantFromUs(Math.max(at - 1, MIN_INSTANT))
    const grid = `before ${name}`
    this.#plain.plan({ kind: 'values', grid, count: 1, from: before, to: at }, ledger)
    if (!isNear) return
    for (const near of [at, before]) {
      for (const find of ['before-or-at', 'after-or-at'] as const) {
        const ask = { kind: 'values', count: 1, from: near, to: near, near: { find, at: near } } as const
        this.#plain.plan({ ...ask, grid: `${grid} ${find} ${near}` }, ledger)
      }
    }
  }

  #planPieces(ask: Ask & { readonly kind: 'pieces' }, ledger: Ledger): void {
    const { from, to, order, page, extent, widened } = ask
    const name = `${this.#name} ${from} ${to} ${order} ${page} ${widened ?? ''}`
    this.#plain.plan(ask, ledger)
    this.#planLookUp(from, name, widened !== null, ledger)
    // Where the first piece begins is known only once it was read.
    if ((order === 'desc' && extent === 'first') || ask.inside === true) {
      this.#plain.plan({ kind: 'values', grid: `cut ${name}`, count: 1, from, to }, ledger)
    }
  }
}

/** Two series over a piece, and the answers to a comparison of them. */
class ComparedStretch {
  readonly #comparison: Comparison
  readonly #piece: UnionPiece
  readonly #before: Before

  constructor(comparison: Comparison, piece: UnionPiece, before: Before) {
    this.#comparison = comparison
    this.#piece = piece
    this.#before = before
  }

  readAt(time: number): Pair {
    return this.#read(Float64Array.of(time), 'at')
  }

  toPiece(holdEnds: readonly Instant[]): Piece {
    const { from, to, raw } = this.#piece
    const changes = findChanges(this.#comparison, this.#stretches(holdEnds), (times, side) =>
      this.#read(times, side),
    )
    return {
      from,
      to,
      raw: this.#withPoints(raw, changes),
      valuesAt: (times, side) =>
        side === 'at' ? this.#answers(this.#read(times, 'at')) : this.#limitsBefore(times),
      valuesAfter: (times) => this.#limitsAfter(times),
    }
  }

  #read(times: Float64Array, side: Side): Pair {
    const [a, b] = this.#piece.inputs
    return { a: a!.valuesAt(times, side), b: b!.valuesAt(times, side) }
  }

  #answers({ a, b }: Pair): Float64Array {
    return a.map((value, i) => answer(this.#comparison, value, b[i]!))
  }

  /** From each raw point to the next, cut where holds may end; and the microsecond before the piece. */
  #stretches(holdEnds: readonly Instant[]): Stretches {
    const knots = this.#knots(holdEnds)
    const at = this.#read(knots, 'at')
    const before = this.#read(knots, 'before')
    const joined = this.#before
    if (joined === null) {
      const cut = (values: Float64Array) => values.subarray(0, -1)
      const late = (values: Float64Array) => values.subarray(1)
      const first = { a: cut(at.a), b: cut(at.b) }
      return { starts: cut(knots), ends: late(knots), first, last: { a: late(before.a), b: late(before.b) } }
    }
    const first = { a: behind(joined.a[0]!, at.a), b: behind(joined.b[0]!, at.b) }
    return { starts: behind(this.#piece.from - 1, knots), ends: knots, first, last: before }
  }

  #knots(holdEnds: readonly Instant[]): Float64Array {
    const { from, to, raw } = this.#piece
    const inside = holdEnds.filter((end) => from < end && end < to)
    if (inside.length > 0) return Float64Array.from(new Set([from, ...raw.times, ...inside, to])).sort()
    const opens = raw.times[0] !== from
    const knots = new Float64Array(raw.times.length + (opens ? 2 : 1))
    knots.set(raw.times, opens ? 1 : 0)
    knots[0] = from
    knots[knots.length - 1] = to
    return knots
  }

  /** With raw points where the answer has changed, and one microsecond before where it changes right after that. */
  #withPoints(raw: PointColumns, changes: readonly number[]): PointColumns {
    const { from, to } = this.#piece
    const inside = Float64Array.from(changes).subarray(changes[0] === from ? 1 : 0)
    const first = this.#read(
      inside.map((time) => time - 1),
      'at',
    )
    const last = this.#read(inside, 'before')
    const wanted = new Float64Array(2 * changes.length)
    let count = 0
    let next = 0
    const want = (time: number): void => {
      while (next < raw.times.length && raw.times[next]! < time) next++
      if (raw.times[next] !== time && time !== wanted[count - 1] && time < to) wanted[count++] = time
    }
    if (inside.length < changes.length) want(from)
    for (let i = 0; i < inside.length; i++) {
      const early = isEarly(this.#comparison, first.a[i]!, first.b[i]!, last.a[i]!, last.b[i]!)
      if (early) want(inside[i]! - 1)
      want(inside[i]!)
    }
    const extra = wanted.subarray(0, count)
    if (extra.length === 0) return raw
    return merge(raw, extra, this.#answers(this.#read(extra, 'at')))
  }

  #limitsBefore(times: Float64Array): Float64Array {
    const { from } = this.#piece
    const last = this.#read(times, 'before')
    const first = this.#read(
      times.map((time) => Math.max(time - 1, from)),
      'at',
    )
    const joined = this.#before
    return times.map((time, i) => {
      const [lastA, lastB] = [last.a[i]!, last.b[i]!]
      const limit = answer(this.#comparison, lastA, lastB)
      const firstA = time > from ? first.a[i]! : (joined?.a[0] ?? Number.NaN)
      const firstB = time > from ? first.b[i]! : (joined?.b[0] ?? Number.NaN)
      const earlier = answer(this.#comparison, firstA, firstB)
      if (limit === earlier || Number.isNaN(limit) || Number.isNaN(earlier)) return limit
      return isEarly(this.#comparison, firstA, firstB, lastA, lastB) ? limit : earlier
    })
  }

  #limitsAfter(times: Float64Array): Float64Array {
    const { to } = this.#piece
    const first = this.#read(times, 'at')
    const last = this.#read(
      times.map((time) => Math.min(time + 1, to)),
      'before',
    )
    return times.map((time, i) => {
      const [a, b, nextA, nextB] = [first.a[i]!, first.b[i]!, last.a[i]!, last.b[i]!]
      const own = answer(this.#comparison, a, b)
      const next = answer(this.#comparison, nextA, nextB)
      if (time >= to || Number.isNaN(own) || Number.isNaN(next) || own === next) return own
      return isEarly(this.#comparison, a, b, nextA, nextB) ? next : own
    })
  }
}

/** A value, then all of some others but the last. */
function behind(first: number, others: Float64Array): Float64Array {
  const values = new Float64Array(others.length)
  values[0] = first
  values.set(others.subarray(0, -1), 1)
  return values
}

/** Raw points with others at times that they do not have. */
function merge(raw: PointColumns, times: Float64Array, values: Float64Array): PointColumns {
  const merged = {
    times: new Float64Array(raw.times.length + times.length),
    values: new Float64Array(raw.times.length + times.length),
    statuses: new Uint8Array(raw.times.length + times.length),
  }
  let own = 0
  let extra = 0
  for (let i = 0; i < merged.times.length; i++) {
    const isExtra = own === raw.times.length || times[extra]! < raw.times[own]!
    const [from, index] = isExtra ? [{ times, values }, extra++] : [raw, own++]
    merged.times[i] = from.times[index]!
    merged.values[i] = from.values[index]!
    if (!isExtra) merged.statuses[i] = raw.statuses[index]!
  }
  return merged
}
