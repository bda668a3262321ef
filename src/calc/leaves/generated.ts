import { FIXED_LIMITS } from '../../errors/limits.ts'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import {
  type AggregateColumns,
  type AggregateName,
  FIRST_AGGREGATE_NAMES,
  type FirstAggregateName,
} from '../../series/aggregate-names.ts'
import { makeColumns, type PointColumns, reverseColumns, sliceColumns } from '../../series/columns.ts'
import type { Side } from '../../series/interpolate.ts'
import type { FindPoint, Integrals, RangeResult } from '../../series/reads.ts'
import { type Instant, instantFromUs, isAccepted } from '../../time/instant.ts'
import { aggregatesFromChunks } from '../consumers/aggregates.ts'
import { firstOf, goesBack } from '../consumers/find-point.ts'
import { BaseOperator } from '../graph/base.ts'
import { type Chunk, type ChunkRange, type ChunkStream, streamOf } from '../graph/chunk.ts'
import type { Need, NeedSink } from '../graph/need.ts'
import type { Operator, OperatorContext } from '../graph/operator.ts'
import type { RawRange, SinglePoint } from '../graph/point-source.ts'
import { aggregatesFromSources, sourcesOf } from './aggregate-sources.ts'

/**
 * A signal that is worked out from the time alone: it has a value at every instant, and raw points of its own. Times
 * are whole microseconds since 1970; all methods take any of them.
 */
export interface GeneratedSignal {
  /** Held from each raw point to the next. */
  readonly stepped: boolean
  /** As in Traits. */
  readonly linear: boolean
  /** The value at an instant, or its limit from the left. Finite. */
  valueAt(at: number, side: Side): number
  /** The last raw time at or before an instant. */
  rawAtOrBefore(at: number): number
  /** The first raw time after an instant. */
  rawAfter(at: number): number
  /** How many raw points [from, to) has at most. */
  countRaw(from: number, to: number): number
  /** Integrals and aggregates without looking at every point; absent: they come from the points. */
  readonly closedForm?: ClosedForm
}

/** What a periodic signal knows without looking at its points one by one. */
export interface ClosedForm {
  integrals(starts: Float64Array, ends: Float64Array): Integrals
  aggregates(edges: Float64Array, names: readonly FirstAggregateName[]): AggregateColumns
}

/**
 * Raw points that may be generated for one label, all of its reads together. They cross no historian contract and so
 * are no load; without a bound of their own a period of a millisecond over a year would keep a processor busy until the
 * deadline.
 */
export const MAX_GENERATED_POINTS: number = FIXED_LIMITS.generatedPoints.limit

/** Times that are worked out before others go on. */
const STEP_TIMES = 8_192

/** Leaf: a tag of a virtual historian whose values follow from the time. */
export class GeneratedLeaf extends BaseOperator {
  readonly isComplete = true
  readonly #signal: GeneratedSignal
  readonly #address: string

  /** @param address names the tag in messages */
  constructor(signal: GeneratedSignal, address: string, context: OperatorContext) {
    super([], context, {
      stepped: signal.stepped,
      varies: 'time',
      linear: signal.linear,
      extrapolationLimits: [],
    })
    this.#signal = signal
    this.#address = address
  }

