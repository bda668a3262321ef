import { type PointColumns, STATUS_BAD } from '../../../series/columns.ts'
import type { Instant } from '../../../time/instant.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import type { CurrentPoint, Operator } from '../../graph/operator.ts'
import type { MapRule } from './rule.ts'

/** Values of one tile, all columns together: they stay in the processor's caches. */
const TILE_VALUES = 65_536
/** Arguments of all steps of one tile: some milliseconds' worth, also where one operator is many arguments. */
const TILE_ARGUMENTS = 1_000_000

/** A node that a program is made of: its rule, and the operators that it is applied to. */
export interface MapNode extends Operator {
  readonly rule: MapRule
  readonly args: readonly Operator[]
}

interface Step {
  readonly rule: MapRule
  /** Slots: sources first, then the results of steps, in their order. */
  readonly args: readonly number[]
}

/** Raw values of one source, aligned to times that other sources have too. */
export interface RawColumn {
  readonly values: Float64Array
  /** 1 where the source has a raw point. */
  readonly isRaw: Uint8Array
  /** 1 where that point is BAD. */
  readonly isBad: Uint8Array
}

/**
 * Maps of maps as one list of steps over aligned columns: each step is evaluated once, however often its result is
 * used, and in tiles, whatever the number of sources and times.
 */
export class MapProgram {
  /** Operators that are no maps, each once. */
  readonly sources: readonly Operator[]
  readonly #steps: readonly Step[]
  readonly #tile: number
  /** For each source whether its BAD points make those of the result BAD, whatever the others are. */
  readonly decides: readonly boolean[]
  /** For each source whether the result has no value where it has none. */
  readonly isNeeded: readonly boolean[]
  /** Slots whose BAD points make those of the result BAD. */
  readonly #deciding: readonly number[]

  constructor(root: MapNode, isMap: (operator: Operator) => operator is MapNode) {
    const sources: Operator[] = []
    const nodes: MapNode[] = []
    const seen = new Set<Operator>()
    const visit: Operator[] = [root]
    // Depth first in the order of the arguments, without recursion: an expression may be deep.
    for (let operator = visit.pop(); operator !== undefined; operator = visit.pop()) {
      if (seen.has(operator)) continue
      seen.add(operator)
      if (isMap(operator)) {
        nodes.push(operator)
        visit.push(...operator.args.toReversed())
      } else sources.push(operator)
    }
    // Inputs are made before their operators.
    nodes.sort((a, b) => a.id - b.id)
    const slots = new Map<Operator, number>()
    for (const operator of [...sources, ...nodes]) slots.set(operator, slots.size)
    this.sources = sources
    this.#steps = nodes.map(({ rule, args }) => ({ rule, args: args.map((arg) => slots.get(arg)!) }))
    const args = nodes.reduce((sum, node) => sum + node.args.length, 0)
    const most = Math.min(TILE_VALUES / (slots.size + 1), TILE_ARGUMENTS / args)
    this.#tile = Math.max(16, Math.floor(most))
    const last = slots.size - 1
    const [deciding, needed] = [this.#below(last, alwaysMatters), this.#below(last, isNeeded)]
    this.decides = sources.map((_, i) => deciding.has(i))
    this.isNeeded = sources.map((_, i) => needed.has(i))
    this.#deciding = [...deciding]
  }

  /** Slots below one, itself included, through accepted arguments alone. */
  #below(root: number, accept: (rule: MapRule, argument: number) => boolean): ReadonlySet<number> {
    const found = new Set([root])
    // A set that grows is gone through to its end.
    for (const slot of found) {
      const step = this.#steps[slot - this.sources.length]
      step?.args.forEach((arg, argument) => {
        if (accept(step.rule, argument)) found.add(arg)
      })
    }
    return found
  }

