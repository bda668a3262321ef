import { type TagStates, UNNAMED_STATES } from './optional-metadata.ts'

/** One state in one window. */
export interface StateTime {
  /** Index of its name. */
  readonly state: number
  /** Microseconds in which the signal has it; above 0. */
  readonly us: number
  /** Segments of the signal in it that meet the window, adjoining ones counted as one; at least 1. */
  readonly visits: number
}

/** How long the signal of a tag with states was in each. */
export interface StatesOfWindows {
  /** The names of the tag in the order of their values, then the one for all values without a name. */
  readonly names: readonly string[]
  /** Of each window the states that it meets, in the order of `names`. */
  readonly windows: readonly (readonly StateTime[])[]
}

/** Of a window without a value, and of one without length. */
export const NO_STATES: readonly StateTime[] = []

/**
 * The states of a signal over windows that join, fed with its linear segments in their order; memory is that of what
 * the windows meet. The signal is stepped: a segment has the value at its start.
 */
export class StateWindows {
  readonly #edges: Float64Array
  readonly #names: readonly string[]
  readonly #indexes: ReadonlyMap<number, number>
  /** Of the window that is fed, by the index of the name. */
  readonly #us: Float64Array
  readonly #visits: Float64Array
  readonly #windows: (readonly StateTime[])[] = []
  /** The last segment: its state, and where it ended. */
  #state = -1
  #until = Number.NaN

  /** @param edges  n + 1 ascending instants for n windows [edge, next edge) */
  constructor(edges: Float64Array, states: TagStates) {
    this.#edges = edges
    // An object has keys such as `1` before those such as `-1`.
    const sorted = Object.entries(states)
      .map(([value, name]) => ({ value: Number(value), name }))
      .sort((a, b) => a.value - b.value)
    this.#names = [...sorted.map(({ name }) => name), UNNAMED_STATES]
    // Keys of a map are equal where numbers are: -0 is 0.
    this.#indexes = new Map(sorted.map(({ value }, index) => [value, index]))
    this.#us = new Float64Array(this.#names.length)
    this.#visits = new Float64Array(this.#names.length)
  }

  /** A segment from a value at `time1` to `time2`; where there is none the signal has no value. */
  segment(time1: number, value: number, time2: number): void {
    const edges = this.#edges
    const state = this.#indexes.get(value) ?? this.#names.length - 1
    const goesOn = state === this.#state && time1 === this.#until
    this.#state = state
    this.#until = time2
    const last = edges.length - 1
    while (this.#windows.length < last) {
      const start = edges[this.#windows.length]!
      const end = edges[this.#windows.length + 1]!
      if (time1 < end) {
        const from = Math.max(start, time1)
        const us = Math.min(end, time2) - from
        if (us > 0) {
          this.#us[state]! += us
          // What goes on inside the window was counted with its first segment there.
          if (!goesOn || from === start) this.#visits[state]!++
        }
        if (time2 < end) return
      }
      this.#closeWindow()
    }
  }

  /** The windows, once all segments were fed. */
  finish(): StatesOfWindows {
    while (this.#windows.length < this.#edges.length - 1) this.#closeWindow()
    return { names: this.#names, windows: this.#windows }
  }

  #closeWindow(): void {
    const met: StateTime[] = []
    this.#visits.forEach((visits, state) => {
      if (visits > 0) met.push({ state, us: this.#us[state]!, visits })
    })
    this.#windows.push(met.length === 0 ? NO_STATES : met)
    this.#us.fill(0)
    this.#visits.fill(0)
  }
}
