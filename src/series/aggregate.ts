import { TidemarkError } from '../errors/tidemark-error.ts'
import { type AggregateColumns, type AggregateName, aggregateOf } from './aggregate-names.ts'
import { lowerBound, type PointColumns, upperBoundFrom } from './columns.ts'
import { Extremes } from './extremes.ts'
import { GoodValues } from './good-values.ts'
import { Moments } from './moments.ts'
import { increaseOf, PointRuns, type Rises, type RunUses } from './point-runs.ts'
import { type SignalWindow, SignalWindows } from './signal-windows.ts'
import type { ZoneMap } from './zone-map.ts'

/** Aggregates over windows that join, fed with all points of the range page by page; memory is that of one window. */
export class WindowAggregator {
  readonly #edges: Float64Array
  readonly #columns: readonly Column[]
  /** Those of them that go on from window to window. */
  readonly #ofRuns: readonly Column[]
  /** States of the window that is fed; only of the aggregates that need them. */
  readonly #moments: Moments | null
  readonly #values: GoodValues | null
  readonly #extremes: Extremes | null
  readonly #runs: PointRuns | null
  /** Of each window that has ended; only when they are needed. */
  readonly #rises: Rises[] | null
  #index = 0

  /**
   * @param edges  n + 1 ascending instants for n windows [edge, next edge)
   * @param names  those to compute; those over the signal are left out (see SignalWindows)
   * @param now    where the last point ceases to count; only for aggregates of points in their order
   */
  constructor(edges: Float64Array, names: readonly AggregateName[], now = Number.POSITIVE_INFINITY) {
    this.#edges = edges
    const states = {
      moments: new Moments(names.some((name) => aggregateOf(name).ofSquares === true)),
      values: new GoodValues(),
      extremes: new Extremes(),
      runs: new PointRuns(now, runUses(names)),
    }
    const columns: Column[] = []
    for (const name of names) {
      const value = readerOf(name, states)
      if (value === null) continue
      const column = new Float64Array(Math.max(0, edges.length - 1))
      columns.push({ name, column, value, goesOn: aggregateOf(name).state === 'runs' })
    }
    this.#columns = columns
    this.#ofRuns = columns.filter(({ goesOn }) => goesOn)
    const uses = (state: string) => names.some((name) => aggregateOf(name).state === state)
    this.#moments = uses('moments') ? states.moments : null
    this.#values = uses('values') ? states.values : null
    this.#extremes = uses('extremes') ? states.extremes : null
    this.#rises = uses('counter') ? [] : null
    this.#runs = uses('runs') || uses('counter') ? states.runs : null
    this.#runs?.begin(edges[0]!)
  }

