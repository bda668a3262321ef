import { takesSignal } from '../../../series/aggregate.ts'
import type { AggregateName } from '../../../series/aggregate-names.ts'
import {
  concatColumns,
  lowerBound,
  makeColumns,
  type PointColumns,
  sliceColumns,
  upperBound,
} from '../../../series/columns.ts'
import { valuesFromPoints } from '../../../series/interpolate.ts'
import type { FindPoint, SignalShape } from '../../../series/reads.ts'
import { type Instant, instantFromUs } from '../../../time/instant.ts'
import type { FindWindow } from '../../../time/windows.ts'
import { aggregatesOf } from '../../consumers/aggregates.ts'
import { goesBack } from '../../consumers/find-point.ts'
import { BaseOperator, type InputNeed } from '../../graph/base.ts'
import { type ChunkRange, type ChunkStream, streamOf } from '../../graph/chunk.ts'
import type { Reach } from '../../graph/near.ts'
import type { NeedSink } from '../../graph/need.ts'
import type { Operator, OperatorContext } from '../../graph/operator.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { reachOf } from '../../graph/reach.ts'
import type { WindowOpRule } from './ops.ts'
import { AROUND, MAX_BATCH, type Windowing, windowNeeds } from './window-needs.ts'
import { accepted, allWindows, type WindowRange, windowsAround } from './window-range.ts'
import { WindowSearch } from './window-search.ts'
import { windowChunks, withoutEarlier } from './window-stream.ts'

const COUNTS: readonly AggregateName[] = ['numGood', 'numBad']

/** Windows of the first batch behind a gap: there may be another one soon. */
const GAP_BATCH = 4
/** How much longer each further batch is where windows with values are looked for. */
const SEARCH_GROWTH = 4
/** Levels of an input up to which searches beyond empty windows are estimated. */
const SEARCHED_LEVELS = 2

/**
 * Aggregates over tumbling windows: one raw point for each window that has a value. The signal within the request's
 * range, and what functions around read beyond it, is that of the windows that this touches and of the one on either side
 * of them: a part of it looks for the windows with values beside it among these. Whatever is asked outside of them is made
 * of the windows that it touches and of the one on either side.
 * @source CALCULATIONS.md, section 8
 */
export class ResampleOperator extends BaseOperator {
  readonly isNeverBad = true
  readonly readsPagesAnew = true
  readonly findsNearby = true
  readonly #input: Operator
  readonly #op: WindowOpRule
  readonly #windows: FindWindow
  readonly #lengthUs: number
  readonly #shape: SignalShape
  /** Windows of the first and last accepted instant. */
  readonly #limits: WindowRange
  /** Windows of what is read of the operator, and the one on either side. */
  readonly #bounds: WindowRange
  readonly #search: WindowSearch
  readonly #windowing: Windowing

