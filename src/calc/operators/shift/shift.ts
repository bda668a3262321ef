import type { AggregateColumns, AggregateName } from '../../../series/aggregate-names.ts'
import { NO_POINTS } from '../../../series/columns.ts'
import type { FindPoint, Integrals, RangeResult } from '../../../series/reads.ts'
import {
  clampInstant,
  END_INSTANT,
  type Instant,
  instantFromUs,
  isAccepted,
  MIN_INSTANT,
} from '../../../time/instant.ts'
import { aggregatesFromChunks, aggregatesOf } from '../../consumers/aggregates.ts'
import { firstOf, goesBack } from '../../consumers/find-point.ts'
import { rawPoints } from '../../consumers/raw-points.ts'
import { BaseOperator, type InputNeed } from '../../graph/base.ts'
import { type ChunkRange, type ChunkStream, streamOf } from '../../graph/chunk.ts'
import { FAR, movedPlace, type Near, type Reach } from '../../graph/near.ts'
import type { FindPlace, Need, NeedSink } from '../../graph/need.ts'
import type { CurrentPoint, Operator, OperatorContext } from '../../graph/operator.ts'
import type { RawRange, SinglePoint } from '../../graph/point-source.ts'
import { valuesOfInput } from '../rolling/buffered-input.ts'
import { movedNeed, offsetNeeds } from './shift-needs.ts'
import { ShiftedStream } from './shifted-stream.ts'
import { TimeMap } from './time-map.ts'

/**
 * An operator with its times mapped: at t its value at the instant that the map gives for t. Raw points are those
 * of the input, moved, and one at each break of the map. Where the map leads out of the accepted range there is no
 * value. What moves all times equally far passes everything on to its input, push-downs too.
 */
export function shift(input: Operator, map: TimeMap, context: OperatorContext): Operator {
  if (input.varies === 'nothing' || map.us === 0) return input
  if (map.us !== null && input instanceof ShiftOperator && input.map.us !== null) {
    // Together, so that shifting back gives the input itself, and nothing is lost beyond the accepted range in between.
    return shift(input.input, TimeMap.exact(input.map.us + map.us, context.zone), context)
  }
  return new ShiftOperator(input, map, context)
}

class ShiftOperator extends BaseOperator {
  readonly input: Operator
  readonly map: TimeMap
  readonly stepInterpolated?: (pushDowns: boolean) => Operator
  override readonly goodPoint?: (find: FindPoint, at: Instant) => Promise<SinglePoint | null>
  readonly rawPoints?: (range: RawRange) => Promise<RangeResult>
  readonly integrals?: (starts: Float64Array, ends: Float64Array) => Promise<Integrals>
  readonly closedIntegrals?: Operator['closedIntegrals']
  readonly aggregates?: (edges: Float64Array, names: readonly AggregateName[]) => Promise<AggregateColumns>

  constructor(input: Operator, map: TimeMap, context: OperatorContext) {
    const isFixed = map.spanAt(context.range.from).target.kind === 'fixed'
    super([input], context, {
      stepped: isFixed || input.stepped,
      varies: input.varies === 'data' ? 'data' : 'time',
      linear: isFixed || input.linear,
      extrapolationLimits: input.extrapolationLimits.flatMap((end) => map.originsOf(end)),
      ...(map.us !== null && { bends: 'with inputs' }),
    })
    this.input = input
    this.map = map
    if (input.stepInterpolated !== undefined)
      this.stepInterpolated = (pushDowns) =>
        new ShiftOperator(input.stepInterpolated!(pushDowns), map, context)
    const { us } = map
    if (us === null) return
    if (input.goodPoint !== undefined)
      this.goodPoint = (find, at) => this.#moved(us, find, at, (find, at) => input.goodPoint!(find, at))
    this.rawPoints = (range) => this.#rawPoints(us, range)
    const { closedIntegrals } = input
    const moved = (times: Float64Array) => times.map((time) => clampInstant(time + us))
    if (input.integrals !== undefined)
      this.integrals = (starts, ends) => input.integrals!(moved(starts), moved(ends))
    this.closedIntegrals = closedIntegrals && ((starts, ends) => closedIntegrals(moved(starts), moved(ends)))
    this.aggregates = (edges, names) => {
      if (!reaches(us, edges[0]!, edges.at(-1)!) || names.some(isOfTime))
        return aggregatesFromChunks(this, edges, names, context)
      const moved = edges.map((edge) => edge + us)
      return aggregatesOf(input, moved, names, context)
    }
  }

  /** Breaks of the calendar have raw points where there may be no value. */
  override get isNeverBad(): boolean {
    return this.map.us !== null && this.input.isNeverBad
  }