  /**
   * The next page, ascending and after all before. Of points before the windows the last one, and the last good one,
   * are taken by aggregates of points in their order; others, and those after the windows, are left out.
   */
  add(points: PointColumns): void {
    const { times } = points
    const edges = this.#edges
    let at = lowerBound(times, edges[0]!)
    if (at > 0 && this.#runs !== null) {
      this.#runs.add(points, 0, at)
      this.#runs.begin(edges[0]!)
    }
    while (at < times.length && this.#index < edges.length - 1) {
      const windowEnd = edges[this.#index + 1]!
      if (times[at]! >= windowEnd) {
        this.#closeUpTo(times[at]!)
        continue
      }
      const end = times[times.length - 1]! < windowEnd ? times.length : lowerBound(times, windowEnd)
      this.#moments?.add(points, at, end, end < times.length)
      this.#values?.add(points, at, end)
      this.#extremes?.add(points, at, end)
      this.#runs?.add(points, at, end)
      at = end
    }
  }

  /**
   * Whether the next points can be added by their summary: all of them fall into one window or into none, and it has
   * what the aggregates take. Never when the points themselves are needed.
   */
  takes(summary: ZoneMap): boolean {
    const { firstTime, lastTime } = summary
    if (this.#values !== null) return false
    const edges = this.#edges
    if (this.#index < edges.length - 1 && firstTime >= edges[this.#index + 1]!) this.#closeUpTo(firstTime)
    if (this.#index === edges.length - 1) return true
    // Aggregates that take points in their order begin with the points before the windows.
    if (lastTime < edges[0]!) return this.#runs === null
    if (firstTime < edges[this.#index]! || lastTime >= edges[this.#index + 1]!) return false
    return (this.#extremes?.takes(summary) ?? true) && (this.#runs?.takes(summary) ?? true)
  }

  /** The next points by their summary; only after `takes` said yes to it. */
  addSummary(summary: ZoneMap): void {
    if (this.#index === this.#edges.length - 1 || summary.lastTime < this.#edges[0]!) return
    if (this.#values !== null) throw new TidemarkError('BUG', { what: 'a median has all of its points' })
    this.#moments?.merge(summary)
    this.#extremes?.addSummary(summary)
    this.#runs?.addSummary(summary)
  }

  /** How many windows have ended, as far as they are known. */
  get closed(): number {
    return this.#index
  }

  /** The aggregates over raw points, once all points were fed. */
  finish(): AggregateColumns {
    this.#closeUpTo(Number.POSITIVE_INFINITY)
    return Object.fromEntries(this.#columns.map(({ name, column }) => [name, column]))
  }

  /** The good points of each window as a counter, once all points were fed. */
  rises(): readonly Rises[] {
    this.finish()
    return this.#rises ?? []
  }

  /** Closes the windows that end at or before an instant, of which only the first can have points. */
  #closeUpTo(time: number): void {
    const edges = this.#edges
    const windows = edges.length - 1
    if (this.#index === windows) return
    this.#closeWindow()
    if (this.#index === windows || edges[this.#index + 1]! > time) return
    const end = time === Number.POSITIVE_INFINITY ? windows : upperBoundFrom(edges, time, this.#index) - 1
    // An empty window is as the next one, but for what goes on from the points before it.
    for (const { column, value, goesOn } of this.#columns) {
      if (!goesOn) column.fill(finite(value()), this.#index, end)
    }
    if (this.#runs === null) this.#index = end
    else this.#closeEmpty(this.#runs, end)
  }

  /** Closes windows without points up to an index: what goes on from the points before them. */
  #closeEmpty(runs: PointRuns, end: number): void {
    const edges = this.#edges
    const { rises } = runs
    for (; this.#index < end; this.#index++) {
      const edge = edges[this.#index + 1]!
      runs.end(edge)
      for (const { column, value } of this.#ofRuns) column[this.#index] = finite(value())
      this.#rises?.push(rises)
      runs.begin(edge)
    }
  }

  #closeWindow(): void {
    const end = this.#edges[this.#index + 1]!
    this.#runs?.end(end)
    for (const { column, value } of this.#columns) column[this.#index] = finite(value())
    if (this.#runs !== null) this.#rises?.push(this.#runs.rises)
    this.#moments?.reset()
    this.#values?.reset()
    this.#extremes?.reset()
    this.#runs?.begin(end)
    this.#index++
  }
}

function runUses(names: readonly AggregateName[]): RunUses {
  return {
    durations: names.includes('durationGood') || names.includes('durationBad'),
    transitions: names.includes('numTransitions'),
    rises: names.some((name) => aggregateOf(name).state === 'counter'),
  }
}

/** Aggregates that take the raw points before the window along: the last one, and the last good one. */
export function takesPointsBefore(names: readonly AggregateName[]): boolean {
  return names.some((name) => aggregateOf(name).state === 'runs' || aggregateOf(name).state === 'counter')
}

/** Aggregates over the signal, perhaps beside raw points. */
export function takesSignal(names: readonly AggregateName[]): boolean {
  return names.some((name) => aggregateOf(name).state === 'signal' || aggregateOf(name).state === 'counter')
}

const OF_BOUNDS: readonly AggregateName[] = ['startBound', 'endBound', 'deltaBounds', 'increase']

/** Whether the values of the signal where windows begin and end are needed. */
export function takesBounds(names: readonly AggregateName[]): boolean {
  return names.some((name) => OF_BOUNDS.includes(name))
}

/** The aggregates over the signal, and those over both: so many windows at a time, as there can be very many. */
export class SignalAggregates {
  readonly columns: AggregateColumns
  readonly #readers: readonly SignalReader[]
  readonly #windows: Iterator<SignalWindow, void>
  readonly #length: number
  #index = 0

  /** @param rises of each window, for those over both */
  constructor(
    signal: SignalWindows,
    rises: readonly Rises[],
    names: readonly AggregateName[],
    stepped: boolean,
  ) {
    const columns: { [name in AggregateName]?: Float64Array } = {}
    const readers: SignalReader[] = []
    for (const name of names) {
      const aggregate = aggregateOf(name)
      if (aggregate.state !== 'signal' && aggregate.state !== 'counter') continue
      const column = new Float64Array(signal.length)
      columns[name] = column
      const value =
        aggregate.state === 'signal'
          ? aggregate.value
          : (window: SignalWindow, index: number) => increaseOf(rises[index]!, window, stepped)
      readers.push({ column, value })
    }
    this.columns = columns
    this.#readers = readers
    this.#windows = signal.windows()
    this.#length = signal.length
  }

  /** Works the next windows out. @returns whether there are more */
  next(windows: number): boolean {
    const end = Math.min(this.#length, this.#index + windows)
    for (; this.#index < end; this.#index++) {
      const window = this.#windows.next().value!
      for (const { column, value } of this.#readers) column[this.#index] = finite(value(window, this.#index))
    }
    return end < this.#length
  }
}

interface SignalReader {
  readonly column: Float64Array
  readonly value: (window: SignalWindow, index: number) => number
}

/** The same at once. */
export function signalAggregates(
  signal: SignalWindows,
  rises: readonly Rises[],
  names: readonly AggregateName[],
  stepped: boolean,
): AggregateColumns {
  const all = new SignalAggregates(signal, rises, names, stepped)
  all.next(Number.POSITIVE_INFINITY)
  return all.columns
}

/**
 * Aggregates of a constant: it has no raw points, a value at every time, and counts as good up to `now`.
 * @param whole the edges of all windows, where these are some of them
 */
export function constantAggregates(
  value: number,
  edges: Float64Array,
  names: readonly AggregateName[],
  now: number,
  whole = edges,
): AggregateColumns {
  const signal = new SignalWindows(edges, now)
  if (!Number.isNaN(value)) signal.segment(whole[0]!, value, whole.at(-1)!, value)
  const values = new Float64Array(edges.length).fill(value)
  signal.bounds(0, values, values)
  const noRises = { before: Number.NaN, first: Number.NaN, rises: 0, last: Number.NaN }
  const rises = Array<Rises>(edges.length - 1).fill(noRises)
  const columns: { [name in AggregateName]?: Float64Array } = {
    ...new WindowAggregator(edges, names, now).finish(),
    ...signalAggregates(signal, rises, names, true),
  }
  // A mean is the value itself, whatever rounding the integral took.
  if (names.includes('timeAvg')) columns.timeAvg = new Float64Array(edges.length - 1).fill(value)
  if (names.includes('durationGood') && !Number.isNaN(value)) {
    columns.durationGood = Float64Array.from({ length: edges.length - 1 }, (_, i) =>
      Math.max(0, (Math.min(edges[i + 1]!, now) - edges[i]!) / 1_000_000),
    )
  }
  return columns
}

/** What leaves the range of doubles cannot be computed. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN
}

interface States {
  readonly moments: Moments
  readonly values: GoodValues
  readonly extremes: Extremes
  readonly runs: PointRuns
}

/** The value of an aggregate over raw points in the window that was fed; `null` for one over the signal. */
function readerOf(name: AggregateName, states: States): (() => number) | null {
  const aggregate = aggregateOf(name)
  switch (aggregate.state) {
    case 'moments':
      return () => aggregate.value(states.moments)
    case 'values':
      return () => aggregate.value(states.values)
    case 'extremes':
      return () => aggregate.value(states.extremes)
    case 'runs':
      return () => aggregate.value(states.runs)
    default:
      return null
  }
}

interface Column {
  readonly name: AggregateName
  readonly column: Float64Array
  /** Of the window that was fed. */
  readonly value: () => number
  /** Whether a window without points depends on those before it. */
  readonly goesOn: boolean
}