  override needs(need: Need, sink: NeedSink): void {
    const hasClosedForm = this.#signal.closedForm !== undefined
    const streams =
      need.kind === 'chunks' ||
      need.kind === 'plot' ||
      need.kind === 'gaps' ||
      (need.kind === 'integrals' && !hasClosedForm) ||
      (need.kind === 'aggregates' && (!hasClosedForm || sourcesOf(need.names, CLOSED).streamed.length > 0))
    if (streams && need.from < need.to)
      sink.generate(this.#address, this.#signal.countRaw(need.from, need.to))
  }

  protected inputNeeds(): void {}

  protected evaluate(times: Float64Array): Promise<Float64Array> {
    return this.#valuesAt(times, 'at')
  }

  async #valuesAt(times: Float64Array, side: Side): Promise<Float64Array> {
    const values = new Float64Array(times.length)
    for (let from = 0; from < times.length; from += STEP_TIMES) {
      const some = times.subarray(from, from + STEP_TIMES)
      const found = await this.context.evaluation.inTurn(() => valuesOf(this.#signal, some, side))
      values.set(found, from)
    }
    return values
  }

  protected override async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const time = findRaw(this.#signal, find, at)
    return isAccepted(time) ? time : null
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.rawTime(find, at)
    return time === null ? null : { time, value: this.#signal.valueAt(time, 'at'), bad: false }
  }

  async rawPoints({ from, to, order, limit }: RawRange): Promise<RangeResult> {
    this.context.evaluation.charge(Math.min(limit, this.#signal.countRaw(from, to)))
    const points = generate(this.#signal, from, to, order, limit + 1)
    const given = sliceColumns(order === 'asc' ? points : reverseColumns(points), 0, limit)
    return { points: given, more: points.times.length > limit }
  }

  protected open(range: ChunkRange): ChunkStream {
    const { from, to, extent } = range
    // Once more where the points are made: an evaluation need not have been planned.
    if (extent === 'all') checkGenerated(this.#address, this.#signal.countRaw(from, to))
    return streamOf(this.#chunks(range))
  }

  /** Chunks of `page` raw points each, which join at raw times. */
  async *#chunks({ from: start, to: end, order, page }: ChunkRange): AsyncGenerator<Chunk, void> {
    const { evaluation } = this.context
    const signal = this.#signal
    const valuesAt: Chunk['valuesAt'] = (times, limit) =>
      valuesOf(signal, times, limit === 'before' ? 'before' : 'at')
    for (let [from, to] = [start, end]; from < to; ) {
      // One point more shows where the next chunk begins; none means that this one covers the remainder.
      const points = await evaluation.inTurn(() => generate(signal, from, to, order, page + 1))
      const isLast = points.times.length <= page
      const first = order === 'asc' ? 0 : 1
      const raw = isLast ? points : sliceColumns(points, first, first + page)
      const cut = isLast ? null : instantFromUs(points.times[order === 'asc' ? page : 1]!)
      const reach = order === 'asc' ? { from, to: cut ?? to } : { from: cut ?? from, to }
      evaluation.charge(raw.times.length)
      yield { ...reach, raw, isTrueToRaw: true, valuesAt }
      if (order === 'asc') from = reach.to
      else to = reach.from
    }
  }

  get closedIntegrals(): Operator['closedIntegrals'] {
    const { closedForm } = this.#signal
    return (
      closedForm &&
      ((starts, ends) => {
        this.context.evaluation.charge(starts.length)
        return closedForm.integrals(starts, ends)
      })
    )
  }

  get integrals(): Operator['integrals'] {
    const { closedIntegrals } = this
    return closedIntegrals && ((starts, ends) => this.#inSteps(closedIntegrals, starts, ends))
  }

  async #inSteps(
    closedIntegrals: ClosedForm['integrals'],
    starts: Float64Array,
    ends: Float64Array,
  ): Promise<Integrals> {
    const found = { integrals: new Float64Array(starts.length), coveredUs: new Float64Array(starts.length) }
    for (let from = 0; from < starts.length; from += STEP_WINDOWS) {
      const to = from + STEP_WINDOWS
      const part = closedIntegrals(starts.subarray(from, to), ends.subarray(from, to))
      found.integrals.set(part.integrals, from)
      found.coveredUs.set(part.coveredUs, from)
      await this.context.evaluation.pause()
    }
    return found
  }

  async aggregates(edges: Float64Array, names: readonly AggregateName[]): Promise<AggregateColumns> {
    const { closedForm } = this.#signal
    const sources = sourcesOf(names, CLOSED)
    if (closedForm === undefined || sources.streamed.length > 0)
      return aggregatesFromChunks(this, edges, names, this.context)
    const starts = edges.subarray(0, -1)
    return aggregatesFromSources(names, sources, edges, this.context.now, {
      aggregates: (names) =>
        this.#closedAggregates(closedForm, edges, names as readonly FirstAggregateName[]),
      integrals: this.integrals!,
      bounds: async () => ({
        starts: await this.#valuesAt(starts, 'at'),
        ends: await this.#valuesAt(edges.subarray(1), 'before'),
      }),
    })
  }

  async #closedAggregates(
    closedForm: ClosedForm,
    edges: Float64Array,
    names: readonly FirstAggregateName[],
  ): Promise<AggregateColumns> {
    const { evaluation } = this.context
    const windows = edges.length - 1
    const found = new Map(names.map((name) => [name, new Float64Array(windows)]))
    for (let from = 0; from < windows; from += STEP_WINDOWS) {
      evaluation.charge(names.length * Math.min(STEP_WINDOWS, windows - from))
      const part = closedForm.aggregates(edges.subarray(from, from + STEP_WINDOWS + 1), names)
      for (const [name, column] of found) column.set(part[name]!, from)
      await evaluation.pause()
    }
    return Object.fromEntries(found)
  }
}

/** What a closed form has. */
const CLOSED = { aggregates: FIRST_AGGREGATE_NAMES, integrals: true, bounds: true }

/** Windows that are worked out before others go on: a closed form looks at up to 100 raw points for each. */
const STEP_WINDOWS = 256

/** Throws LIMIT_GENERATED_POINTS. */
export function checkGenerated(tag: string, actual: number): void {
  if (actual <= MAX_GENERATED_POINTS) return
  const times = Math.ceil(actual / MAX_GENERATED_POINTS)
  throw new TidemarkError('LIMIT_GENERATED_POINTS', { tag, limit: MAX_GENERATED_POINTS, actual, times })
}

function valuesOf(signal: GeneratedSignal, times: Float64Array, side: Side): Float64Array {
  return times.map((at) => signal.valueAt(at, side))
}

function findRaw(signal: GeneratedSignal, find: FindPoint, at: Instant): number {
  const first = firstOf(find, at)
  return goesBack(find) ? signal.rawAtOrBefore(first) : signal.rawAfter(first - 1)
}

/** The first or, descending, the last `limit` raw points of [from, to); ascending either way. */
function generate(
  signal: GeneratedSignal,
  from: number,
  to: number,
  order: 'asc' | 'desc',
  limit: number,
): PointColumns {
  const isAscending = order === 'asc'
  const points = makeColumns(Math.min(limit, signal.countRaw(from, to)))
  const { times, values } = points
  let count = 0
  let at = isAscending ? signal.rawAfter(from - 1) : signal.rawAtOrBefore(to - 1)
  while (count < times.length && (isAscending ? at < to : at >= from)) {
    times[isAscending ? count : times.length - 1 - count] = at
    count++
    at = isAscending ? signal.rawAfter(at) : signal.rawAtOrBefore(at - 1)
  }
  const first = isAscending ? 0 : times.length - count
  for (let i = first; i < first + count; i++) values[i] = signal.valueAt(times[i]!, 'at')
  return sliceColumns(points, first, first + count)
}
