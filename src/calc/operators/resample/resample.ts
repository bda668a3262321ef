import {
  concatColumns,
  lowerBound,
  makeColumns,
  NO_POINTS,
  type PointColumns,
  sliceColumns,
  upperBound,
} from '../../../series/columns.ts'
import { valuesFromPoints } from '../../../series/interpolate.ts'
import type { FindPoint, SignalShape } from '../../../series/reads.ts'
import { clampInstant, type Instant, instantFromUs } from '../../../time/instant.ts'
import { aggregatesOf } from '../../consumers/aggregates.ts'
import { goesBack } from '../../consumers/find-point.ts'
import { BaseOperator, type InputNeed } from '../../graph/base.ts'
import { type ChunkRange, type ChunkStream, streamOf } from '../../graph/chunk.ts'
import type { Reach } from '../../graph/near.ts'
import type { NeedSink } from '../../graph/need.ts'
import type { Operator, OperatorContext } from '../../graph/operator.ts'
import { pointOf, type SinglePoint } from '../../graph/point-source.ts'
import type { WindowOpRule } from './ops.ts'
import { windowNeeds } from './window-needs.ts'
import { windowChunks } from './window-stream.ts'
import { AROUND, MAX_BATCH, Windowing, type WindowRange, type Windows } from './windowing.ts'

/** Windows of a page that lie beside its range: behind a gap it begins with a window that has a point. */
const BESIDE_RANGE = AROUND - 1
/** How much longer each further batch is where windows with values are looked for. */
const SEARCH_GROWTH = 4
/** Searches that are remembered. */
const REMEMBERED = 64

/** A search for a window with a value: between these edges there is none. */
interface Search extends WindowRange {
  readonly order: 'asc' | 'desc'
  readonly point: PointColumns
}

/**
 * Aggregates over tumbling windows: one raw point for each window that has a value. The windows are those that the
 * request's range touches, with what functions around read beyond it, and the one on either side of them. There are no
 * others: whichever part of the signal is read, and whatever is looked for in it, is that of these windows.
 * @source CALCULATIONS.md, section 8
 */
export class ResampleOperator extends BaseOperator {
  readonly #op: WindowOpRule
  readonly #shape: SignalShape
  readonly #windowing: Windowing
  /** Searches that were made, for others that begin in the same empty windows. */
  readonly #searches: Search[] = []

  constructor(input: Operator, op: WindowOpRule, windows: Windows, context: OperatorContext) {
    const varies = input.varies === 'data' ? 'data' : 'time'
    super([input], context, { stepped: op.stepped, varies, linear: true, extrapolationLimits: [context.now] })
    this.#op = op
    this.#shape = { stepped: op.stepped, holdUntil: context.now }
    this.#windowing = new Windowing(input, op, windows, context)
  }

