import { type PointColumns, STATUS_OK } from '../../../series/columns.ts'
import type { FindPoint } from '../../../series/reads.ts'
import type { Instant } from '../../../time/instant.ts'
import { findNeeds, findRawPoint, goesBack, isGoodPoint, passingNeeds } from '../../consumers/find-point.ts'
import type { FindPlace, Need, NeedSink } from '../../graph/need.ts'
import type { CurrentPoint, Operator, OperatorContext } from '../../graph/operator.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { RawTimesScan } from './raw-times-scan.ts'
import type { Derived } from './scan.ts'

/**
 * Step interpolation between the good raw points of its input. A BAD one is passed by, also where its value leaves the
 * range of doubles; one at which the input has no value otherwise ends the hold.
 */
class HoldOperator extends RawTimesScan {
  constructor(input: Operator, context: OperatorContext) {
    super(input, context, { stepped: true, linear: true })
  }

  override needs(need: Need, sink: NeedSink): void {
    if (need.kind === 'current') sink.need(this.input, need)
    else super.needs(need, sink)
  }

  override currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.input.currentPoint(find, at)
  }

  protected findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.input.rawPoint(find, at)
  }

  protected async vertexPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const { input } = this
    const accept = this.#isGood(find, at) ? isGoodPoint : isVertex
    if (!this.#isHeld(find, at)) return findRawPoint(input, find, at, this.context.evaluation, accept)
    const point = await input.rawPoint(find, at)
    return point !== null && accept(point) ? point : null
  }

  /** While the last one holds, the raw point that follows need be no vertex. */
  protected override get findsLast(): boolean {
    return this.input.isNeverBad
  }

  protected vertexNeeds(place: FindPlace, sink: NeedSink): void {
    if (this.#isHeld(place.find, place.at)) sink.need(this.input, { ...place, kind: 'point' })
    else if (this.#isGood(place.find, place.at)) findNeeds(this.input, place, sink)
    else passingNeeds(this.input, place, sink)
  }

  /**
   * Whether the vertex next to an instant is a good point, which is found past any number of BAD ones: none of these is
   * without a value where the input always has one, or from its first good point up to `now`.
   */
  #isGood(find: FindPoint, at: Instant): boolean {
    return this.input.isComplete === true || (goesBack(find) && at <= this.#completeUntil)
  }

  /** Up to when the input has a value, from its first good point on, unless it leaves the range of doubles. */
  get #completeUntil(): number {
    const { isComplete, isGapless, extrapolationLimits } = this.input
    if (isComplete === true) return Number.POSITIVE_INFINITY
    return isGapless === true ? Math.min(...extrapolationLimits) : Number.NEGATIVE_INFINITY
  }

  /** Whether no vertex behind an instant makes a difference before it: the last one holds until then at least. */
  #isHeld(find: FindPoint, at: Instant): boolean {
    return !goesBack(find) && at <= this.holdUntil()
  }

  protected derive(raw: PointColumns): Derived {
    const { times, values, statuses } = raw
    const kept = new Uint32Array(times.length)
    // A value that is not there up to here has left the range of doubles.
    const completeUntil = this.#completeUntil
    let count = 0
    for (let i = 0; i < times.length; i++) {
      if (statuses[i] === STATUS_OK || (times[i]! > completeUntil && Number.isNaN(values[i]!)))
        kept[count++] = i
    }
    if (count === times.length) return { raw, vertices: raw }
    const pick = (column: Float64Array) => Float64Array.from(kept.subarray(0, count), (i) => column[i]!)
    return { raw, vertices: { times: pick(times), values: pick(values) } }
  }
}

function isVertex({ bad, value }: SinglePoint): boolean {
  return !bad || Number.isNaN(value)
}

/**
 * An operator with step interpolation between its raw points.
 * @param pushDowns  false: historians compute nothing of it, everything comes from its raw points
 */
export function stepInterpolated(operator: Operator, pushDowns: boolean, context: OperatorContext): Operator {
  if (operator.stepped && (pushDowns || operator.stepInterpolated === undefined)) return operator
  return operator.stepInterpolated?.(pushDowns) ?? new HoldOperator(operator, context)
}
