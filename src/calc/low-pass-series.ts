import type { PointColumns } from '../series/columns.ts'
import { type EdgePoint, goodPoints } from '../series/interpolate.ts'
import type { FindPoint } from '../series/reads.ts'
import { type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import { streamOf } from './by-pieces.ts'
import {
  findRawPoint,
  goesBack,
  isGoodPoint,
  planFindRawPoint,
  type Whereabouts,
  whereaboutsOf,
} from './good-points.ts'
import { breathe } from './page.ts'
import { type Derived, PointSignalSeries } from './point-signal.ts'
import { timesFor } from './read-memo.ts'
import type {
  Ask,
  CurrentPoint,
  Ledger,
  PieceRange,
  PieceStream,
  Series,
  SeriesContext,
  SinglePoint,
} from './series.ts'

/** The filter starts so many periods before the range. */
const START_PERIODS = 5

/** What lies so many periods back has a weight of exp(-12 pi), less than a double's last digit. */
const FORGOTTEN_PERIODS = 6

/** Points of a page where the filter's input is read backwards over a gap. */
const GAP_PAGE = 512

/** Where a filter starts for a range. @param periodUs its cut-off period */
export function startOfFilter(from: Instant, periodUs: number): Instant {
  return instantFromUs(Math.max(MIN_INSTANT, Math.ceil(from - START_PERIODS * periodUs)))
}

/**
 * First-order low-pass over the good raw points of a series, linear between them. Its raw points are those points, from
 * the start of the filter on; before it there is no value.
 * @source CALCULATIONS.md, section 6
 */
export class LowPassSeries extends PointSignalSeries {
  readonly stepped = false
  readonly #periodUs: number
  readonly #start: Instant
  readonly #since = new Map<Instant, LowPassSeries>()

  /**
   * @param periodUs  cut-off period in microseconds, above 0
   * @param name      the same only for equal series in equal contexts
   */
  constructor(input: Series, periodUs: number, name: string, context: SeriesContext) {
    super(input, name, context)
    this.#periodUs = periodUs
    this.#start = startOfFilter(context.range.from, periodUs)
  }

  override plan(ask: Ask, ledger: Ledger): void {
    const isStreamed =
      ask.kind === 'integrals' || ask.kind === 'aggregates' || (ask.kind === 'pieces' && ask.extent === 'all')
    if (isStreamed && ask.from < this.#start) this.#startingFor(ask.from).plan(ask, ledger)
    else super.plan(ask, ledger)
  }

  override pieces(range: PieceRange): PieceStream {
    const { wantedFrom = range.from, extent } = range
    const isEarly = extent === 'all' && wantedFrom < this.#start
    return isEarly ? this.#startingFor(wantedFrom).pieces(range) : super.pieces(range)
  }

  async currentPoint(_find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint> {
    const value = (await this.valuesAt(timesFor(this.context.source, at)))[0]!
    return { time: at, value, bad: Number.isNaN(value) }
  }

  async rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const isEarly = at < this.#start
    if (isEarly && goesBack(find)) return null
    const [first, from] = isEarly ? (['after-or-at', this.#start] as const) : [find, at]
    const point = await findRawPoint(this.input, first, from)
    return point === null || point.time < this.#start ? null : point.time
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.rawTime(find, at)
    if (time === null) return null
    const value = (await this.valuesAt(timesFor(this.context.source, time)))[0]!
    return { time, value, bad: Number.isNaN(value) }
  }

  protected makesKnot(point: SinglePoint): boolean {
    return isGoodPoint(point) && point.time >= this.#start
  }

  /** Any good one: none is looked for before the start of the filter. */
  protected override knotPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return findRawPoint(this.input, find, at)
  }

  protected derive(input: PointColumns, last: EdgePoint | null): Derived {
    const { times: all, values: inputs } = goodPoints(input)
    let first = 0
    while (first < all.length && all[first]! < this.#start) first++
    const times = all.subarray(first)
    const values = new Float64Array(times.length)
    let before = last
    for (let i = 0; i < times.length; i++) {
      const time = times[i]!
      const x = inputs[first + i]!
      const value = before === null ? x : before.value + this.#share(time - before.time) * (x - before.value)
      values[i] = value
      before = { time, value }
    }
    return { raw: { times, values, statuses: new Uint8Array(times.length) }, knots: { times, values } }
  }

  protected async knotBefore(at: Instant): Promise<EdgePoint | null> {
    if (at <= this.#start) return null
    const from = this.#back(at, 2 * FORGOTTEN_PERIODS)
    const last = await this.#filter(from, at)
    if (from === this.#start || (last !== null && last.time >= this.#back(at, FORGOTTEN_PERIODS))) return last
    // A gap in the input: what counts are the periods before it.
    const point = await findRawPoint(this.input, 'before', at)
    if (point === null || point.time < this.#start) return null
    return this.#filter(this.#back(point.time, FORGOTTEN_PERIODS), instantFromUs(point.time + 1))
  }

  protected planKnotBefore(where: Whereabouts, ledger: Ledger): void {
    const [from, to] = where.kind === 'within' ? [where.from, where.to] : [where.at, where.at]
    const start = this.#back(from, 2 * FORGOTTEN_PERIODS)
    const widened = where.kind === 'at' ? null : `${this.name} ${where.name}`
    if (start < to) {
      this.input.plan({ kind: 'pieces', ...streamOf(start, to, this.context), widened }, ledger)
    }
    if (start === this.#start || this.#start >= to) return
    planFindRawPoint(this.input, 'before', where, this.name, ledger)
    const gap = { from: this.#start, to, order: 'desc', page: GAP_PAGE, extent: 'first' } as const
    this.input.plan({ kind: 'pieces', ...gap, widened: `${this.name} ${to} ${widened ?? ''}` }, ledger)
  }

  protected planPoint(ask: Ask & { readonly kind: 'point' | 'raw-time' }, ledger: Ledger): void {
    const { find, at } = ask
    const name = `${this.name} ${ask.kind === 'raw-time' ? (ask.near ?? '') : ''}`
    const where: Whereabouts = ask.kind === 'raw-time' ? whereaboutsOf(ask) : { kind: 'at', at }
    planFindRawPoint(this.input, find, where, this.name, ledger)
    if (at < this.#start && !goesBack(find)) {
      planFindRawPoint(this.input, 'after-or-at', { kind: 'at', at: this.#start }, this.name, ledger)
    }
    if (ask.kind === 'raw-time') return
    const grid = `${name} ${find} ${at}`
    this.plan({ kind: 'values', grid, count: 1, from: at, to: at, near: { find, at } }, ledger)
  }

  protected planCurrent({ at }: Ask & { readonly kind: 'current' }, ledger: Ledger): void {
    this.plan({ kind: 'values', grid: `${this.name} ${at}`, count: 1, from: at, to: at }, ledger)
  }

  /**
   * The same, started early enough for a stretch that begins before its own start, as that of a total does whose window
   * began long before the range.
   */
  #startingFor(at: Instant): LowPassSeries {
    return this.#since.getOrInsertComputed(at, () => {
      const range = { from: at, to: this.context.range.to }
      return new LowPassSeries(this.input, this.#periodUs, `${this.name} since ${at}`, {
        ...this.context,
        range,
      })
    })
  }

  /** The last knot of [from, to), when the filter starts in it. */
  async #filter(from: Instant, to: Instant): Promise<EdgePoint | null> {
    const stream = this.input.pieces(streamOf(from, to, this.context))
    let last: EdgePoint | null = null
    for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
      const derived: Derived = this.derive(piece.raw, last)
      const { times, values } = derived.knots
      const end = times.length - 1
      if (end >= 0) last = { time: times[end]!, value: values[end]! }
      await breathe(this.context)
    }
    return last
  }

  /** An instant some periods earlier, but not before the start of the filter. */
  #back(at: Instant, periods: number): Instant {
    return instantFromUs(Math.max(this.#start, Math.ceil(at - periods * this.#periodUs)))
  }

  /** How far the output goes towards the input within a time. */
  #share(lengthUs: number): number {
    // Without it a length much shorter than the period would lose its digits in 1 - exp(...).
    return -Math.expm1((-2 * Math.PI * lengthUs) / this.#periodUs)
  }
}
