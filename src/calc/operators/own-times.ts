import { type PointColumns, STATUS_BAD } from '../../series/columns.ts'
import type { FindPoint } from '../../series/reads.ts'
import { type Instant, instantFromUs, isAccepted } from '../../time/instant.ts'
import { firstOf, goesBack } from '../consumers/find-point.ts'
import { BaseOperator, type OwnTraits } from '../graph/base.ts'
import type { Operator, OperatorContext } from '../graph/operator.ts'
import type { SinglePoint } from '../graph/point-source.ts'

/** An operator over one input, with raw points where the input has them and at times of its own. */
export abstract class OwnTimesOperator extends BaseOperator {
  protected readonly input: Operator
  /** The ends of the request's range, where a total has raw points; none for a single instant. */
  protected readonly rangeEnds: readonly Instant[]

  constructor(
    input: Operator,
    context: OperatorContext,
    traits: Omit<OwnTraits, 'width' | 'extrapolationLimits'>,
  ) {
    super([input], context, { ...traits, extrapolationLimits: input.extrapolationLimits })
    this.input = input
    const { from, to } = context.range
    this.rangeEnds = from < to ? [from, to] : []
  }

  /** The raw times next to an instant that the input need not have. */
  protected abstract ownTimes(find: FindPoint, at: Instant): readonly number[]

  protected override async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.#nearest(find, at, await this.input.rawTime(find, at))
  }

  /** That of the input, or its own raw times that are nearer. */
  override async goodBound(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.#nearest(find, at, await super.goodBound(find, at))
  }

  #nearest(find: FindPoint, at: Instant, ofInput: Instant | null): Instant | null {
    const own = this.ownTimes(find, at).filter(isAccepted)
    const times = ofInput === null ? own : [...own, ofInput]
    if (times.length === 0) return null
    return instantFromUs(goesBack(find) ? Math.max(...times) : Math.min(...times))
  }

  protected override get badWith(): Operator {
    return this.input
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const [time, ofInput] = await Promise.all([this.rawTime(find, at), this.input.rawTime(find, at)])
    if (time === null) return null
    const [value, point] = await Promise.all([
      this.valueAt(time),
      ofInput === time ? this.input.rawPoint(find, at) : null,
    ])
    return { time, value, bad: Number.isNaN(value) || (point?.bad ?? false) }
  }
}

/** Whether a time is one that `find` may find from an instant. */
export function isFound(time: number, find: FindPoint, at: Instant): boolean {
  return goesBack(find) ? time <= firstOf(find, at) : time >= firstOf(find, at)
}

/** Raw points without their values. */
export type RawTimes = Pick<PointColumns, 'times' | 'statuses'>

/**
 * The raw times of an input's and further ones, with the statuses of the input's: copied, since those may be a part of
 * all that is held.
 * @param more ascending
 */
export function rawTimesWith({ times, statuses }: RawTimes, more: readonly number[]): RawTimes {
  if (more.length === 0) return { times: times.slice(), statuses: statuses.slice() }
  const allTimes = new Float64Array(times.length + more.length)
  const allStatuses = new Uint8Array(allTimes.length)
  let count = 0
  for (let i = 0, m = 0; i < times.length || m < more.length; count++) {
    const own = more[m] ?? Number.POSITIVE_INFINITY
    const time = times[i] ?? Number.POSITIVE_INFINITY
    allTimes[count] = Math.min(own, time)
    if (own <= time) while (more[m] === own) m++
    if (time <= own) allStatuses[count] = statuses[i++]!
  }
  return { times: allTimes.subarray(0, count), statuses: allStatuses.subarray(0, count) }
}

/** Raw points with values, whose statuses, which are changed, become BAD where there is none. */
export function withValues({ times, statuses }: RawTimes, values: Float64Array): PointColumns {
  for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) statuses[i] = STATUS_BAD
  return { times, values, statuses }
}
