import type { FindPoint } from '../../../series/reads.ts'
import { CompensatedSum } from '../../../series/sum.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import type { AnchoredWindows } from '../../../time/total-windows.ts'
import { goesBack } from '../../consumers/find-point.ts'
import type { InputNeed } from '../../graph/base.ts'
import type { ChunkRange, ChunkStream } from '../../graph/chunk.ts'
import type { Near } from '../../graph/near.ts'
import { nearSink } from '../../graph/near-sink.ts'
import { keyOf, type NeedSink } from '../../graph/need.ts'
import type { Operator, OperatorContext } from '../../graph/operator.ts'
import { IntegralInput, segmentsBeyond } from '../integral-input.ts'
import { isFound, OwnTimesOperator } from '../own-times.ts'
import { AnchoredStream, MORE_POINTS } from './stream.ts'

export interface AnchoredTotalOptions {
  readonly windows: AnchoredWindows
  /** The same only for equal windows. */
  readonly windowsText: string
  /** What totals are divided by. */
  readonly rateUs: number
  /** Integrals are worked out from raw points even where a historian could integrate. */
  readonly fromRaw: boolean
}

/** Times whose windows are looked up before others may go on. */
const STEP_TIMES = 4_096

/**
 * The integral of a signal from the start of the window that holds t up to t, divided by a rate. Windows are anchored:
 * they follow each other over all time. Raw points stand at the input's, at the start of each window, in its last
 * microsecond, and at the ends of the request's range.
 * @source CALCULATIONS.md, section 7
 */
export class AnchoredTotal extends OwnTimesOperator {
  readonly #options: AnchoredTotalOptions
  readonly #integrals: IntegralInput

  constructor(input: Operator, options: AnchoredTotalOptions, context: OperatorContext) {
    const varies = input.varies === 'data' ? 'data' : 'time'
    super(input, context, { stepped: false, linear: false, varies })
    this.#options = options
    this.#integrals = new IntegralInput(input, options.fromRaw, context.evaluation)
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    const { input } = this
    const { windowsText } = this.#options
    switch (need.kind) {
      case 'values': {
        const { from, to, count, key, near } = need
        const start = this.#startAt(from)
        const found = near?.back === true ? this.#windowSink(near, start, to, sink) : sink
        this.#integrals.needs(start, to, count, keyOf(key, windowsText), found)
        break
      }
      case 'point': {
        sink.need(input, need)
        if (need.timeOnly) break
        const { find, at, count = 1 } = need
        // Between the instant and the raw time that is found no point of the input lies.
        const key = keyOf(at, find, windowsText)
        if (goesBack(find)) {
          const own = instantFromUs(Math.max(...this.ownTimes(find, at)))
          this.#integrals.needs(this.#startAt(own), at, count, key, sink)
        } else {
          const to = instantFromUs(Math.min(at + 1, END_INSTANT))
          const aheadUs = Math.min(...this.ownTimes(find, at)) - at
          const near = { back: false, count: 1, aheadUs }
          this.#integrals.needs(this.#startAt(at), to, count, key, nearSink(sink, near))
        }
        break
      }
      case 'raw': {
        const { from, to, order, count } = need
        sink.need(input, { ...need, count: count + MORE_POINTS + segmentsBeyond(input) })
        this.#segmentNeeds(from, to, sink)
        if (order === 'asc') this.#firstBaseNeeds(from, sink)
        // Where a page that is read backwards starts is known only once it was read.
        else {
          const near = { back: true, count: count + MORE_POINTS }
          this.#baseNeeds(to, this.#windowSink(near, this.#startAt(before(to)), to, sink))
        }
        break
      }
      case 'chunks': {
        const { from, to, beyond } = need
        // The raw point beside the range may be this operator's own, and the input is then read from there by itself.
        sink.need(input, { ...need, beyond: beyond + Math.max(Math.sign(beyond), segmentsBeyond(input)) })
        this.#segmentNeeds(from, to, sink)
        this.#firstBaseNeeds(from, sink)
      }
    }
  }

