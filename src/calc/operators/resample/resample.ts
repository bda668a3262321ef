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
import type { ChunkRange, ChunkStream } from '../../graph/chunk.ts'
import { nearSink } from '../../graph/near-sink.ts'
import { keyOf, type NeedSink, type PointNeed } from '../../graph/need.ts'
import type { Operator, OperatorContext } from '../../graph/operator.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { reachOf } from '../../graph/reach.ts'
import type { WindowOpRule } from './ops.ts'
import { accepted, allWindows, type WindowRange, windowsAround } from './window-range.ts'
import { WindowSearch } from './window-search.ts'
import { WindowStream, withoutEarlier } from './window-stream.ts'

const COUNTS: readonly AggregateName[] = ['numGood', 'numBad']

/** Windows that are read at a time, at most. */
const MAX_BATCH = 8_192
/** Windows of the first batch behind a gap: there may be another one soon. */
const GAP_BATCH = 4
/** How much longer each further batch is where windows with values are looked for. */
const SEARCH_GROWTH = 4
/** The window that holds an instant, and one on either side. */
const AROUND = 3

/** Instants so far apart, in windows for each that is read, are estimated by those around the last one. */
const MAX_SPREAD = 3

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
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    switch (need.kind) {
      case 'values': {
        const around = this.#around(need.from, need.to)
        const copies = need.from === need.to ? need.count : 1
        this.#partNeeds(around, copies, sink)
        break
      }
      case 'point':
        this.#pointNeeds(need, sink)
        break
      case 'raw': {
        const { from, to, order, count } = need
        const around = this.#around(from, to)
        const sides = { back: this.#looksBack(around.from), forward: this.#looksForward(around.to) }
        this.#searchNeeds(around, 1, sink, sides)
        const reach = (count + AROUND) * this.#lengthUs
        const first = this.#isOfSignal
          ? around
          : order === 'asc'
            ? { ...around, to: Math.min(around.to, around.from + reach) }
            : { ...around, from: Math.max(around.from, around.to - reach) }
        if (!this.#hasGaps) {
          this.#windowNeeds(first, 1, sink)
          break
        }
        // Where windows are empty, those after the next raw points.
        sink.need(this.#input, { kind: 'raw', from, to, order, count })
        this.#windowNeeds(first, 1, nearSink(sink, { back: order === 'desc', count: count + AROUND }))
        break
      }
      case 'chunks': {
        const { from, to, beyond, copies = 1, near } = need
        // Windows cost the same whether they have points or not.
        const end = accepted(to + (near?.aheadUs ?? 0))
        const around = this.#around(from, end)
        this.#partNeeds(around, copies, sink, beyond > 0)
        if (beyond === 0) return
        // The raw times next to both ends.
        this.#windowNeeds(this.#around(from, from), copies, sink)
        this.#windowNeeds(this.#around(to, to), copies, sink)
      }
    }
  }

  /** The windows around each instant: as one range where they lie close to each other. */
  #pointNeeds({ find, at, count = 1, from = at }: PointNeed, sink: NeedSink): void {
    const windows = AROUND * count
    const around = this.#around(from, at)
    const isBack = goesBack(find)
    const sides = {
      back: isBack && this.#looksBack(around.from),
      forward: !isBack && this.#goesOn(around.to),
    }
    this.#searchNeeds(around, count, sink, sides)
    if (from < at && (at - from) / this.#lengthUs <= MAX_SPREAD * windows) {
      const key = keyOf(around.from, around.to, count)
      const range = { from: accepted(around.from), to: accepted(around.to) }
      const names = [this.#op.aggregate]
      sink.need(this.#input, { kind: 'aggregates', ...range, count: windows, names, key })
      // The values beside each of the windows.
      if (this.#isOfSignal || this.#input.inputs.length > 0)
        sink.need(this.#input, { kind: 'values', ...range, count: 2 * count, key })
    } else this.#windowNeeds(this.#around(at, at), count, sink)
  }

  /**
   * A part of what is read of the operator. Of the windows beside it, or of those behind empty ones, one is read on either
   * side where it looks further: the next one with a raw point.
   * @param withNext also where only the raw time behind the part is looked for
   */
  #partNeeds(around: WindowRange, copies: number, sink: NeedSink, withNext = false): void {
    const back = this.#looksBack(around.from)
    const forward = withNext ? this.#goesOn(around.to) : this.#looksForward(around.to)
    const touched = {
      from: back && this.#hasGaps ? this.#windows(accepted(around.from)).end : around.from,
      to: forward && this.#hasGaps ? this.#windows(accepted(around.to - 1)).start : around.to,
    }
    this.#windowNeeds(touched, copies, sink)
    this.#searchNeeds(touched, copies, sink, { back, forward })
  }

  #windowNeeds({ from: start, to: end }: WindowRange, copies: number, sink: NeedSink): void {
    const [from, to] = [accepted(start), accepted(end)]
    if (from >= to) return
    const count = copies * Math.max(1, Math.ceil((end - start) / this.#lengthUs))
    const key = keyOf(start, end, this.#lengthUs, copies)
    sink.need(this.#input, { kind: 'aggregates', from, to, count, names: [this.#op.aggregate], key })
    if (copies > 1) sink.need(this.#input, { kind: 'chunks', from, to, beyond: 0, copies: copies - 1 })
    // What stands beside each further batch.
    const batches = Math.floor(count / MAX_BATCH)
    const edge = { kind: 'chunks', from, to: instantFromUs(from + 1), beyond: 0, copies: batches } as const
    if (batches > 0) sink.need(this.#input, edge)
  }

  /** What is read to find the windows with values before and behind some windows, as often as there are such. */
  #searchNeeds(
    { from, to }: WindowRange,
    copies: number,
    sink: NeedSink,
    { back, forward }: { readonly back: boolean; readonly forward: boolean },
  ): void {
    const { from: first, to: last } = this.#bounds
    const reach = this.#lengthUs
    const need = (find: FindPoint, edge: number, all: WindowRange, nearest: WindowRange): void => {
      // The signal may have no value for long: windows of it are gone through one by one.
      if (this.#isOfSignal) {
        this.#windowNeeds(all, copies, sink)
        return
      }
      sink.need(this.#input, { kind: 'point', find, at: accepted(edge), count: copies, timeOnly: true })
      this.#windowNeeds(nearest, copies, nearSink(sink, { back: goesBack(find), count: 1 }))
    }
    if (back)
      need('before', from, { from: first, to: from }, { from: Math.max(first, from - reach), to: from })
    if (forward) need('after-or-at', to, { from: to, to: last }, { from: to, to: Math.min(last, to + reach) })
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
    const reach = { from: Math.max(own.from, wanted.from), to: Math.min(own.to, wanted.to) }
    const size = extent === 'all' ? MAX_BATCH : Math.min(page + AROUND, MAX_BATCH - 1)
    const batches = this.#bounded(reach, range, order, size)
    return new WindowStream(batches, range, this.#shape, this.#bounds.from)
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
      const empty = size === MAX_BATCH ? values : values.slice(...(order === 'asc' ? [-1] : [0, 1]))
      if (!this.#hasGaps || !empty.every(Number.isNaN)) count = Math.min(2 * count, MAX_BATCH)
      else if (from < to) {
        ;[from, to] = await this.#withoutGap(from, to, order)
        if (isSearch) count = Math.min(SEARCH_GROWTH * count, MAX_BATCH)
        else count = size === MAX_BATCH ? MAX_BATCH : GAP_BATCH
      }
    }
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