  /** @param lengthUs of a window, about: for the estimate */
  constructor(
    input: Operator,
    op: WindowOpRule,
    windows: FindWindow,
    lengthUs: number,
    context: OperatorContext,
  ) {
    const varies = input.varies === 'data' ? 'data' : 'time'
    super([input], context, { stepped: op.stepped, varies, linear: true, extrapolationLimits: [context.now] })
    this.#input = input
    this.#op = op
    this.#windows = windows
    this.#lengthUs = lengthUs
    this.#shape = { stepped: op.stepped, holdUntil: context.now }
    this.#limits = allWindows(windows)
    const { from, to } = reachOf(context)
    this.#bounds = this.#around(accepted(from), accepted(to))
    // The window of the next raw point mostly has a value.
    const size = this.#hasGaps ? 1 : MAX_BATCH
    const read = (range: WindowRange, order: 'asc' | 'desc') => this.#read(range, order, size, true)
    this.#search = new WindowSearch(this.#bounds, windows, read)
    this.#windowing = {
      ...{ input, aggregate: op.aggregate, windows, lengthUs, now: context.now, bounds: this.#bounds },
      ...{
        hasGaps: this.#hasGaps,
        isOfSignal: this.#isOfSignal,
        searchesExactly: input.levels <= SEARCHED_LEVELS,
      },
      beyond: { back: from < context.range.from, forward: to > context.range.to },
      around: (from, to) => this.#around(from, to),
      looksBack: (from) => this.#looksBack(from),
      looksForward: (to) => this.#looksForward(to),
      goesOn: (to) => this.#goesOn(to),
    }
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    const isSure = this.#isCount
    const slackUs = this.#lengthUs
    if (at === null) return { mostUs: AROUND * slackUs, isSure, slackUs }
    const { from, to } = this.#around(at, at)
    return { mostUs: goesBack(find) ? at - from : to - at, isSure, slackUs }
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    windowNeeds(this.#windowing, need, sink)
  }

  override readFrom(at: Instant): Instant {
    return accepted(this.#around(at, at).from)
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    const [from, to] = [times[0]!, times.at(-1)!]
    const points = await joined(this.#bounded(this.#around(from, to), { from, to }, 'asc', MAX_BATCH))
    const values = valuesFromPoints(points, null, null, times, this.#shape, 'at')
    const start = this.#bounds.from
    const first = points.times[lowerBound(points.times, start)] ?? Number.POSITIVE_INFINITY
    return withoutEarlier(values, times, 'at', start, first)
  }

  protected open(range: ChunkRange): ChunkStream {
    const { wantedFrom = range.from, wantedTo = range.to, extent, page, order } = range
    const own = this.#around(range.from, range.to)
    const wanted = this.#around(wantedFrom, wantedTo)
    // The first and the last window inside of what is read of the operator do not depend on the part that is wanted.
    const start = Math.min(wanted.from, this.#bounds.from)
    const end = Math.max(wanted.to, this.#bounds.to)
    const reach = { from: Math.max(own.from, start), to: Math.min(own.to, end) }
    const size = extent === 'all' ? MAX_BATCH : Math.min(page + AROUND, MAX_BATCH - 1)
    const batches = this.#bounded(reach, range, order, size)
    return streamOf(windowChunks(batches, range, this.#shape, this.#bounds.from))
  }

  protected async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return (await this.rawPoint(find, at))?.time ?? null
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const around = this.#around(at, at)
    const { times, values } = await joined(this.#read(around, 'asc', MAX_BATCH))
    const index = {
      before: lowerBound(times, at) - 1,
      'before-or-at': upperBound(times, at) - 1,
      after: upperBound(times, at),
      'after-or-at': lowerBound(times, at),
    }[find]
    const time = times[index]
    if (time !== undefined) return { time: instantFromUs(time), value: values[index]!, bad: false }
    const isBack = goesBack(find)
    if (isBack ? !this.#looksBack(around.from) : !this.#goesOn(around.to)) return null
    const found = await (isBack ? this.#search.before(around.from) : this.#search.after(around.to))
    if (found.times.length === 0) return null
    return { time: instantFromUs(found.times[0]!), value: found.values[0]!, bad: false }
  }

  /** Of the windows beside an instant, which hold what lies on its other side too. */
  protected override async findValue(find: FindPoint, at: Instant): Promise<boolean> {
    const { from, to } = this.#around(at, at)
    return this.#isCount || this.#input.mayHaveValue(find, accepted(goesBack(find) ? to : from))
  }

  /** Whether a window without good points has no point, so that the next one is found beside a raw point. */
  get #hasGaps(): boolean {
    return !this.#isCount && !this.#isOfSignal
  }

  get #isCount(): boolean {
    return COUNTS.includes(this.#op.aggregate)
  }

  /** Whether windows have values also where they have no raw points, and are gone through one by one. */
  get #isOfSignal(): boolean {
    return takesSignal([this.#op.aggregate])
  }

  /** The windows that a range touches, and the one on either side. */
  #around(from: number, to: number): WindowRange {
    return windowsAround(this.#windows, this.#limits, { from, to })
  }

  /** Whether a window with a value is looked for before what begins here: inside of what is read of the operator. */
  #looksBack(from: number): boolean {
    return !this.#isCount && from > this.#bounds.from && from < this.#bounds.to
  }

  /** The same behind what ends here: step interpolation needs the next point only for values after `now`. */
  #looksForward(to: number): boolean {
    return this.#goesOn(to) && (!this.stepped || to > this.context.now)
  }

  /** Whether there may be a further window behind what ends here. */
  #goesOn(to: number): boolean {
    return !this.#isCount && to < this.#bounds.to && to > this.#bounds.from
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
    let before = !this.#looksBack(reach.from)
    let after = !this.#looksForward(reach.to)
    let isFirst = true
    for await (const batch of this.#read(reach, order, size)) {
      const { times } = batch
      before ||= times.length > 0 && times[0]! <= from
      after ||= times.length > 0 && times.at(-1)! >= to
      if (isFirst && order === 'asc' && !before) yield await this.#search.before(reach.from)
      if (isFirst && order === 'desc' && !after) yield await this.#search.after(reach.to)
      isFirst = false
      yield batch
    }
    if (order === 'asc' && !after) yield await this.#search.after(reach.to)
    if (order === 'desc' && !before) yield await this.#search.before(reach.from)
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
    const { aggregate } = this.#op
    let [from, to]: [number, number] = [range.from, range.to]
    if (isSearch && this.#hasGaps && from < to) [from, to] = await this.#withoutGap(from, to, order)
    for (let count = size; from < to; ) {
      const edges = order === 'asc' ? this.#edgesFrom(from, to, count) : this.#edgesTo(from, to, count)
      evaluation.charge(edges.length)
      const found = await aggregatesOf(this.#input, edges.map(accepted), [aggregate], this.context)
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
      const isOver = this.#input.isGapless ? empty.every(Number.isNaN) : values.every(Number.isNaN)
      if (this.#isOfSignal && isOver && !(await this.#mayGoOn(from, to, order))) return
      if (!this.#hasGaps || isFull) count = Math.min(2 * count, MAX_BATCH)
      else if (!empty.every(Number.isNaN)) continue
      else {
        ;[from, to] = await this.#withoutGap(from, to, order)
        if (isSearch) count = Math.min(SEARCH_GROWTH * count, MAX_BATCH)
        else count = size === MAX_BATCH ? MAX_BATCH : GAP_BATCH
      }
    }
  }

  /** Whether the signal may have a value in what is left of a range. */
  #mayGoOn(from: number, to: number, order: 'asc' | 'desc'): Promise<boolean> {
    return order === 'asc'
      ? this.#input.mayHaveValue('after-or-at', accepted(from))
      : this.#input.mayHaveValue('before-or-at', accepted(to))
  }

  /** Without the empty windows before the next raw point. */
  async #withoutGap(from: number, to: number, order: 'asc' | 'desc'): Promise<[from: number, to: number]> {
    const next = await (order === 'asc'
      ? this.#input.rawTime('after-or-at', accepted(from))
      : this.#input.rawTime('before', accepted(to)))
    if (next === null) return [from, from]
    const { start, end } = this.#windows(next)
    return order === 'asc' ? [Math.max(from, start), to] : [from, Math.min(to, end)]
  }

  #edgesFrom(from: number, to: number, count: number): Float64Array {
    const edges = [from]
    for (let at = from; at < to && edges.length <= count; ) {
      at = this.#windows(instantFromUs(at)).end
      edges.push(at)
    }
    return Float64Array.from(edges)
  }

  #edgesTo(from: number, to: number, count: number): Float64Array {
    const edges = [to]
    for (let at = to; at > from && edges.length <= count; ) {
      at = this.#windows(instantFromUs(at - 1)).start
      edges.push(at)
    }
    return Float64Array.from(edges).reverse()
  }

  #pointsOf(edges: Float64Array, values: Float64Array): PointColumns {
    const points = makeColumns(values.length)
    let count = 0
    const { divisor = 1 } = this.#op
    for (let i = 0; i < values.length; i++) {
      const value = values[i]! / divisor
      if (!Number.isFinite(value)) continue
      const [start, end] = [edges[i]!, edges[i + 1]!]
      points.times[count] = this.stepped ? start : start + Math.floor((end - start) / 2)
      points.values[count++] = value
    }
    return sliceColumns(points, 0, count)
  }
}

/** Batches that follow each other as one. */
async function joined(batches: AsyncIterable<PointColumns>): Promise<PointColumns> {
  return concatColumns(await Array.fromAsync(batches))
}