  get isSeldomBad(): boolean {
    return this.map.us !== null && this.input.isSeldomBad === true
  }

  override placeBelow(near: Near): Near {
    return movedPlace(near, (at) => this.map.hullOf({ from: at, to: at }).from)
  }

  protected override async findOuterBreak(at: Instant): Promise<Instant | null> {
    const us = this.map.us ?? 0
    const bend = await this.input.outerBreak(clampInstant(at + us))
    return bend === null ? null : clampInstant(bend - us)
  }

  override reach(find: FindPoint, at: Instant | null): Reach {
    const { target } = this.map.spanAt(at ?? this.context.now)
    // Breaks have raw points, too, which are nearer.
    return target.kind === 'moved'
      ? this.input.reach(find, at === null ? null : clampInstant(at + target.us))
      : FAR
  }

  override needs(need: Need, sink: NeedSink): void {
    const { us } = this.map
    const isPassedOn =
      us !== null &&
      need.kind !== 'plot' &&
      need.kind !== 'gaps' &&
      (need.kind !== 'aggregates' || (reaches(us, need.from, need.to) && !need.names.some(isOfTime)))
    if (isPassedOn) this.#passOn(us, need, sink)
    else if (need.kind === 'current') offsetNeeds(this.input, this.map, need, sink)
    else super.needs(need, sink)
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    if (this.map.us === null) offsetNeeds(this.input, this.map, need, sink)
    else this.#passOn(this.map.us, need, sink)
  }

