import type { PointColumns } from '../../../series/columns.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, US_PER_MS } from '../../../time/instant.ts'
import type { InputNeed } from '../../graph/base.ts'
import { type FindPlace, keyOf, type Need, type NeedSink } from '../../graph/need.ts'
import type { CurrentPoint, Operator, OperatorContext } from '../../graph/operator.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { RawTimesScan } from './raw-times-scan.ts'
import type { Derived } from './scan.ts'

/** Times that are looked up together. */
const STEP_TIMES = 1_024

/**
 * The epoch milliseconds of the last raw point of its input, good or BAD, with a fraction for microseconds. Goes on
 * beyond `now`, since there too that point is the last one.
 */
export class EpochMsOperator extends RawTimesScan {
  constructor(input: Operator, context: OperatorContext) {
    super(input, context, { stepped: true, linear: true })
  }

  override needs(need: Need, sink: NeedSink): void {
    if (need.kind !== 'current') super.needs(need, sink)
    else {
      sink.need(this.input, need)
      sink.need(this.input, { kind: 'point', find: need.find, at: need.at, timeOnly: true })
    }
  }

  protected override inputNeeds(need: InputNeed, sink: NeedSink): void {
    if (need.kind !== 'values') super.inputNeeds(need, sink)
    else {
      const { from, to: at, count, key } = need
      const point = { kind: 'point', find: 'before-or-at', at, timeOnly: true } as const
      sink.need(this.input, key === keyOf(at) ? point : { ...point, from, count, key })
    }
  }

  /** Looked up one by one: a look-up costs one point however many points there are between two times. */
  protected override async evaluate(times: Float64Array): Promise<Float64Array> {
    const { evaluation } = this.context
    const values = new Float64Array(times.length)
    for (let from = 0; from < times.length; from += STEP_TIMES) {
      const some = times.subarray(from, from + STEP_TIMES)
      evaluation.charge(some.length * this.input.width)
      const found = await Promise.all(
        Array.from(some, (at) => this.input.rawTime('before-or-at', instantFromUs(at))),
      )
      for (let i = 0; i < found.length; i++) values[from + i] = millisOf(found[i]!)
      await evaluation.pause()
    }
    return values
  }

  /** BAD points have a time too. */
  protected override async findValue(): Promise<boolean> {
    return true
  }

  override async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const [current, time] = await Promise.all([
      this.input.currentPoint(find, at),
      this.input.rawTime(find, at),
    ])
    if (current === null || time === null) return null
    return { time: current.time, value: millisOf(time), bad: current.bad }
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const point = await this.input.rawPoint(find, at)
    return point === null ? null : { ...point, value: millisOf(point.time) }
  }

  protected override holdUntil(): Instant {
    return END_INSTANT
  }

  /** Its time is all that matters, which is known without the values of calculations. */
  protected async vertexPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.input.rawTime(find, at)
    return time === null ? null : { time, value: Number.NaN, bad: false }
  }

  protected vertexNeeds(place: FindPlace, sink: NeedSink): void {
    sink.need(this.input, { ...place, kind: 'point', timeOnly: true })
  }

  protected derive({ times, statuses }: PointColumns): Derived {
    const values = times.map(millisOf)
    return { raw: { times, values, statuses }, vertices: { times, values } }
  }
}

function millisOf(time: number | null): number {
  return time === null ? Number.NaN : time / US_PER_MS
}