  /**
   * Sources without good raw points of their own, where others lack values. What leaves nulls out has a value without
   * an argument that has none, but the raw points of that argument are BAD, and so are those of the result there.
   */
  withoutGood(isLacking: readonly boolean[]): ReadonlySet<number> {
    const found = new Set<number>()
    for (const slot of this.#deciding) {
      const step = this.#steps[slot - this.sources.length]
      if (step?.rule.leavesNullsOut !== true) continue
      for (const arg of step.args)
        if (
          this.#below(arg, isNeeded)
            .values()
            .some((needed) => isLacking[needed])
        )
          for (const below of this.#below(arg, () => true)) found.add(below)
    }
    return found
  }

  /** Columns that one time takes. */
  get width(): number {
    return this.sources.length + this.#steps.length
  }

  /** Results for columns of the sources, which may be a single value where a source varies with nothing. */
  run(columns: readonly Float64Array[], length: number): Float64Array {
    const result = new Float64Array(length)
    for (const { from, slots } of this.#tiles(columns, length)) result.set(slots.at(-1)!, from)
    return result
  }

  /** The same between which other calls go on. */
  async runCooperatively(
    columns: readonly Float64Array[],
    length: number,
    evaluation: Evaluation,
  ): Promise<Float64Array> {
    const result = new Float64Array(length)
    for (const { from, slots } of this.#tiles(columns, length)) {
      result.set(slots.at(-1)!, from)
      await evaluation.pause()
    }
    return result
  }

  /** Raw points at times of which each is a raw time of a source. */
  async runRaw(
    times: Float64Array,
    sources: readonly RawColumn[],
    evaluation: Evaluation,
  ): Promise<PointColumns> {
    const columns = sources.map(({ values }) => values)
    const values = new Float64Array(times.length)
    const statuses = new Uint8Array(times.length)
    for (const { from, slots } of this.#tiles(columns, times.length)) {
      const result = slots.at(-1)!
      values.set(result, from)
      const isBad = this.#badOf(slots, sources, from)
      for (let i = 0; i < isBad.length; i++)
        if (isBad[i] === 1 || Number.isNaN(result[i]!)) statuses[from + i] = STATUS_BAD
      await evaluation.pause()
    }
    return { times, values, statuses }
  }

  /**
   * The columns of all slots, tile by tile; those of steps are written over from tile to tile. What is not finite is no
   * value.
   */
  *#tiles(columns: readonly Float64Array[], length: number): Generator<Tile, void> {
    const size = Math.min(this.#tile, length)
    const repeated = columns.map((column) =>
      column.length === 1 && size > 1 ? new Float64Array(size).fill(column[0]!) : null,
    )
    const results = this.#steps.map(() => new Float64Array(size))
    for (let from = 0; from < length; from += size) {
      const count = Math.min(size, length - from)
      const slots = columns.map(
        (column, i) => repeated[i]?.subarray(0, count) ?? column.subarray(from, from + count),
      )
      for (const [n, { rule, args }] of this.#steps.entries()) {
        const result = results[n]!.subarray(0, count)
        rule.combine(
          args.map((slot) => slots[slot]!),
          result,
        )
        for (let i = 0; i < count; i++) if (!Number.isFinite(result[i]!)) result[i] = Number.NaN
        slots.push(result)
      }
      yield { from, slots }
    }
  }

  /** Which results of a tile are BAD: step by step, as a raw point of each step would be. */
  #badOf(slots: readonly Float64Array[], sources: readonly RawColumn[], from: number): Uint8Array {
    const to = from + slots[0]!.length
    const statuses: TileStatus[] = sources.map(({ isRaw, isBad }) => ({
      isRaw: isRaw.subarray(from, to),
      isBad: isBad.subarray(from, to),
    }))
    for (const { rule, args } of this.#steps) {
      const columns = args.map((slot) => slots[slot]!)
      const states = args.map((slot) => statuses[slot]!)
      statuses.push(statusOf(rule, columns, states, slots[statuses.length]!))
    }
    return statuses.at(-1)!.isBad
  }

  /** The current point from those of the sources. */
  current(points: readonly (CurrentPoint | null)[]): CurrentPoint | null {
    const slots = [...points]
    for (const { rule, args } of this.#steps)
      slots.push(
        currentOf(
          rule,
          args.map((slot) => slots[slot]!),
        ),
      )
    return slots.at(-1)!
  }
}

/** Whether what an argument is matters to the result, whatever the other arguments are. */
function alwaysMatters({ matters }: MapRule, argument: number): boolean {
  return matters === undefined || argument === 0
}

function isNeeded(rule: MapRule, argument: number): boolean {
  return rule.leavesNullsOut !== true && alwaysMatters(rule, argument)
}

interface Tile {
  /** Index of its first time. */
  readonly from: number
  readonly slots: readonly Float64Array[]
}

interface TileStatus {
  readonly isRaw: Uint8Array
  readonly isBad: Uint8Array
}

function statusOf(
  { matters }: MapRule,
  columns: readonly Float64Array[],
  states: readonly TileStatus[],
  result: Float64Array,
): TileStatus {
  const isRaw = new Uint8Array(result.length)
  const isBad = new Uint8Array(result.length)
  states.forEach((state, argument) => {
    for (let i = 0; i < result.length; i++) {
      if (state.isRaw[i] === 1) isRaw[i] = 1
      if (state.isBad[i] === 1 && (matters === undefined || matters(columns, i, argument))) isBad[i] = 1
    }
  })
  for (let i = 0; i < result.length; i++) if (isRaw[i] === 1 && Number.isNaN(result[i]!)) isBad[i] = 1
  return { isRaw, isBad }
}

function currentOf(rule: MapRule, points: readonly (CurrentPoint | null)[]): CurrentPoint | null {
  const columns = points.map((point) => Float64Array.of(point?.value ?? Number.NaN))
  const matters = (argument: number): boolean => rule.matters?.(columns, 0, argument) ?? true
  const leavesOut = rule.leavesNullsOut === true
  if (points.every((point) => point === null)) return null
  if (!leavesOut && points.some((point, i) => point === null && matters(i))) return null
  let time: Instant | null = null
  let bad = false
  points.forEach((point, i) => {
    if (point === null) return
    if (point.time !== null && (time === null || point.time > time)) time = point.time
    // A constant without a value is no point that could be BAD.
    bad ||= point.bad && !(leavesOut && point.time === null) && matters(i)
  })
  const result = new Float64Array(1)
  rule.combine(columns, result)
  const value = Number.isFinite(result[0]!) ? result[0]! : Number.NaN
  return { time, value, bad: bad || Number.isNaN(value) }
}