  #passOn(us: number, need: Need, sink: NeedSink): void {
    const moved = movedNeed(need, us)
    if (moved !== null) sink.need(this.input, 'rawOnly' in moved ? { ...moved, rawOnly: false } : moved)
  }

  override async goodBound(find: FindPoint, at: Instant): Promise<Instant | null> {
    const { us } = this.map
    if (us === null) return this.#boundInSpan(find, at)
    if (this.goodPoint !== undefined) return super.goodBound(find, at)
    const place = placeOf(us, find, at)
    const bound = place === null ? null : await this.input.goodBound(...place)
    if (bound === null) return null
    const time = clampInstant(bound - us)
    return goesBack(find) || isAccepted(time) ? time : null
  }

  /** Where a span moves all times equally far that of the input, but not beyond the span. */
  async #boundInSpan(find: FindPoint, at: Instant): Promise<Instant | null> {
    const isBack = goesBack(find)
    const onwards = isBack ? 'before-or-at' : 'after-or-at'
    const limit = this.map.limitFrom(at, isBack)
    const bound = await this.input.goodBound(onwards, limit)
    // A value that is held has raw points at breaks.
    if (bound === null && (isBack || !(await this.input.mayHaveValue(onwards, limit)))) return null
    const nearest = await super.goodBound(find, at)
    const { from, to, target } = this.map.spanAt(Math.min(at, END_INSTANT - 1))
    if (nearest === null || bound === null || target.kind !== 'moved' || limit !== at + target.us)
      return nearest
    return isBack
      ? instantFromUs(Math.min(nearest, Math.max(bound - target.us, from)))
      : instantFromUs(Math.max(nearest, Math.min(bound - target.us, to)))
  }

  override goodBoundNeeds(place: FindPlace, sink: NeedSink): void {
    const { us } = this.map
    if (us === null) {
      const at = this.map.limitFrom(place.at, goesBack(place.find))
      this.input.goodBoundNeeds({ ...place, at }, sink)
    }
    if (us === null || this.goodPoint !== undefined) super.goodBoundNeeds(place, sink)
    else this.input.goodBoundNeeds({ ...place, at: clampInstant(place.at + us) }, sink)
  }

  compared(thresholds: readonly number[]): Operator | null {
    // Where all times move equally far; breaks of the calendar have raw points of their own.
    const compared = this.map.us === null ? null : (this.input.compared?.(thresholds) ?? null)
    return compared === null ? null : new ShiftOperator(compared, this.map, this.context)
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    return this.#valuesAtTargets(await this.map.targetsOf(times, this.#pause))
  }

  protected open(range: ChunkRange): ChunkStream {
    const { evaluation } = this.context
    const valuesAt = (targets: Float64Array) => this.#valuesAtTargets(targets)
    return streamOf(new ShiftedStream(this.input, this.map, range, evaluation, valuesAt).chunks())
  }

  override async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const { target } = this.map.spanAt(at)
    const us = this.map.us ?? (target.kind === 'moved' ? target.us : null)
    if (us === null) return super.currentPoint(find, at)
    // Before the first accepted instant there is no point yet.
    const point = at + us < MIN_INSTANT ? null : await this.input.currentPoint(find, clampInstant(at + us))
    if (point === null || point.time === null) return point
    const time = instantFromUs(point.time - us)
    const last = find === 'before' ? instantFromUs(at - 1) : at
    const found = await this.map.breakNear(last, true, time, this.#pause)
    if (found !== null) return super.currentPoint(find, found)
    return isAccepted(time) ? { ...point, time } : null
  }

  protected override async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return (await this.#find(find, at))?.time ?? null
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const { us } = this.map
    if (us !== null) return this.#moved(us, find, at, (find, at) => this.input.rawPoint(find, at))
    const found = await this.#find(find, at)
    if (found === null) return null
    const { time, source } = found
    const point = source === null ? null : await this.input.rawPoint('before-or-at', source)
    if (point !== null) return { ...point, time }
    const value = await this.valueAt(time)
    return { time, value, bad: Number.isNaN(value) }
  }

  /** The raw time next to an instant, and that of the input it comes from; `null` for a break. */
  async #find(find: FindPoint, at: Instant): Promise<{ time: Instant; source: Instant | null } | null> {
    const { us } = this.map
    if (us !== null) {
      const read = async (find: FindPoint, at: Instant) => ({ time: await this.input.rawTime(find, at) })
      const found = await this.#moved(us, find, at, read)
      return found === null ? null : { time: found.time, source: null }
    }
    const isBack = goesBack(find)
    const first = this.map.firstLeading(firstOf(find, at), isBack)
    if (first === null) return null
    const { target } = this.map.spanAt(first)
    const source =
      target.kind === 'moved'
        ? await this.input.rawTime(isBack ? 'before-or-at' : 'after-or-at', instantFromUs(first + target.us))
        : null
    const time = source === null || target.kind !== 'moved' ? Number.NaN : source - target.us
    const own = isAccepted(time) ? time : null
    const bound = own ?? (isBack ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY)
    const found = await this.map.breakNear(first, isBack, bound, this.#pause)
    if (found !== null) return { time: found, source: null }
    return own === null ? null : { time: own, source }
  }

  /** What the input has next to an instant, moved back. */
  async #moved<Found extends { readonly time: Instant | null }>(
    us: number,
    find: FindPoint,
    at: Instant,
    read: (find: FindPoint, at: Instant) => Promise<Found | null>,
  ): Promise<(Found & { readonly time: Instant }) | null> {
    const place = placeOf(us, find, at)
    const found = place === null ? null : await read(...place)
    if (found === null || found.time === null) return null
    const time = instantFromUs(found.time - us)
    return isAccepted(time) ? { ...found, time } : null
  }

  protected override async findValue(find: FindPoint, at: Instant): Promise<boolean> {
    const isBack = goesBack(find)
    return this.input.mayHaveValue(isBack ? 'before-or-at' : 'after-or-at', this.map.limitFrom(at, isBack))
  }

  async #rawPoints(us: number, range: RawRange): Promise<RangeResult> {
    const [from, to] = [clampInstant(range.from + us), clampInstant(range.to + us)]
    if (from >= to) return { points: NO_POINTS, more: false }
    const { points, more } = await rawPoints(this.input, { ...range, from, to }, this.context.evaluation)
    return { points: { ...points, times: points.times.map((time) => time - us) }, more }
  }

  /** Values of the input at times in any order; NaN where there is no time. */
  async #valuesAtTargets(targets: Float64Array): Promise<Float64Array> {
    const times = targets.some(Number.isNaN) ? targets.filter((target) => !Number.isNaN(target)) : targets
    if (times.length === 0) return targets
    const found = await valuesOfInput(this.input, times)
    let next = 0
    return times === targets
      ? found
      : targets.map((target) => (Number.isNaN(target) ? target : found[next++]!))
  }

  readonly #pause = (): Promise<void> => this.context.evaluation.pause()
}

/** Whether [from, to) stays in the accepted range when it is moved. */
function reaches(us: number, from: number, to: number): boolean {
  return from + us >= MIN_INSTANT && to + us <= END_INSTANT
}

/** The range of a shifted input that must be read; `null` when no point can be in it. */
function placeOf(us: number, find: FindPoint, at: Instant): readonly [find: FindPoint, at: Instant] | null {
  const target = at + us
  if (target < MIN_INSTANT) return goesBack(find) ? null : ['after-or-at', MIN_INSTANT]
  if (target < END_INSTANT) return [find, instantFromUs(target)]
  return goesBack(find) ? ['before-or-at', instantFromUs(END_INSTANT - 1)] : null
}

/** Aggregates that are instants, or that end at the call's `now`, which is another instant of the input. */
const OF_TIME: readonly AggregateName[] = ['minTime', 'maxTime', 'durationGood', 'durationBad', 'coverage']

function isOfTime(name: AggregateName): boolean {
  return OF_TIME.includes(name)
}
