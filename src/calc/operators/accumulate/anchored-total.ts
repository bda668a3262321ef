import type { FindPoint } from '../../../series/reads.ts'
import { CompensatedSum } from '../../../series/sum.ts'
import { clampInstant, type Instant, instantFromUs } from '../../../time/instant.ts'
import type { AnchoredWindows } from '../../../time/total-windows.ts'
import { firstOf, goesBack, pageReach } from '../../consumers/find-point.ts'
import { joinSegments, type Segments } from '../../consumers/join-segments.ts'
import { readSegments, SegmentReader } from '../../consumers/segments.ts'
import { setValues } from '../../consumers/stream.ts'
import type { InputNeed } from '../../graph/base.ts'
import type { Chunk, ChunkRange, ChunkStream, Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { inWindow, type Near, nearTo, type Reach, readingFrom, timesOf } from '../../graph/near.ts'
import { keyOf, type NeedSink, nearSink } from '../../graph/need.ts'
import type { Operator, OperatorContext } from '../../graph/operator.ts'
import { IntegralInput } from '../integral-input.ts'
import { isFound, OwnTimesOperator } from '../own-times.ts'
import {
  addTerms,
  type Base,
  finiteTotal,
  runningTotal,
  type Totals,
  TotalsAt,
  totalChunk,
} from './running-total.ts'

export interface AnchoredTotalOptions {
  readonly windows: AnchoredWindows
  /** The same only for equal windows. */
  readonly windowsText: string
  /** What totals are divided by. */
  readonly rateUs: number
  /** Integrals are worked out from raw points even where a historian could integrate. */
  readonly fromRaw: boolean
}

/** For the point held back at the cut of a page, and for the vertex that joins the next segments. */
const MORE_POINTS = 2

/** Their windows take less than a millisecond to find. */
const FEW_TIMES = 64

/** Years and days with a change of clocks are longer than others. */
const CALENDAR_SLACK = 1.05

type ClosedIntegrals = NonNullable<Operator['closedIntegrals']>

/**
 * The integral of a signal from the start of the window that holds t up to t, divided by a rate. Windows are anchored:
 * they follow each other over all time. Raw points stand at the input's, at the start of each window, in its last
 * microsecond, and at the ends of the request's range.
 * @source CALCULATIONS.md, section 7
 */
export class AnchoredTotal extends OwnTimesOperator {
  /** There is a total also where there is no value. */
  readonly isComplete = true
  readonly #options: AnchoredTotalOptions
  readonly #integrals: IntegralInput

  constructor(input: Operator, options: AnchoredTotalOptions, context: OperatorContext) {
    const varies = input.varies === 'data' ? 'data' : 'time'
    super(input, context, { stepped: false, linear: false, varies })
    this.#options = options
    this.#integrals = new IntegralInput(input, options.fromRaw, context.evaluation)
  }

  get isSeldomBad(): boolean {
    return this.input.isNeverBad
  }

  /** Each window has a raw point at its start and one at its end. */
  override reach(find: FindPoint, at: Instant | null): Reach {
    const { windows } = this.#options
    const own = { isSure: true, slackUs: this.input.reach(find, at).slackUs ?? 0 }
    if (at !== null) {
      const nearest = this.ownTimes(find, at).map((time) => Math.abs(time - at))
      return { ...own, mostUs: Math.min(...nearest) }
    }
    // Windows on the calendar are not equally long, and those at the end of a period may be cut.
    const { now } = this.context
    const [start, end] = [this.#startAt(now), windows.endAt(now)]
    const lengths = [start - this.#startAt(clampInstant(start - 1)), end - start, windows.endAt(end) - end]
    return { ...own, mostUs: Math.ceil(CALENDAR_SLACK * Math.max(...lengths)) }
  }

  /** With a vertex of the input, its limits, the sums there and from the left. */
  protected override get pointValues(): number {
    return 8
  }

  protected override readFrom(at: Instant): Instant {
    return this.#startAt(clampInstant(at - 1))
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    const { input } = this
    const { windowsText } = this.#options
    const found =
      need.near === undefined ? sink : this.#windowSink('at' in need ? need.at : need.from, need.near, sink)
    switch (need.kind) {
      case 'values': {
        const { from, to, count, key } = need
        const start = this.#startAt(from)
        this.#integrals.needs(start, clampInstant(to + 1), count, keyOf(key, windowsText), found)
        break
      }
      case 'point': {
        sink.need(input, need)
        if (need.timeOnly) break
        const { find, at, count = 1 } = need
        // Between the instant and the raw time that is found no point of the input lies.
        const key = keyOf(at, find, windowsText)
        const isBack = goesBack(find)
        const start = isBack ? instantFromUs(Math.max(...this.ownTimes(find, at))) : at
        const place = isBack
          ? found
          : nearSink(found, nearTo(at, false, count, timesOf(this.reach(find, at), count)))
        this.#integrals.needs(this.#startAt(start), clampInstant(at + 1), count, key, place)
        break
      }
      case 'raw': {
        const { from, to, order, count } = need
        // Own raw points end a page, too, but that of the input is read before.
        sink.need(input, { kind: 'raw', from, to, order, count: count + MORE_POINTS })
        this.#segmentNeeds(from, to, sink)
        if (order === 'asc') this.#firstBaseNeeds(from, sink)
        // Where a page that is read backwards starts is known only once it was read.
        else {
          const near = nearTo(to, true, count + MORE_POINTS, pageReach(this, need))
          this.#baseNeeds(to, nearSink(this.#windowSink(to, near, sink), near))
        }
        break
      }
      case 'chunks': {
        const { from, to, beyond } = need
        // The raw point beside the range may be this operator's own, and the input is then read from there by itself.
        sink.need(input, { ...need, beyond: beyond + 1 })
        this.#segmentNeeds(from, to, sink)
        this.#firstBaseNeeds(from, found)
      }
    }
  }

  /** A place that is known only when it was found, and what is read before it, may lie in another window. */
  #windowSink(at: Instant, near: Near, sink: NeedSink): NeedSink {
    const place = readingFrom(near, at)
    const start = this.#startAt(clampInstant(place.from - 1))
    const before = this.#startAt(clampInstant(start - 1))
    return nearSink(sink, inWindow(place, start, Number.POSITIVE_INFINITY, start - before))
  }

  /** Where a range begins; nothing where it begins with a window. */
  #firstBaseNeeds(at: Instant, sink: NeedSink): void {
    if (this.#startAt(at) < at) this.#baseNeeds(at, sink)
  }

  /** The integral from the start of the window that holds the last microsecond before an instant. */
  #baseNeeds(at: Instant, sink: NeedSink): void {
    const start = this.#startAt(clampInstant(at - 1))
    this.#integrals.needs(start, at, 1, keyOf(at, 'base', this.#options.windowsText), sink)
  }

  /** The raw points beside a range that is read in segments. */
  #segmentNeeds(from: Instant, to: Instant, sink: NeedSink): void {
    sink.need(this.input, { kind: 'point', find: 'before-or-at', at: from })
    sink.need(this.input, { kind: 'point', find: 'after-or-at', at: to })
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    const { closed, isFromPoints } = this.#integrals
    if (closed !== undefined) {
      const totals = new Float64Array(times.length)
      await setValues(
        totals,
        times,
        (part) => this.#closedTotals(closed, part, 'at'),
        this.context.evaluation,
      )
      return totals
    }
    return isFromPoints ? this.#addedUp(times) : this.#pushedDown(times)
  }

  /** From the input's segments, added up as the totals of chunks are. */
  async #addedUp(times: Float64Array): Promise<Float64Array> {
    const { evaluation } = this.context
    const { input } = this
    const starts = await this.#windowsOf(times)
    const totals = new TotalsAt(times, starts, this.#options.rateUs)
    const [from, to] = [instantFromUs(starts[0]!), clampInstant(times.at(-1)! + 1)]
    const take = (segments: Segments) => totals.add(segments)
    await readSegments(input, evaluation, from, to, take, { wholeFrom: from })
    return totals.finish()
  }

  /** From what a historian works out: a span to each time, from the time before it or from the start of its window. */
  async #pushedDown(times: Float64Array): Promise<Float64Array> {
    const { rateUs } = this.#options
    const windowStarts = await this.#windowsOf(times)
    const starts = windowStarts.map((start, i) => Math.max(start, times[i - 1] ?? start))
    const isSpan = (_: unknown, i: number): boolean => starts[i]! < times[i]!
    const { integrals } = await this.#integrals.over(starts.filter(isSpan), times.filter(isSpan))
    const sum = new CompensatedSum()
    let span = 0
    return times.map((time, i) => {
      if (starts[i] === windowStarts[i]) sum.reset()
      if (starts[i]! < time) sum.add(integrals[span++]!)
      return finiteTotal(sum.value, rateUs)
    })
  }

  #closedTotals(closed: ClosedIntegrals, times: Float64Array, limit: Limit): Float64Array {
    // From the left, a window is that of one microsecond before.
    const starts = this.#startsOf(limit === 'before' ? times.map((time) => time - 1) : times)
    return closed(starts, times).integrals.map((integral) => finiteTotal(integral, this.#options.rateUs))
  }

  /** Where the windows of some times start. Of few, in the same tick: totals that begin together ask in one call. */
  async #windowsOf(times: Float64Array): Promise<Float64Array> {
    if (times.length <= FEW_TIMES) return this.#startsOf(times)
    const starts = new Float64Array(times.length)
    await setValues(starts, times, (part) => this.#startsOf(part), this.context.evaluation)
    return starts
  }

  #startsOf(times: Float64Array): Float64Array {
    let [start, end] = [Number.NaN, Number.NEGATIVE_INFINITY]
    return times.map((time) => {
      if (time >= end) {
        const at = clampInstant(time)
        start = this.#startAt(at)
        end = this.#options.windows.endAt(at)
      }
      return start
    })
  }

  protected open(range: ChunkRange): ChunkStream {
    // A range that is read whole is read as others read it, so that they share the stream.
    const more = range.extent === 'first' ? MORE_POINTS : 0
    return this.#chunks({ ...range, page: range.page + more })
  }

  /**
   * Ascending, the running total is carried from chunk to chunk; descending, each chunk starts with the integral from
   * the start of its window. No generator, which would keep the chunk that it gave: operators inside each other wait on
   * each level.
   */
  #chunks(range: ChunkRange): ChunkStream {
    const { from, to, order, page } = range
    const { input } = this
    const { closed } = this.#integrals
    const { windows, rateUs } = this.#options
    const { evaluation } = this.context
    const ascends = order === 'asc'
    const reader = new SegmentReader(input, evaluation, range, { wholeFrom: this.#startAt(from) })
    /** Segments that were read and are not used up. */
    let segments: Segments | null = null
    let carried: Base | null = null
    /** The end of what was given. */
    let position = ascends ? from : to
    const next = async (): Promise<Chunk | null> => {
      while (position !== (ascends ? to : from)) {
        segments ??= await (ascends ? reader.next() : pageBefore(reader, position, range, evaluation))
        if (segments === null) return null
        const { times } = segments
        const reach = ascends ? Math.min(times.at(-1)!, to) : Math.max(times[0]!, from)
        // The first segments can lie before the range, when they reach out to the raw point before it.
        if (ascends ? reach <= position : reach >= position) {
          segments = null
          continue
        }
        const following = (at: Instant) =>
          ascends ? windows.endAt(at) : windows.startAt(instantFromUs(at - 1))
        const isInside = (start: Instant) => (ascends ? start <= reach : start > reach)
        const starts: Instant[] = []
        let start = ascends ? windows.endAt(position) : windows.startAt(position)
        for (; isInside(start) && starts.length < page; start = following(start)) starts.push(start)
        // Short windows: as many of them as a page holds, the others with the next page.
        const end = isInside(start) ? starts.at(-1)! : instantFromUs(reach)
        const [first, last] = ascends ? [position, end] : [end, position]
        const inside = Float64Array.from(starts.filter((start) => start > first)).sort()
        // What is added up begins with a vertex or a window, not where the page does.
        const origin = carried === null ? instantFromUs(Math.max(this.#startAt(first), times[0]!)) : first
        evaluation.charge(times.length + inside.length)
        let totals: Totals
        if (closed !== undefined) totals = (at, limit) => this.#closedTotals(closed, at, limit)
        else {
          const base: Base = carried ?? (await this.#baseAt(origin, first, from))
          if (ascends) carried = base
          totals = runningTotal(segments, origin, last, inside, base, rateUs)
        }
        const traits = { windows, rangeEnds: this.rangeEnds, evaluation }
        const chunk = totalChunk(totals, segments, first, last, inside, traits)
        if (end === (ascends ? times.at(-1) : times[0])) segments = null
        position = end
        return chunk
      }
      segments = null
      return null
    }
    return { next }
  }

  /**
   * The total at a vertex, from the start of its window, or of the window that ends there.
   * @param first where the chunk starts, at or after it
   * @param from where the range begins
   */
  async #baseAt(at: Instant, first: Instant, from: Instant): Promise<Base> {
    const isStart = this.#startAt(at) === at
    // Nothing depends on what was before the raw point that a range begins with, or before a window inside of it.
    if (isStart && (at === from || at < first)) return { sum: new CompensatedSum(), before: Number.NaN }
    const sum = await this.#integral(this.#startAt(clampInstant(at - 1)), at)
    const before = sum.value
    return { sum: isStart ? new CompensatedSum() : sum, before }
  }

  /**
   * The integral over one span. Where it comes from segments anyway, the terms of it are added up as those of the total
   * are: its last digits then do not depend on where a page begins.
   */
  async #integral(from: Instant, to: Instant): Promise<CompensatedSum> {
    const { input } = this
    const { evaluation } = this.context
    const sum = new CompensatedSum()
    if (from >= to) return sum
    if (!this.#integrals.isFromPoints) {
      const { integrals } = await this.#integrals.over(Float64Array.of(from), Float64Array.of(to))
      sum.add(integrals[0]!)
      return sum
    }
    const take = (segments: Segments) => addTerms(sum, segments, from, to)
    await readSegments(input, evaluation, from, to, take, { wholeFrom: from })
    return sum
  }

  /** Each window has a raw point at its start and one in its last microsecond. */
  protected ownTimes(find: FindPoint, at: Instant): readonly number[] {
    const ends = this.rangeEnds.filter((end) => isFound(end, find, at))
    const { windows } = this.#options
    const first = instantFromUs(firstOf(find, at))
    const [start, last] = [windows.startAt(first), windows.endAt(first) - 1]
    if (first === start || first === last) return [...ends, first]
    return [...ends, goesBack(find) ? start : last]
  }

  /** Start of the window that holds an instant, cut at the first accepted one: no tag can have points before it. */
  #startAt(at: Instant): Instant {
    return clampInstant(this.#options.windows.startAt(at))
  }
}

/** Segments before an instant, a page of them: each chunk that is read backwards costs the integral before it. */
async function pageBefore(
  reader: SegmentReader,
  position: Instant,
  { from, page, extent }: ChunkRange,
  evaluation: Evaluation,
): Promise<Segments | null> {
  // A page of the input has points beyond those that are wanted of the total.
  const wanted = extent === 'first' ? page - MORE_POINTS : page
  const parts: Segments[] = []
  let count = 0
  let reach: number = position
  while (reach > from && count <= wanted) {
    const part = await reader.next()
    if (part === null) break
    parts.unshift(part)
    count += part.times.length
    reach = part.times[0]!
    await evaluation.pause()
  }
  return parts.length === 0 ? null : joinSegments(parts)
}
