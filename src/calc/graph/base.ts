import type { FindPoint } from '../../series/reads.ts'
import { type Instant, MIN_INSTANT } from '../../time/instant.ts'
import { aggregateNeeds } from '../consumers/aggregates.ts'
import { goesBack } from '../consumers/find-point.ts'
import { type ChunkRange, type ChunkStream, chunksWithin, streamOf } from './chunk.ts'
import { FAR, type Near, type Reach } from './near.ts'
import { contentKey, type FindPlace, instantNeed, type Need, type NeedSink, nearNeed } from './need.ts'
import {
  type CurrentPoint,
  DEEP_LEVELS,
  FOLLOWED_LEVELS,
  type Operator,
  type OperatorContext,
  type Traits,
} from './operator.ts'
import type { SinglePoint } from './point-source.ts'
import { SharedStream } from './shared-stream.ts'

/** The needs that an operator answers by its inputs. */
export type InputNeed = Exclude<Need, { kind: 'integrals' | 'aggregates' | 'plot' | 'gaps' | 'current' }>

/** The traits that do not follow from the inputs. */
export interface OwnTraits extends Omit<Traits, 'width' | 'levels'> {
  /** That of all inputs together when left out. */
  readonly width?: number
  /** When the signal may bend behind all raw points: where inputs do, or always; never when left out. */
  readonly bends?: 'with inputs' | 'always'
}

let lastId = 0

/** Columns up to this length are cached for reads of the same times later in the call. */
const SMALL_COLUMN = 4_096

/**
 * Ranges that a deep operator streams, some 15 kB each until the call ends, with what is kept for them. Functions
 * inside each other that fit together read a few on each level; others many times more on each, which count as so many
 * values: 3,000 of them end the call.
 */
const FEW_STREAMS = 128
const STREAM_VALUES = 32_768

/** The same of what it was asked for otherwise and remembers, values or times, some 300 bytes for each question. */
const FEW_QUESTIONS = 4_096
const QUESTION_VALUES = 64

/** Whole ranges that are remembered for others within them. */
const WHOLE_RANGES = 64

/**
 * What all operators have in common: equal evaluations are made once and counted in the call's budget, and needs that
 * every operator answers in the same way. A subclass says how it is evaluated in `evaluate` and `open`.
 */
export abstract class BaseOperator implements Operator {
  readonly id = ++lastId
  readonly stepped: boolean
  readonly varies: 'nothing' | 'time' | 'data'
  readonly linear: boolean
  readonly extrapolationLimits: readonly Instant[]
  readonly width: number
  readonly levels: number
  readonly bendsBehind: boolean
  readonly inputs: readonly Operator[]
  /** Whether inputs bend behind their raw points, as far as that is followed. */
  protected readonly inputsBend: boolean
  protected readonly context: OperatorContext
  // Made when they are used: a call may have very many operators.
  #values: Map<number, Promise<Float64Array>> | null = null
  #streams: Map<string, SharedStream> | null = null
  /** Streams of whole ranges of a deep operator. */
  readonly #whole: WholeRange[] = []
  /** What was found next to instants. */
  #lookUps: Map<string, Promise<unknown>> | null = null
  #questions = 0

  constructor(inputs: readonly Operator[], context: OperatorContext, traits: OwnTraits) {
    this.inputs = inputs
    this.context = context
    this.stepped = traits.stepped
    this.varies = traits.varies
    this.linear = traits.linear
    this.extrapolationLimits = traits.extrapolationLimits
    this.width =
      traits.width ??
      Math.max(
        1,
        inputs.reduce((sum, input) => sum + input.width, 0),
      )
    this.levels = 1 + inputs.reduce((levels, input) => Math.max(levels, input.levels), 0)
    if (this.levels >= DEEP_LEVELS)
      context.evaluation.holds(this.width * this.levels, this.pointValues > POINT_VALUES)
    this.inputsBend = this.levels <= FOLLOWED_LEVELS && inputs.some(({ bendsBehind }) => bendsBehind)
    this.bendsBehind = traits.bends === 'always' || (traits.bends === 'with inputs' && this.inputsBend)
  }

  /**
   * Values that a raw point of a chunk takes which is kept: its time and value, and what others are worked out from.
   */
  protected get pointValues(): number {
    return POINT_VALUES
  }

  /** Whether `open` makes use of `rawOnly`; where it does not, that never gets to the inputs. */
  protected get takesRawOnly(): boolean {
    return false
  }

  /** Whether values are remembered for callers that ask for the same times. */
  protected get remembersValues(): boolean {
    return true
  }

  /** The same as `takesRawOnly`, for `isEndOpen`. */
  protected get takesOpenEnd(): boolean {
    return false
  }

