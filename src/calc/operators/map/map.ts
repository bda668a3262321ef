import { NO_POINTS, type PointColumns, STATUS_BAD } from '../../../series/columns.ts'
import type { FindPoint } from '../../../series/reads.ts'
import { type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import {
  beginningOf,
  endNeeds,
  endOf,
  goesBack,
  isMostlyGood,
  reachFrom,
} from '../../consumers/find-point.ts'
import { BaseOperator, type InputNeed } from '../../graph/base.ts'
import { type Chunk, type ChunkRange, type ChunkStream, streamOf } from '../../graph/chunk.ts'
import { FAR, type Reach } from '../../graph/near.ts'
import { type FindPlace, type Need, type NeedSink, nearNeed } from '../../graph/need.ts'
import type { CurrentPoint, MovesOn, Operator, OperatorContext } from '../../graph/operator.ts'
import type { SinglePoint } from '../../graph/point-source.ts'
import { ConstantLeaf } from '../../leaves/constant.ts'
import { type AlignedChunks, breaksOf, unionStream } from '../union.ts'
import { thresholdsBelow } from './monotone.ts'
import { MapProgram, type RawColumn } from './program.ts'
import { isStepped, type MapRule } from './rule.ts'

/** Any time that a constant is read at: it has the same value at all times. */
const ANY_TIME = Float64Array.of(0)
/** Values of sources that are in memory together, about; what is stored comes at once whatever its length. */
const COLUMN_VALUES = 4_000_000
/** What leaves nulls out goes on with another value when an input ends. */
const AT_ENDS: MovesOn = { beforeUs: 0, afterUs: 0 }
/** Inputs whose raw values are aligned before others go on. */
const ALIGNED_TOGETHER = 16

/**
 * A pointwise calculation: at each time from the values of its arguments there, with raw points at the union of theirs.
 * Maps of maps are evaluated together, as one program over the operators below them that are no maps.
 * @source CALCULATIONS.md, section 2
 */
export class MapOperator extends BaseOperator {
  readonly rule: MapRule
  readonly args: readonly Operator[]
  readonly isGapless: boolean
  readonly isComplete: boolean
  readonly movesOn: MovesOn | undefined
  #made: MapProgram | null = null
  #reaches: Map<FindPoint, Reach> | null = null

  constructor(rule: MapRule, args: readonly Operator[], context: OperatorContext) {
    const varying = args.filter((arg) => arg.varies !== 'nothing')
    super([...new Set(args)], context, {
      stepped: varying.every((arg) => arg.stepped),
      varies: varying.some((arg) => arg.varies === 'data') ? 'data' : (varying[0]?.varies ?? 'nothing'),
      linear: args.every((arg) => arg.linear) && rule.linear(args),
      extrapolationLimits: [...new Set(args.flatMap((arg) => arg.extrapolationLimits))],
      bends: 'with inputs',
    })
    this.rule = rule
    this.args = args
    const isTotal = rule.isTotal === true || rule.leavesNullsOut === true
    const has = (arg: Operator) => arg.isComplete === true
    // What is chosen may not have begun when the other one has a value.
    const isSure = (arg: Operator) => has(arg) || args[0]!.inputs.includes(arg)
    const isChosen = rule.matters === undefined || args.slice(1).every(isSure)
    this.isGapless = isTotal && isChosen && varying.length > 0 && args.every(isWithoutGap)
    this.isComplete = rule.leavesNullsOut ? args.some(has) : rule.isTotal === true && args.every(has)
    this.movesOn = rule.leavesNullsOut === true ? AT_ENDS : undefined
  }

  /** Of one input and numbers: where there are several, one may have a raw point where another has no value yet. */
  get isSeldomBad(): boolean {
    const [input, ...others] = this.inputs.filter((input) => !isNumber(input))
    return this.rule.isTotal === true && others.length === 0 && input !== undefined && isMostlyGood(input)
  }

  override needs(need: Need, sink: NeedSink): void {
    if (need.kind === 'current') for (const input of this.inputs) sink.need(input, need)
    else super.needs(need, sink)
  }

  /** The raw point is that of the input which has the nearest. */
  override reach(find: FindPoint, at: Instant | null): Reach {
    if (at !== null) return this.#reachOf(find, at)
    // Asked for at each need of each operator above, and of all inputs below.
    this.#reaches ??= new Map()
    return this.#reaches.getOrInsertComputed(find, () => this.#reachOf(find, null))
  }

  #reachOf(find: FindPoint, at: Instant | null): Reach {
    const reaches = this.inputs
      .filter(({ varies }) => varies !== 'nothing')
      .map((input) => input.reach(find, at))
    if (reaches.length === 0) return FAR
    const sure = reaches.filter(({ isSure }) => isSure).map(({ mostUs }) => mostUs)
    const mostUs = Math.min(...sure, Math.max(...reaches.map((reach) => reach.mostUs)))
    const slackUs = Math.max(...reaches.map((reach) => reach.slackUs ?? 0))
    return sure.length === 0 ? { mostUs, isSure: false, slackUs } : { mostUs, isSure: true, slackUs }
  }

  protected inputNeeds(need: InputNeed, sink: NeedSink): void {
    // The value of an input that has no raw point at the time that is found.
    const found = need.kind === 'point' && !need.timeOnly ? nearNeed(need, reachFrom(this, need)) : null
    for (const input of this.inputs) {
      sink.need(input, need)
      if (found !== null) sink.need(input, found)
    }
  }

  /**
   * Of a monotone function of one operator, by what its comparisons come down to there. Only where lines stay lines, so
   * that what lies between two raw points is on their side, too.
   */
  compared(thresholds: readonly number[]): Operator | null {
    const { args, rule } = this
    const index = args.findIndex(({ varies }) => varies !== 'nothing')
    const arg = args[index]
    const isPossible = rule.monotone === 'any' || (rule.monotone === 'first' && index === 0)
    if (!isPossible || !this.linear || arg?.compared === undefined) return null
    const numbers: Float64Array[] = []
    for (const [i, other] of args.entries()) {
      if (i !== index && !(other instanceof ConstantLeaf && other.number !== null)) return null
      numbers.push(Float64Array.of(other instanceof ConstantLeaf ? (other.number ?? Number.NaN) : Number.NaN))
    }
    const result = new Float64Array(1)
    const below = thresholdsBelow((x) => {
      numbers[index]![0] = x
      rule.combine(numbers, result)
      return Number.isFinite(result[0]!) ? result[0]! : Number.NaN
    }, thresholds)
    const compared = below === null ? null : arg.compared(below)
    return compared === null ? null : new MapOperator(rule, args.with(index, compared), this.context)
  }

  protected async evaluate(times: Float64Array): Promise<Float64Array> {
    const program = this.#program
    const { sources } = program
    const tile = Math.max(1024, Math.floor(COLUMN_VALUES / sources.length))
    const readAt = (at: Float64Array) => (source: Operator) =>
      source.valuesAt(source.varies === 'nothing' ? ANY_TIME : at)
    if (times.length <= tile) return this.#run(await Promise.all(sources.map(readAt(times))), times.length)
    // Signals that follow from the time are cheap at any time, but all of them at all times need not fit into memory.
    const stored = await Promise.all(
      sources.map((source) => (source.varies === 'data' ? source.valuesAt(times) : null)),
    )
    const values = new Float64Array(times.length)
    for (let from = 0; from < times.length; from += tile) {
      const at = times.subarray(from, from + tile)
      const columns = await Promise.all(
        sources.map((source, i) => stored[i]?.subarray(from, from + tile) ?? readAt(at)(source)),
      )
      values.set(await this.#run(columns, at.length), from)
    }
    return values
  }

  override async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const program = this.#program
    return program.current(await Promise.all(program.sources.map((source) => source.currentPoint(find, at))))
  }

  protected override async findTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    const times = await Promise.all(this.#program.sources.map((source) => source.rawTime(find, at)))
    const found = times.filter((time) => time !== null)
    if (found.length === 0) return null
    return instantFromUs(goesBack(find) ? found.reduce(larger) : found.reduce(smaller))
  }

  protected async findPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const time = await this.rawTime(find, at)
    if (time === null) return null
    const columns = await Promise.all(
      this.#program.sources.map(async (source): Promise<RawColumn> => {
        const own = await source.rawTime(find, at)
        const point = own === time ? await source.rawPoint(find, at) : null
        if (point !== null) return rawColumn(Float64Array.of(point.value), 1, Number(point.bad))
        return rawColumn(await source.valuesAt(Float64Array.of(time)), 0, 0)
      }),
    )
    const point = await this.#program.runRaw(Float64Array.of(time), columns, this.context.evaluation)
    return { time, value: point.values[0]!, bad: point.statuses[0] === STATUS_BAD }
  }

  /**
   * That of the source that is next to the instant: what the others have nearer is BAD, and so is the result there.
   */
  override async goodBound(find: FindPoint, at: Instant): Promise<Instant | null> {
    const program = this.#program
    const { sources, isNeeded } = program
    const isBack = goesBack(find)
    const bounds = await Promise.all(
      sources.map(async (source) => {
        if (source.varies === 'nothing') return null
        if (this.isBadWith(source)) return source.goodBound(find, at)
        return (await source.rawTime(find, at)) ?? (isBack ? MIN_INSTANT : null)
      }),
    )
    const isLacking = await Promise.all(
      sources.map(async (source, i) => {
        if (source.varies === 'nothing' || bounds[i] !== null) return false
        // Forwards a value may be held.
        return isBack || !(await source.mayHaveValue(find, at))
      }),
    )
    if (isLacking.some((isSo, i) => isSo && isNeeded[i])) return null
    const without = isLacking.includes(true) ? program.withoutGood(isLacking) : null
    const found = bounds.filter((bound, i) => bound !== null && !without?.has(i)) as Instant[]
    if (found.length === 0) return isBack ? MIN_INSTANT : null
    const bound = found.reduce(isBack ? larger : smaller)
    const ofNeeded = <Item>(items: readonly Item[]) => items.filter((_, i) => isNeeded[i])
    const needed = ofNeeded(sources)
    return isBack ? endOf(needed, bound) : beginningOf(needed, ofNeeded(bounds), bound)
  }

  /**
   * Without a value of an argument that matters there is none. Which ones matter is known where the first argument
   * follows from the time and has no raw point any more.
   */
  protected override async findValue(find: FindPoint, at: Instant): Promise<boolean> {
    const { rule, args } = this
    const known = rule.matters === undefined ? null : await this.#lastValue(args[0]!, find, at)
    const columns = args.map((_, i) => Float64Array.of(i === 0 && known !== null ? known : Number.NaN))
    const needed = args.filter(
      (_, i) => i === 0 || (known === null ? rule.matters === undefined : rule.matters!(columns, 0, i)),
    )
    const found = await Promise.all(needed.map((arg) => arg.mayHaveValue(find, at)))
    return rule.leavesNullsOut === true ? found.includes(true) : !found.includes(false)
  }

  /** The value that an argument keeps from an instant on in the direction of a search; `null` where it may change. */
  async #lastValue(arg: Operator, find: FindPoint, at: Instant): Promise<number | null> {
    if (arg.varies === 'data' || !isStepped(arg)) return null
    const next = await arg.rawTime(goesBack(find) ? 'before-or-at' : 'after-or-at', at)
    return next === null ? (await arg.valuesAt(Float64Array.of(at)))[0]! : null
  }

  override isBadWith(operator: Operator): boolean {
    const { sources, decides } = this.#program
    return operator === this || sources.some((source, i) => decides[i] && source.isBadWith(operator))
  }

  override goodBoundNeeds(place: FindPlace, sink: NeedSink): void {
    const { find, at, count = 1 } = place
    for (const source of this.#program.sources) {
      if (source.varies === 'nothing') continue
      source.goodBoundNeeds(place, sink)
      // Whether there is a good one before it, and where the first one is.
      if (!goesBack(find)) sink.need(source, nearNeed({ find, at, count: 4 * count }))
      else endNeeds(source, place, sink)
    }
  }

  /**
   * Of one source that varies, as lines: where there are several, one may have good points where another has BAD ones,
   * and what bends may cross a limit twice between two good points.
   */
  get signal(): Operator['signal'] {
    const { sources } = this.#program
    const varying = sources.filter(({ varies }) => varies !== 'nothing')
    if (!this.linear || varying.length !== 1 || sources.some(({ signal }) => signal === undefined))
      return undefined
    return async (from, to) => {
      const chunks = await Promise.all(sources.map((source) => source.signal!(from, to)))
      const valuesAt = this.#valuesOf(chunks)
      return { from, to, raw: NO_POINTS, valuesAt, ...breaksOf(chunks, from, to) }
    }
  }

  protected open(range: ChunkRange): ChunkStream {
    return streamOf(this.#chunks(range))
  }

  async *#chunks(range: ChunkRange): AsyncGenerator<Chunk, void> {
    const { sources, width } = this.#program
    const streams = sources.map((source) => source.chunks(range))
    const most = Math.min(range.page, this.context.evaluation.pagePoints(width))
    for await (const aligned of unionStream(streams, range, most)) yield this.#chunk(aligned)
  }

  async #chunk(aligned: AlignedChunks): Promise<Chunk> {
    const { evaluation } = this.context
    const { from, to, chunks, times } = aligned
    const program = this.#program
    evaluation.charge(times.length * program.width)
    const valuesAt = this.#valuesOf(chunks)
    const columns: RawColumn[] = []
    for (const [i, raw] of aligned.raws.entries()) {
      columns.push(alignRaw(raw, times, chunks[i]!))
      if (i % ALIGNED_TOGETHER === ALIGNED_TOGETHER - 1) await evaluation.pause()
    }
    const raw = await program.runRaw(times, columns, evaluation)
    return { from, to, raw, isTrueToRaw: true, valuesAt, ...breaksOf([aligned], from, to) }
  }

  #valuesOf(chunks: readonly Chunk[]): Chunk['valuesAt'] {
    const { evaluation } = this.context
    const program = this.#program
    return (at, limit) => {
      evaluation.charge(at.length * program.width)
      return program.run(
        chunks.map((chunk) => chunk.valuesAt(at, limit)),
        at.length,
      )
    }
  }

  #run(columns: readonly Float64Array[], length: number): Promise<Float64Array> {
    const { evaluation } = this.context
    evaluation.charge(length * this.#program.width)
    return this.#program.runCooperatively(columns, length, evaluation)
  }

  get #program(): MapProgram {
    this.#made ??= new MapProgram(this, (operator) => operator instanceof MapOperator)
    return this.#made
  }
}

