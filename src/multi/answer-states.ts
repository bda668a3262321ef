import type { SinglePoint } from '../calc/graph/point-source.ts'
import type { PointColumns } from '../series/columns.ts'
import type { TagStates } from '../series/optional-metadata.ts'
import type { TimeZone } from '../time/zone.ts'
import { pointText, pointTexts } from './answer-points.ts'

/** Rows that are written at a time. */
const ROWS = 512

/** Points of a tag whose values have names: each carries that of its value, BAD ones too, null where there is none. */
export class StateTexts {
  readonly #states: TagStates
  /** Names as JSON, by the values that were met. */
  readonly #names = new Map<number, string>()

  constructor(states: TagStates) {
    this.#states = states
  }

  /** `{"0":"Closed","1":"Open"}` */
  get dictionary(): string {
    return JSON.stringify(this.#states)
  }

  point(point: SinglePoint, zone: TimeZone): string {
    return this.#withName(pointText(point, zone), point.value)
  }

  /** Points as an array of objects. */
  *rows(points: PointColumns, zone: TimeZone): Generator<string> {
    const { times, values } = points
    const textAt = pointTexts(points, zone)
    yield '['
    for (let start = 0; start < times.length; start += ROWS) {
      let text = ''
      for (let i = start; i < Math.min(start + ROWS, times.length); i++) {
        text += `${i === 0 ? '' : ','}${this.#withName(textAt(i), values[i]!)}`
      }
      yield text
    }
    yield ']'
  }

  /** The names of values as a further column. */
  *column(values: Float64Array): Generator<string> {
    yield ',"states":['
    for (let start = 0; start < values.length; start += ROWS) {
      const names = Array.from(values.subarray(start, start + ROWS), (value) => this.#nameOf(value))
      yield `${start === 0 ? '' : ','}${names.join(',')}`
    }
    yield ']'
  }

  #withName(point: string, value: number): string {
    return `${point.slice(0, -1)},"enumString":${this.#nameOf(value)}}`
  }

  #nameOf(value: number): string {
    const known = this.#names.get(value)
    if (known !== undefined) return known
    // -0 is written as 0, too.
    const key = String(value)
    if (!Object.hasOwn(this.#states, key)) return 'null'
    const name = JSON.stringify(this.#states[key])
    this.#names.set(value, name)
    return name
  }
}