  /** Works the values out; called once for equal times. Not finite is no value. */
  protected abstract evaluate(times: Float64Array): Promise<Float64Array>
  /** Opens a stream; called once for equal ranges. Fetches when it is pulled. */
  protected abstract open(range: ChunkRange): ChunkStream
  /** What a need takes of the inputs; all other needs are made of these. */
  protected abstract inputNeeds(need: InputNeed, sink: NeedSink): void
  /** Looks for the raw point next to an instant; called once for equal look-ups, as is `findTime`. */
  protected abstract findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null>

  protected async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return (await this.rawPoint(find, at))?.time ?? null
  }

  /** `outerBreak`, called once for equal instants: the first one of the inputs that bend. */
  protected async findOuterBreak(at: Instant): Promise<Instant | null> {
    const bending = this.inputs.filter(({ bendsBehind }) => bendsBehind)
    const found = await Promise.all(bending.map((input) => input.outerBreak(at)))
    return found.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null)
  }

  /** `mayHaveValue`, called once for equal questions. */
  protected async findValue(_find: FindPoint, _at: Instant): Promise<boolean> {
    return true
  }

  /** An input with the same raw times, where each BAD point is BAD here, too; `null` for none. */
  protected get badWith(): Operator | null {
    return null
  }

  get isNeverBad(): boolean {
    return false
  }

  goodPoint?(find: FindPoint, at: Instant): Promise<SinglePoint | null>

  async goodBound(find: FindPoint, at: Instant): Promise<Instant | null> {
    if (this.goodPoint !== undefined) return (await this.goodPoint(find, at))?.time ?? null
    const bound = await (this.badWith?.goodBound(find, at) ?? this.rawTime(find, at))
    // Where no good point is found there may be values all the same: a search back in time goes to the first instant.
    return bound ?? (goesBack(find) ? MIN_INSTANT : null)
  }

  goodBoundNeeds(place: FindPlace, sink: NeedSink): void {
    const { find, at, count = 1 } = place
    // The bounding points on both sides of each place.
    if (this.goodPoint !== undefined) sink.need(this, nearNeed({ find, at, count: 2 * count }))
    else if (this.badWith !== null) this.badWith.goodBoundNeeds(place, sink)
    else sink.need(this, { kind: 'point', find, at, count, timeOnly: true })
  }

  isBadWith(operator: Operator): boolean {
    return operator === this || this.badWith?.isBadWith(operator) === true
  }

  /** The first instant of the inputs that is read, beside single points, for what begins at an instant. */
  protected readFrom(at: Instant): Instant {
    return at
  }

  placeBelow(near: Near): Near {
    return near.floor === undefined ? near : { ...near, floor: this.readFrom(near.floor) }
  }

  reach(_find: FindPoint, _at: Instant | null): Reach {
    return FAR
  }

  needs(need: Need, sink: NeedSink): void {
    switch (need.kind) {
      case 'integrals':
      case 'plot': {
        const { from, to, near } = need
        if (from >= to) return
        // What is not linear is read as segments from the raw point before the range to the one after it.
        const beyond = this.linear ? 0 : 1
        this.inputNeeds({ kind: 'chunks', from, to, beyond, near }, sink)
        return
      }
      case 'aggregates':
        if (need.from < need.to) aggregateNeeds(this, need, sinkOf(this, sink))
        return
      case 'gaps':
        if (need.from < need.to)
          this.inputNeeds(
            { kind: 'chunks', from: need.from, to: need.to, beyond: 0, rawOnly: this.takesRawOnly },
            sink,
          )
        return
      case 'current':
        this.inputNeeds(instantNeed(need.at), sink)
        return
      case 'raw': {
        const { kind, from, to, order, count } = need
        const rawOnly = this.takesRawOnly && (need.rawOnly === true || need.isPage === true)
        // One point more shows that there are more, and one can be held back at the cut.
        const read = need.isPage ? count + 2 : count
        this.inputNeeds({ kind, from, to, order, count: read, rawOnly }, sink)
        return
      }
      case 'chunks':
        this.inputNeeds(need.rawOnly && !this.takesRawOnly ? { ...need, rawOnly: false } : need, sink)
        return
      default:
        this.inputNeeds(need, sink)
    }
  }

  valuesAt(times: Float64Array): Promise<Float64Array> {
    if (times.length === 0) return NO_VALUES
    if (!this.remembersValues) return this.#charged(times)
    const key = contentKey(times)
    this.#values ??= new Map()
    const known = this.#values
    let values = known.get(key)
    if (values === undefined) {
      values = this.#charged(times)
      known.set(key, values)
      const { evaluation } = this.context
      if (times.length > SMALL_COLUMN && !evaluation.retains(times.length)) {
        // Callers that read it while it is computed still share it.
        const forget = () => known.delete(key)
        values.then(forget, forget)
      } else if (this.levels >= DEEP_LEVELS) evaluation.held.remember(times.length)
    }
    return values
  }

  /**
   * A budget that is used up rejects: what throws would leave earlier promises of others unhandled. Yields to the event
   * loop after the values, not before: the first reads of all labels of a call are then made in one tick, and travel
   * together.
   */
  async #charged(times: Float64Array): Promise<Float64Array> {
    const { evaluation } = this.context
    this.#chargeQuestion(times.length)
    const isDeep = this.levels >= DEEP_LEVELS
    const values = await (isDeep
      ? evaluation.held.during(times.length, () => this.evaluate(times))
      : this.evaluate(times))
    await evaluation.pause()
    return values
  }

  /** Equal look-ups are one. */
  #lookUp<Found>(what: string, make: () => Promise<Found>): Promise<Found> {
    this.#lookUps ??= new Map()
    return this.#lookUps.getOrInsertComputed(what, () => this.#begun(make)) as Promise<Found>
  }

  /**
   * Counts what is evaluated, and yields to the event loop: nested operators may call each other for long without
   * reading.
   */
  async #begun<Found>(lookUp: () => Promise<Found>): Promise<Found> {
    this.#chargeQuestion(1)
    await this.context.evaluation.pause()
    return lookUp()
  }

  #chargeQuestion(values: number): void {
    const isMany = this.levels >= DEEP_LEVELS && this.#questions >= FEW_QUESTIONS
    this.#questions++
    this.context.evaluation.charge(isMany ? Math.max(values, QUESTION_VALUES) : values)
  }

  chunks(asked: ChunkRange): ChunkStream {
    const rawOnly = asked.rawOnly === true && this.takesRawOnly
    const isEndOpen = asked.isEndOpen === true && this.takesOpenEnd
    const range: ChunkRange = { ...asked, rawOnly, isEndOpen }
    const { from, to, order, page, extent } = range
    const key = `${from} ${to} ${order} ${page} ${extent} ${rawOnly} ${isEndOpen}`
    this.#streams ??= new Map()
    const streams = this.#streams
    const known = streams.get(key)?.reader() ?? null
    if (known !== null) return known
    const isShared = this.levels >= DEEP_LEVELS && order === 'asc' && extent === 'all'
    const longer = isShared ? this.#longerThan(range) : null
    if (longer !== null) return streamOf(chunksWithin(longer, range))
    const { evaluation } = this.context
    if (this.levels >= DEEP_LEVELS && streams.size >= FEW_STREAMS) evaluation.charge(STREAM_VALUES)
    const stream = new SharedStream(
      this.open(range),
      (chunk) => evaluation.retains(this.pointValues * chunk.raw.times.length),
      () => evaluation.pause(),
    )
    streams.set(key, stream)
    if (isShared && this.#whole.length < WHOLE_RANGES) this.#whole.push({ range, stream })
    return stream.reader()!
  }

  /** A range that holds this one and was read as far, if it is kept. */
  #longerThan({ from, to, rawOnly, isEndOpen }: ChunkRange): ChunkStream | null {
    for (const { range, stream } of this.#whole) {
      if ((range.rawOnly && !rawOnly) || (range.isEndOpen && !isEndOpen)) continue
      const reader = range.from <= from && stream.reached >= to ? stream.reader() : null
      if (reader !== null) return reader
    }
    return null
  }

  rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.#lookUp(`time ${find} ${at}`, () => this.findTime(find, at))
  }

  outerBreak(at: Instant): Promise<Instant | null> {
    return this.#lookUp(`outer break ${at}`, () => this.findOuterBreak(at))
  }

  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.#lookUp(`point ${find} ${at}`, () => this.findPoint(find, at))
  }

  mayHaveValue(find: FindPoint, at: Instant): Promise<boolean> {
    return this.#lookUp(`value ${find} ${at}`, () => this.findValue(find, at))
  }

  /**
   * The value at the instant, which it then is the timestamp of: what is not elementwise over stored tags has no other.
   */
  async currentPoint(_find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const value = await this.valueAt(at)
    return { time: at, value, bad: Number.isNaN(value) }
  }

  protected async valueAt(at: Instant): Promise<number> {
    return (await this.valuesAt(Float64Array.of(at)))[0]!
  }
}

/** A sink that gives an operator its own needs at once: it is not visited again. */
function sinkOf(operator: Operator, sink: NeedSink): NeedSink {
  return {
    need: (other, need) => (other === operator ? operator.needs(need, sink) : sink.need(other, need)),
    read: (read) => sink.read(read),
    generate: (address, points) => sink.generate(address, points),
  }
}

/** Of what is worked out from its inputs' chunks anew. */
const POINT_VALUES = 2

const NO_VALUES = Promise.resolve(new Float64Array(0))

/** A range that was read whole, from its beginning. */
interface WholeRange {
  readonly range: ChunkRange
  readonly stream: SharedStream
}