  /** An instant that is known only when it was found may lie in the window before that of `to`. */
  #windowSink(near: Near, start: Instant, to: Instant, sink: NeedSink): NeedSink {
    const window = { withinUs: to - start, moreUs: start - this.#startAt(before(start)) }
    return nearSink(sink, { ...near, window })
  }

  /** Where a range begins; nothing where it begins with a window. */
  #firstBaseNeeds(at: Instant, sink: NeedSink): void {
    if (this.#startAt(at) < at) this.#baseNeeds(at, sink)
  }

  /** The integral from the start of the window that holds the last microsecond before an instant. */
  #baseNeeds(at: Instant, sink: NeedSink): void {
    const start = this.#startAt(before(at))
    this.#integrals.needs(start, at, 1, keyOf(at, 'base', this.#options.windowsText), sink)
  }

  /** The raw points beside a range that is read in segments. */
  #segmentNeeds(from: Instant, to: Instant, sink: NeedSink): void {
    if (this.input.linear) return
    sink.need(this.input, { kind: 'point', find: 'before-or-at', at: from })
    sink.need(this.input, { kind: 'point', find: 'after-or-at', at: to })
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    const { evaluation } = this.context
    const { rateUs } = this.#options
    // A span to each time, from the time before it or from the start of its window; a total adds up those of its
    // window.
    const starts = new Float64Array(times.length)
    const ends = new Float64Array(times.length)
    const spans = new Uint32Array(times.length)
    const opens = new Uint8Array(times.length)
    let count = 0
    let previous = Number.NEGATIVE_INFINITY
    for (let i = 0; i < times.length; i++) {
      if (i % STEP_TIMES === STEP_TIMES - 1) await evaluation.pause()
      const at = times[i]!
      const start = this.#startAt(instantFromUs(at))
      opens[i] = Number(start > previous)
      starts[count] = Math.max(start, previous)
      ends[count] = at
      if (starts[count]! < at) count++
      spans[i] = count
      previous = at
    }
    const { integrals } = await this.#integrals.over(starts.subarray(0, count), ends.subarray(0, count))
    const totals = new Float64Array(times.length)
    const sum = new CompensatedSum()
    let span = 0
    for (let i = 0; i < times.length; i++) {
      if (i % STEP_TIMES === STEP_TIMES - 1) await evaluation.pause()
      if (opens[i] === 1) sum.reset()
      for (; span < spans[i]!; span++) sum.add(integrals[span]!)
      const total = sum.value / rateUs
      totals[i] = Number.isFinite(total) ? total : Number.NaN
    }
    return totals
  }

  protected open(range: ChunkRange): ChunkStream {
    const { input, context, rangeEnds } = this
    const { windows, rateUs } = this.#options
    const integral = async (from: Instant, to: Instant): Promise<number> => {
      const start = Math.max(from, MIN_INSTANT)
      if (start >= to) return 0
      return (await this.#integrals.over(Float64Array.of(start), Float64Array.of(to))).integrals[0]!
    }
    const source = { input, evaluation: context.evaluation, windows, rateUs, rangeEnds, integral }
    // A range that is read whole is read as others read it, so that they share the stream.
    const more = range.extent === 'first' ? MORE_POINTS : 0
    return new AnchoredStream(source, { ...range, page: range.page + more })
  }

  /** Each window has a raw point at its start and one in its last microsecond. */
  protected ownTimes(find: FindPoint, at: Instant): readonly number[] {
    const ends = this.rangeEnds.filter((end) => isFound(end, find, at))
    const { windows } = this.#options
    if (goesBack(find)) {
      const last = instantFromUs(find === 'before' ? at - 1 : at)
      return [...ends, windows.endAt(last) - 1 === last ? last : windows.startAt(last)]
    }
    const first = instantFromUs(find === 'after' ? at + 1 : at)
    const start = windows.startAt(first)
    return [...ends, start === first ? first : windows.endAt(first) - 1]
  }

  /** Start of the window that holds an instant, cut at the first accepted one: no tag can have points before it. */
  #startAt(at: Instant): Instant {
    return instantFromUs(Math.max(this.#options.windows.startAt(at), MIN_INSTANT))
  }
}

function before(at: Instant): Instant {
  return instantFromUs(Math.max(at - 1, MIN_INSTANT))
}