  override get isNeverBad(): boolean {
    return true
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    const { isCount: isSure, lengthUs: slackUs } = this.#windowing
    if (at === null) return { mostUs: AROUND * slackUs, isSure, slackUs }
    const { from, to } = this.#windowing.around(at, at)
    return { mostUs: Math.max(0, goesBack(find) ? at - from : to - at), isSure, slackUs }
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    windowNeeds(this.#windowing, need, sink)
  }

  protected override readFrom(at: Instant): Instant {
    return clampInstant(this.#windowing.around(at, at).from)
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    const [from, to] = [times[0]!, times.at(-1)!]
    const around = this.#windowing.around(from, to)
    const points = await joined(this.#bounded(around, { from, to }, 'asc', MAX_BATCH))
    return valuesFromPoints(points, null, null, times, this.#shape, 'at')
  }

  protected open(range: ChunkRange): ChunkStream {
    const { from, to, extent, page, order } = range
    const size = extent === 'all' ? MAX_BATCH : Math.min(page + AROUND, MAX_BATCH - 1)
    const batches = this.#bounded(this.#windowing.around(from, to), range, order, size)
    return streamOf(windowChunks(batches, range, this.#shape))
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const around = this.#windowing.around(at, at)
    const points = await joined(this.#read(around, 'asc', MAX_BATCH))
    const { times } = points
    const index = {
      before: lowerBound(times, at) - 1,
      'before-or-at': upperBound(times, at) - 1,
      after: upperBound(times, at),
      'after-or-at': lowerBound(times, at),
    }[find]
    if (index >= 0 && index < times.length) return pointOf(points, index)
    const isBack = goesBack(find)
    if (isBack ? !this.#windowing.looksBack(around.from) : !this.#windowing.goesOn(around.to)) return null
    const found = await (isBack ? this.#beside(around.from, 'desc') : this.#beside(around.to, 'asc'))
    return found.times.length === 0 ? null : pointOf(found, 0)
  }

  /** Of the windows beside an instant, which hold what lies on its other side too. */
  protected override async findValue(find: FindPoint, at: Instant): Promise<boolean> {
    const { isCount, input, now } = this.#windowing
    // Behind `now` there is a value up to a later point alone.
    if (!goesBack(find) && at > now) return isCount || (await this.rawTime('after-or-at', at)) !== null
    const { from, to } = this.#windowing.around(at, at)
    return isCount || input.mayHaveValue(find, clampInstant(goesBack(find) ? to : from))
  }

  /**
   * The points of windows, as `#read`, and those of the windows with values beside them where none stands at an end of
   * the wanted part.
   */
  async *#bounded(
    reach: WindowRange,
    { from, to }: WindowRange,
    order: 'asc' | 'desc',
    size: number,
  ): AsyncGenerator<PointColumns> {
    let before = !this.#windowing.looksBack(reach.from)
    let after = !this.#windowing.looksForward(reach.to)
    let isFirst = true
    for await (const batch of this.#read(reach, order, size)) {
      const { times } = batch
      before ||= times.length > 0 && times[0]! <= from
      after ||= times.length > 0 && times.at(-1)! >= to
      if (isFirst && order === 'asc' && !before) yield await this.#beside(reach.from, 'desc')
      if (isFirst && order === 'desc' && !after) yield await this.#beside(reach.to, 'asc')
      isFirst = false
      yield batch
    }
    if (order === 'asc' && !after) yield await this.#beside(reach.to, 'asc')
    if (order === 'desc' && !before) yield await this.#beside(reach.from, 'desc')
  }

  /**
   * The point of the first window with a value that begins at the edge of one or later, or of the last one that ends
   * there or earlier; none if there is none.
   */
  async #beside(at: number, order: 'asc' | 'desc'): Promise<PointColumns> {
    const isIt = (search: Search) => search.order === order && search.from <= at && at <= search.to
    const known = this.#searches.find(isIt)
    if (known !== undefined) return known.point
    const { bounds, windows, hasGaps } = this.#windowing
    const left = order === 'asc' ? { from: at, to: bounds.to } : { from: bounds.from, to: at }
    let search: Search = { order, ...left, point: NO_POINTS }
    // The window of the next raw point mostly has a value.
    for await (const batch of this.#read(left, order, hasGaps ? 1 : MAX_BATCH, true)) {
      const { length } = batch.times
      if (length === 0) continue
      const point = order === 'asc' ? sliceColumns(batch, 0, 1) : sliceColumns(batch, length - 1, length)
      const { start, end } = windows(instantFromUs(point.times[0]!))
      search = { order, ...left, ...(order === 'asc' ? { to: start } : { from: end }), point }
      break
    }
    if (this.#searches.length < REMEMBERED) this.#searches.push(search)
    return search.point
  }

  /**
   * The points of windows that are not empty, batch by batch in the requested order; each batch ascends.
   * @param size windows of the first batch; MAX_BATCH where all are wanted, with gaps
   * @param isSearch begins behind a gap
   */
  async *#read(
    range: WindowRange,
    order: 'asc' | 'desc',
    size: number,
    isSearch = false,
  ): AsyncGenerator<PointColumns> {
    const { evaluation } = this.context
    const { input, aggregate, hasGaps, isOfSignal } = this.#windowing
    let [from, to]: [number, number] = [range.from, range.to]
    if (isSearch && hasGaps && from < to) [from, to] = await this.#withoutGap(from, to, order, isSearch)
    let missing = size
    for (let count = size; from < to; ) {
      const edges = this.#windowing.edges(from, to, order, count)
      evaluation.charge(edges.length)
      const found = await aggregatesOf(input, edges.map(clampInstant), [aggregate], this.context)
      const values = found[aggregate]!
      yield this.#pointsOf(edges, values)
      if (order === 'asc') from = edges.at(-1)!
      else to = edges[0]!
      await evaluation.pause()
      // Where all windows are wanted, a look-up pays only after many empty ones.
      const isFull = !values.some(Number.isNaN)
      const empty = size === MAX_BATCH ? values : values.slice(...(order === 'asc' ? [-1] : [0, 1]))
      if (from >= to) return
      // Without gaps, a last window without a value is before the first point or after the last one.
      const isOver = input.isGapless ? empty.every(Number.isNaN) : values.every(Number.isNaN)
      if (isOfSignal && isOver && !(await this.#mayGoOn(from, to, order))) return
      // A page that windows without a value are left out of.
      missing -= values.length - values.filter(Number.isNaN).length
      const isGap = empty.every(Number.isNaN)
      if (isGap && hasGaps) [from, to] = await this.#withoutGap(from, to, order, isSearch)
      if (!hasGaps || isFull) count = Math.min(2 * count, MAX_BATCH)
      else if (isSearch) count = isGap ? Math.min(SEARCH_GROWTH * count, MAX_BATCH) : count
      else if (size < MAX_BATCH && missing > 0) count = Math.max(AROUND, missing - (isGap ? BESIDE_RANGE : 0))
    }
  }

  /** Whether the signal may have a value in what is left of a range. */
  #mayGoOn(from: number, to: number, order: 'asc' | 'desc'): Promise<boolean> {
    return order === 'asc'
      ? this.#windowing.input.mayHaveValue('after-or-at', clampInstant(from))
      : this.#windowing.input.mayHaveValue('before-or-at', clampInstant(to))
  }

  /** Without the empty windows before the next raw point, or, where one is searched for, before the next good one. */
  async #withoutGap(
    from: number,
    to: number,
    order: 'asc' | 'desc',
    isSearch: boolean,
  ): Promise<[from: number, to: number]> {
    const { input } = this.#windowing
    const [find, at] = order === 'asc' ? (['after-or-at', from] as const) : (['before', to] as const)
    const next = await (isSearch
      ? input.goodBound(find, clampInstant(at))
      : input.rawTime(find, clampInstant(at)))
    if (next === null) return [from, from]
    const { start, end } = this.#windowing.windows(next)
    return order === 'asc' ? [Math.max(from, start), to] : [from, Math.min(to, end)]
  }

  /** No longer than there are points, which may be few: what is kept of them counts. */
  #pointsOf(edges: Float64Array, values: Float64Array): PointColumns {
    const { divisor = 1 } = this.#op
    let count = 0
    for (const value of values) if (Number.isFinite(value / divisor)) count++
    const points = makeColumns(count)
    for (let i = values.length - 1; i >= 0; i--) {
      const value = values[i]! / divisor
      if (!Number.isFinite(value)) continue
      const [start, end] = [edges[i]!, edges[i + 1]!]
      points.times[--count] = this.#windowing.pointOf(start, end)
      points.values[count] = value
    }
    return points
  }
}

/** Batches that follow each other as one. */
async function joined(batches: AsyncIterable<PointColumns>): Promise<PointColumns> {
  return concatColumns(await Array.fromAsync(batches))
}
