import type { Side } from '../series/interpolate.ts'
import type { Row } from './graph/array-source.fixture.ts'
import { type SlowName, slowValue } from './slow-functions.fixture.ts'

/**
 * Calculations worked out the slow and obvious way, microsecond by microsecond over a few dozen of them: what the
 * engine is compared with. It shares no code with it.
 */
export type Model =
  | { readonly kind: 'tag'; readonly name: string; readonly stepped: boolean; readonly rows: readonly Row[] }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'call'; readonly name: SlowName; readonly inputs: readonly Model[] }
  | {
      readonly kind: 'total'
      readonly input: Model
      readonly window: Windows
      readonly rateUs: number
    }

export type Windows =
  | { readonly kind: 'laid'; readonly us: number; readonly anchor: number }
  | { readonly kind: 'dynamic'; readonly us: number; readonly shift: number }

export interface World {
  readonly now: number
  /** The request's range; equal for one instant. */
  readonly from: number
  readonly to: number
}

/** Times with which the reference works; far enough around the points that nothing lies outside. */
const FIRST = -60
const LAST = 140

export interface RawPoint {
  readonly time: number
  readonly value: number
  readonly bad: boolean
}

export class Reference {
  readonly #world: World
  readonly #memo = new Map<Model, Map<string, unknown>>()

  constructor(world: World) {
    this.#world = world
  }

  valueAt(model: Model, at: number, side: Side = 'at'): number {
    return this.#once(model, `value ${at} ${side}`, () => {
      const value = this.#valueAt(model, at, side)
      return Number.isFinite(value) ? value : Number.NaN
    })
  }

  #valueAt(model: Model, at: number, side: Side): number {
    switch (model.kind) {
      case 'constant':
        return model.value
      case 'tag':
        return this.#signalAt(model, at, side)
      case 'call':
        return slowValue(
          model.name,
          model.inputs.map((input) => this.valueAt(input, at, side)),
        )
      case 'total': {
        const { window, rateUs } = model
        if (window.kind === 'dynamic') {
          const end = at + window.shift
          return this.integral(model.input, end - window.us, end) / rateUs
        }
        const phase =
          side === 'before' ? mod(at - 1 - window.anchor, window.us) + 1 : mod(at - window.anchor, window.us)
        return this.integral(model.input, at - phase, at) / rateUs
      }
    }
  }

  #signalAt(model: Model & { readonly kind: 'tag' }, at: number, side: Side): number {
    const good = model.rows.filter(([, , bad]) => !bad)
    const last = side === 'before' ? at - 1 : at
    const before = good.findLast(([time]) => time <= last)
    const after = good.find(([time]) => time > last)
    if (before === undefined) return Number.NaN
    // The last value ends with `now`, or with its own point beyond: right after that there is none any more.
    if (after === undefined && side === 'after') return at < this.#world.now ? before[1] : Number.NaN
    if (before[0] === at) return before[1]
    if (after === undefined) return at <= this.#world.now ? before[1] : Number.NaN
    if (model.stepped) return before[1]
    return before[1] + ((after[1] - before[1]) * (at - before[0])) / (after[0] - before[0])
  }

  /** Ascending. */
  rawTimes(model: Model): readonly number[] {
    return this.#once(model, 'raw times', () => {
      const times = new Set<number>()
      const add = (more: readonly number[]) => {
        for (const time of more) times.add(time)
      }
      switch (model.kind) {
        case 'constant':
          break
        case 'tag':
          add(model.rows.map(([time]) => time))
          break
        case 'call':
          for (const input of model.inputs) add(this.rawTimes(input))
          break
        case 'total': {
          add(this.rawTimes(model.input))
          if (this.#world.from < this.#world.to) add([this.#world.from, this.#world.to])
          const { window } = model
          for (let t = FIRST; t <= LAST && window.kind === 'laid'; t++) {
            if (mod(t - window.anchor, window.us) === 0) add([t - 1, t])
          }
        }
      }
      return [...times].sort((a, b) => a - b)
    })
  }

  rawPoint(model: Model, time: number): RawPoint {
    const { value, bad } = this.#raw(model, time)
    return { time, value, bad: bad || Number.isNaN(value) }
  }

  #raw(model: Model, time: number): { value: number; bad: boolean } {
    if (!this.rawTimes(model).includes(time)) return { value: this.valueAt(model, time), bad: false }
    switch (model.kind) {
      case 'constant':
        return { value: model.value, bad: false }
      case 'tag': {
        const [, value, bad] = model.rows.find(([at]) => at === time)!
        return { value, bad: bad ?? false }
      }
      case 'call': {
        const points = model.inputs.map((input) => this.#raw(input, time))
        const value = slowValue(
          model.name,
          points.map((point) => point.value),
        )
        return { value, bad: Number.isNaN(value) || points.some((point) => point.bad) }
      }
      case 'total':
        return { value: this.valueAt(model, time), bad: this.#raw(model.input, time).bad }
    }
  }

  /** Integral of the signal between raw points, in unit times microseconds. */
  integral(model: Model, from: number, to: number): number {
    let sum = 0
    for (let t = Math.max(from, FIRST); t < Math.min(to, LAST); t++) sum += this.#area(model, t) ?? 0
    return sum
  }

  /** Microseconds of [from, to] that have a value. */
  covered(model: Model, from: number, to: number): number {
    let covered = 0
    for (let t = from; t < to; t++) if (this.#area(model, t) !== null) covered++
    return covered
  }

  /**
   * Integral from t to t + 1; `null` without a value. A line begins with the limit from the right: an input whose last
   * value ends at a raw point of another one has no value behind it, where functions that leave nulls out go on
   * without it, as they do at every instant there. With its value at that point a ramp would lead on to the next one,
   * however far away.
   */
  #area(model: Model, t: number): number | null {
    return this.#once(model, `area ${t}`, () => {
      const raw = this.rawTimes(model)
      const before = raw.findLast((time) => time <= t)
      const after = raw.find((time) => time > t)
      if (before === undefined || after === undefined) {
        return definite((this.valueAt(model, t, 'after') + this.valueAt(model, t + 1, 'before')) / 2)
      }
      const value1 = this.valueAt(model, before, 'after')
      const value2 = this.valueAt(model, after, 'before')
      const { now } = this.#world
      if (!Number.isNaN(value1) && !Number.isNaN(value2)) {
        return definite(value1 + ((value2 - value1) * (t + 0.5 - before)) / (after - before))
      }
      if (before < now && now < after && t < now) {
        const value = this.valueAt(model, now, 'before')
        return definite(value1 + ((value - value1) * (t + 0.5 - before)) / (now - before))
      }
      return null
    })
  }

  #once<Value>(model: Model, key: string, make: () => Value): Value {
    let memo = this.#memo.get(model)
    if (memo === undefined) {
      memo = new Map()
      this.#memo.set(model, memo)
    }
    if (!memo.has(key)) memo.set(key, make())
    return memo.get(key) as Value
  }
}

function definite(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

function mod(a: number, b: number): number {
  return ((a % b) + b) % b
}
