import { type Side, valueBetween } from '../../series/interpolate.ts'
import type { Row } from '../graph/array-source.fixture.ts'
import {
  type Compared,
  type Elementwise,
  inputsOf,
  isConstant,
  type Model,
} from './conditioning-model.fixture.ts'

export interface World {
  readonly now: number
  /** Of the request; equal for one instant. */
  readonly from: number
  readonly to: number
}

export interface Raw {
  readonly time: number
  readonly value: number
  readonly bad: boolean
}

/** All points and ranges lie well inside, and moved ones too. */
const FIRST = -300
const LAST = 400

type Sides = Side | 'after'

/**
 * The functions of logic and conditioning, worked out the slow and obvious way over a few dozen microseconds: every
 * whole one is looked at. What the engine's own are compared with.
 */
export class SlowConditioning {
  readonly #world: World
  readonly #memo = new Map<Model, Map<string, unknown>>()
  /** The same for requests moved by a time. */
  readonly #others = new Map<number | string, SlowConditioning>()

  constructor(world: World) {
    this.#world = world
  }

  valueAt(model: Model, at: number, side: Sides = 'at'): number {
    return this.#once(model, `${at} ${side}`, () => {
      const value = this.#valueAt(model, at, side)
      return Number.isFinite(value) ? value : Number.NaN
    })
  }

  #valueAt(model: Model, at: number, side: Sides): number {
    switch (model.kind) {
      case 'constant':
        return model.value
      case 'tag':
        return this.#joined(model, goodRows(model.rows), model.stepped, at, side)
      case 'add':
        return this.valueAt(model.a, at, side) + this.valueAt(model.b, at, side)
      case 'mul':
        return this.valueAt(model.a, at, side) * this.valueAt(model.b, at, side)
      case 'threshold':
      case 'equals':
        return chosen(
          this.answer(model, at, side),
          this.valueAt(model.yes, at, side),
          this.valueAt(model.no, at, side),
        )
      case 'time': {
        const isAfter = side === 'before' ? at > model.at : at >= model.at
        return this.valueAt(isAfter ? model.after : model.before, at, side)
      }
      case 'stepped':
      case 'steppedraw': {
        if (this.isStepped(model.a)) return this.valueAt(model.a, at, side)
        const vertices = this.raws(model.a).filter(({ value, bad }) => !bad || Number.isNaN(value))
        return this.#joined(model, vertices, true, at, side)
      }
      case 'nobad':
        return this.valueAt(model.a, at, side)
      case 'epoch': {
        const last = side === 'before' ? at - 1 : at
        return (this.raws(model.a).findLast(({ time }) => time <= last)?.time ?? Number.NaN) / 1000
      }
      case 'shift':
        return this.#moved(model.us).valueAt(model.a, at + model.us, side)
      case 'point': {
        const there = this.#world.now + model.us
        return new SlowConditioning({ ...this.#world, from: there, to: there }).valueAt(model.a, there)
      }
      case 'lowpass':
        return isConstant(model.a)
          ? this.valueAt(model.a, at)
          : this.#joined(model, this.raws(model), false, at, side)
      case 'highpass':
        return this.valueAt(this.#inputOf(model), at, side) - this.valueAt(this.#lowOf(model), at, side)
      case 'wider':
        return this.#from(model.us).valueAt(model.a, at, side)
    }
  }

  /** 1, 0 or NaN. */
  answer(model: Compared, at: number, side: Sides): number {
    // With step interpolation it switches where its inputs do, and crosses nowhere in between.
    const isStepped = this.isStepped(model.a) && this.isStepped(model.b)
    if (side === 'at' || isStepped) return this.#answerAt(model, at, side)
    const [first, last] = side === 'before' ? [at - 1, at] : [at, at + 1]
    const earlier = this.#answerAt(model, first, 'at')
    const later = this.#answerAt(model, last, 'before')
    const own = side === 'before' ? later : earlier
    if (Number.isNaN(earlier) || Number.isNaN(later) || earlier === later) return own
    return this.#isEarly(model, first) ? later : earlier
  }

  #answerAt(model: Compared, at: number, side: Sides): number {
    const [a, b] = [this.valueAt(model.a, at, side), this.valueAt(model.b, at, side)]
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN
    if (model.kind === 'threshold') return Number(a >= b)
    if (!model.percent) return Number(Math.abs(a - b) <= model.precision)
    return Number((a === 0 && b === 0) || Math.abs((a - b) / ((a + b) / 2)) * 100 <= model.precision)
  }

  /** How far the comparison is from changing its answer; several for a band. */
  gaps(model: Compared, at: number, side: Side): readonly number[] {
    const [a, b] = [this.valueAt(model.a, at, side), this.valueAt(model.b, at, side)]
    if (model.kind === 'threshold') return [a - b]
    if (!model.percent) return [a - b - model.precision, a - b + model.precision]
    const p = model.precision
    return [(200 - p) * a - (200 + p) * b, (200 + p) * a - (200 - p) * b]
  }

  /** Whether an answer that changes after `first` does so in the nearer half of the microsecond. */
  #isEarly(model: Compared, first: number): boolean {
    const before = this.gaps(model, first, 'at')
    const after = this.gaps(model, first + 1, 'before')
    for (const [i, g] of before.entries()) {
      const h = after[i]!
      if (g !== h && Math.sign(g) * Math.sign(h) <= 0) return g / (g - h) < 0.5
    }
    return false
  }

  isStepped(model: Model): boolean {
    switch (model.kind) {
      case 'tag':
        return model.stepped
      case 'add':
      case 'mul':
        return this.isStepped(model.a) && this.isStepped(model.b)
      case 'threshold':
      case 'equals':
        return this.isStepped(model.yes) && this.isStepped(model.no)
      case 'time':
        return this.isStepped(model.before) && this.isStepped(model.after)
      case 'nobad':
      case 'shift':
      case 'wider':
        return this.isStepped(model.a)
      case 'lowpass':
      case 'highpass':
        return isConstant(model.a)
      default:
        return true
    }
  }

  /** All raw points, ascending. */
  raws(model: Model): readonly Raw[] {
    return this.#once(model, 'raws', () => this.#raws(model))
  }

  #raws(model: Model): readonly Raw[] {
    switch (model.kind) {
      case 'constant':
      case 'point':
        return []
      case 'tag':
        return model.rows.map(([time, value, bad]) => ({ time, value, bad: bad ?? false }))
      case 'stepped':
      case 'steppedraw':
        return this.raws(model.a)
      case 'nobad':
        return this.raws(model.a).filter(({ bad }) => !bad)
      case 'epoch':
        return this.raws(model.a).map((raw) => ({ ...raw, value: raw.time / 1000 }))
      case 'shift':
        return this.#moved(model.us)
          .raws(model.a)
          .map((raw) => ({ ...raw, time: raw.time - model.us }))
      case 'lowpass': {
        const start = this.#world.from - 5 * model.periodUs
        let last: Raw | null = null
        return this.raws(this.#inputOf(model))
          .filter(({ time, bad }) => time >= start && !bad)
          .map(({ time, value: x }) => {
            const share: number =
              last === null ? 1 : 1 - Math.exp((-2 * Math.PI * (time - last.time)) / model.periodUs)
            const value: number = last === null ? x : last.value + share * (x - last.value)
            last = { time, value, bad: false }
            return last
          })
      }
      case 'wider':
        return this.#from(model.us).raws(model.a)
      default:
        return this.#union(model)
    }
  }

  /** Of what is computed from the values of its inputs at the same time. */
  #union(model: Elementwise): readonly Raw[] {
    const inputs = model.kind === 'highpass' ? [this.#inputOf(model), this.#lowOf(model)] : inputsOf(model)
    const times = new Set(inputs.flatMap((input) => this.raws(input).map(({ time }) => time)))
    if (model.kind === 'time') times.add(model.at).add(model.at - 1)
    if (model.kind === 'threshold' || model.kind === 'equals') {
      for (let t = FIRST; t < LAST; t++) {
        const earlier = this.#answerAt(model, t, 'at')
        const later = this.#answerAt(model, t + 1, 'before')
        if (Number.isNaN(earlier) || Number.isNaN(later) || earlier === later) continue
        times.add(t + 1)
        if (this.#isEarly(model, t)) times.add(t)
      }
    }
    return [...times]
      .sort((a, b) => a - b)
      .map((time): Raw => {
        const points = inputs.map(
          (input) =>
            this.raws(input).find((raw) => raw.time === time) ?? {
              value: this.valueAt(input, time),
              bad: false,
            },
        )
        const constants = points.map(({ value }): Model => ({ kind: 'constant', value }))
        const [value, taken] = this.#ofPoints(model, time, constants)
        const bad = points.some((point, i) => point.bad && taken[i])
        return { time, value, bad: bad || Number.isNaN(value) }
      })
  }

  /** The value of constants in place of the inputs, and which of them have a say. */
  #ofPoints(
    model: Elementwise,
    time: number,
    inputs: readonly Model[],
  ): readonly [value: number, taken: readonly boolean[]] {
    const [first, second, third, fourth] = inputs as [Model, Model, Model, Model]
    switch (model.kind) {
      case 'add':
      case 'mul':
        return [this.valueAt({ ...model, a: first, b: second }, 0), [true, true]]
      case 'highpass':
        return [this.valueAt(first, 0) - this.valueAt(second, 0), [true, true]]
      case 'time': {
        const isAfter = time >= model.at
        return [this.valueAt(isAfter ? second : first, 0), [!isAfter, isAfter]]
      }
      case 'threshold':
      case 'equals': {
        const made = { ...model, a: first, b: second, yes: third, no: fourth }
        const answer = this.#answerAt(made, 0, 'at')
        return [this.valueAt(made, 0), [true, true, answer === 1, answer === 0]]
      }
    }
  }

  #lowOf(model: Model & { readonly kind: 'lowpass' | 'highpass' }): Model {
    return this.#once(model, 'low', () => ({ ...model, kind: 'lowpass' }))
  }

  /** Integral over [from, to], on the line from raw point to raw point. */
  integral(model: Model, from: number, to: number): { readonly sum: number; readonly covered: number } {
    let sum = 0
    let covered = 0
    for (let t = from; t < to; t++) {
      const area = this.#once(model, `area ${t}`, () => this.#area(model, t))
      if (Number.isNaN(area)) continue
      sum += area
      covered++
    }
    return { sum, covered }
  }

  #area(model: Model, t: number): number {
    const raws = this.raws(model)
    const before = raws.findLast(({ time }) => time <= t)?.time
    const after = raws.find(({ time }) => time > t)?.time
    if (before === undefined || after === undefined) {
      return (this.valueAt(model, t, 'after') + this.valueAt(model, t + 1, 'before')) / 2
    }
    const first = this.valueAt(model, before, 'after')
    const last = this.valueAt(model, after, 'before')
    const end = Number.isNaN(last) ? this.#endOfHold(model, before, after) : null
    if (end !== null) {
      if (t >= end) return Number.NaN
      return first + ((this.valueAt(model, end, 'before') - first) * (t + 0.5 - before)) / (end - before)
    }
    return first + ((last - first) * (t + 0.5 - before)) / (after - before)
  }

  #from(us: number): SlowConditioning {
    const { now, from, to } = this.#world
    return this.#others.getOrInsertComputed(
      `from ${us}`,
      () => new SlowConditioning({ now, from: from - us, to }),
    )
  }

  #inputOf(model: Model & { readonly kind: 'lowpass' | 'highpass' }): Model {
    return this.#once(model, 'input', () => ({ kind: 'wider', a: model.a, us: 5 * model.periodUs }))
  }

  /** Between two raw points, where one of its holds ends; `null` when none does. */
  #endOfHold(model: Model, before: number, after: number): number | null {
    const ends = [...this.#extrapolationLimits(model)]
      .filter((end) => before < end && end < after)
      .sort((a, b) => a - b)
    const ended = (end: number) => Number.isNaN(this.valueAt(model, end + 1, 'before'))
    return ends.find((end, i) => ended(end) || i + 1 === ends.length) ?? null
  }

  #extrapolationLimits(model: Model): ReadonlySet<number> {
    switch (model.kind) {
      case 'constant':
      case 'point':
        return new Set()
      case 'tag':
        return new Set([this.#world.now])
      case 'shift':
        return new Set([...this.#extrapolationLimits(model.a)].map((end) => end - model.us))
      case 'add':
      case 'mul':
      case 'threshold':
      case 'equals':
      case 'time':
        return new Set(inputsOf(model).flatMap((input) => [...this.#extrapolationLimits(input)]))
      default:
        return this.#extrapolationLimits(model.a)
    }
  }

  #moved(us: number): SlowConditioning {
    const { now, from, to } = this.#world
    return this.#others.getOrInsertComputed(
      us,
      () => new SlowConditioning({ now, from: from + us, to: to + us }),
    )
  }
  /** A signal through points; one without a value ends it. */
  #joined(
    model: Model,
    vertices: readonly { readonly time: number; readonly value: number }[],
    stepped: boolean,
    at: number,
    side: Sides,
  ): number {
    const last = side === 'before' ? at - 1 : at
    const before = vertices.findLast(({ time }) => time <= last)
    const after = vertices.find(({ time }) => time > last)
    if (before === undefined) return Number.NaN
    if (before.time === at) return before.value
    if (after === undefined)
      return at <= Math.max(...this.#extrapolationLimits(model)) ? before.value : Number.NaN
    return stepped ? before.value : valueBetween(at, before.time, before.value, after.time, after.value)
  }

  #once<Value>(model: Model, key: string, make: () => Value): Value {
    const made = this.#memo.getOrInsertComputed(model, () => new Map())
    if (!made.has(key)) made.set(key, make())
    return made.get(key) as Value
  }
}

function goodRows(rows: readonly Row[]): readonly { readonly time: number; readonly value: number }[] {
  return rows.flatMap(([time, value, bad]) => (bad ? [] : [{ time, value }]))
}

function chosen(answer: number, yes: number, no: number): number {
  return Number.isNaN(answer) ? Number.NaN : answer === 1 ? yes : no
}