function isNumber(operator: Operator): boolean {
  return operator instanceof ConstantLeaf && operator.isComplete
}

/** Raw values of one input at times that hold all of its raw times, and values of its signal at the others. */
export function alignRaw(raw: PointColumns, times: Float64Array, chunk: Chunk): RawColumn {
  const isRaw = new Uint8Array(times.length)
  const isBad = new Uint8Array(times.length)
  if (chunk.isTrueToRaw === true && raw.times.length === times.length && !hasMissing(raw)) {
    for (let i = 0; i < isBad.length; i++) isBad[i] = Number(raw.statuses[i] === STATUS_BAD)
    return { values: raw.values, isRaw: isRaw.fill(1), isBad }
  }
  const values = chunk.valuesAt(times, 'at')
  let own: Float64Array | null = null
  let index = 0
  for (let i = 0; i < raw.times.length; i++) {
    while (times[index]! < raw.times[i]!) index++
    isRaw[index] = 1
    if (raw.statuses[i] !== STATUS_BAD) continue
    isBad[index] = 1
    // The value as it is, and not that of the signal, which passes the point by: others read that column, too.
    own ??= values.slice()
    own[index] = raw.values[i]!
  }
  return { values: own ?? values, isRaw, isBad }
}

/** Whether a raw point that is not BAD has no value: it is passed by as a BAD one is, and does not make one. */
function hasMissing({ values, statuses }: PointColumns): boolean {
  for (let i = 0; i < values.length; i++)
    if (Number.isNaN(values[i]!) && statuses[i] !== STATUS_BAD) return true
  return false
}

function rawColumn(values: Float64Array, isRaw: number, isBad: number): RawColumn {
  return { values, isRaw: Uint8Array.of(isRaw), isBad: Uint8Array.of(isBad) }
}

function larger(a: Instant, b: Instant): Instant {
  return a > b ? a : b
}

function smaller(a: Instant, b: Instant): Instant {
  return a < b ? a : b
}

/** Whether it has a value at all times, or as a tag without gaps has one. */
function isWithoutGap(arg: Operator): boolean {
  return arg.isGapless === true || isNumber(arg)
}
