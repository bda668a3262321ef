import { AggregateAccumulator } from '../series/aggregate.ts'
import type { AggregateName } from '../series/aggregate-names.ts'
import { lowerBound, makeColumns, type PointColumns, sliceColumns } from '../series/columns.ts'
import { divideSpan } from '../time/exact.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import { breathe, pagePoints } from './page.ts'
import { namedTimes } from './read-memo.ts'
import type { Series, SeriesContext } from './series.ts'

/** Windows of one length, laid end to end from an origin, backwards too. */
export class FixedWindows {
  /** The same only for equal windows. */
  readonly name: string
  readonly lengthUs: number
  readonly #origin: number

  constructor(originUs: number, lengthUs: number) {
    this.#origin = originUs
    this.lengthUs = lengthUs
    this.name = `${lengthUs} from ${originUs}`
  }

  /** Start of the window that holds an instant. */
  startOf(at: number): number {
    return at - divideSpan(this.#origin, at, this.lengthUs).remainder
  }

  /** How many windows there are from one start to another. */
  count(from: number, to: number): number {
    return to <= from ? 0 : divideSpan(from, to, this.lengthUs).quotient
  }
}

/** What the points of windows are made of. */
export interface WindowSource {
  readonly input: Series
  readonly aggregate: Exclude<AggregateName, 'timeAvg' | 'median' | 'first' | 'last'>
  readonly windows: FixedWindows
  /** From the start of a window to its point, in microseconds. */
  readonly offsetUs: number
  readonly context: SeriesContext
  /** Whether the historians work the windows out themselves. */
  readonly pushedDown: boolean
}

/** Windows [from, to), by the start of the first and the end of the last. */
export interface WindowRange {
  readonly from: number
  readonly to: number
  readonly order: 'asc' | 'desc'
  /** About how many windows are asked for at a time. */
  readonly page: number
}

/** At most so many windows are asked for at a time. */
const MAX_PAGE = 20_000

/** The points of windows that are not empty, part by part in the order of the range; each part ascends. */
export function readWindows(source: WindowSource, range: WindowRange): AsyncGenerator<PointColumns> {
  const { windows } = source
  // Beyond the accepted instants there are no points.
  const from = Math.max(range.from, windows.startOf(MIN_INSTANT))
  const to = Math.min(range.to, windows.startOf(END_INSTANT - 1) + windows.lengthUs)
  const reach = { ...range, from, to, page: Math.min(range.page, MAX_PAGE) }
  return source.pushedDown ? askedFor(source, reach) : workedOut(source, reach)
}

async function* askedFor(
  source: WindowSource,
  { from, to, order, page }: WindowRange,
): AsyncGenerator<PointColumns> {
  const { input, aggregate, windows, context } = source
  const { lengthUs } = windows
  let left = windows.count(from, to)
  let at = order === 'asc' ? from : to
  while (left > 0) {
    const count = Math.min(left, page)
    const start = order === 'asc' ? at : at - count * lengthUs
    const edges = namedTimes(context.source, `windows ${start} ${lengthUs} ${count}`, () =>
      edgesFrom(start, lengthUs, count),
    )
    const values = (await input.aggregates(edges, [aggregate]))[aggregate]!
    yield pointsOf(source, start, values)
    at = order === 'asc' ? start + count * lengthUs : start
    left -= count
    if (left > 0) await breathe(context)
  }
}

/** Added up, not multiplied, and cut at the first and last accepted instants. */
function edgesFrom(start: number, lengthUs: number, count: number): Float64Array {
  const edges = new Float64Array(count + 1)
  for (let i = 0, at = start; i <= count; i++, at += lengthUs) edges[i] = accepted(at)
  return edges
}

function pointsOf({ offsetUs, windows }: WindowSource, start: number, values: Float64Array): PointColumns {
  const points = makeColumns(values.length)
  let count = 0
  for (let i = 0, at = start; i < values.length; i++, at += windows.lengthUs) {
    if (Number.isNaN(values[i]!)) continue
    points.times[count] = at + offsetUs
    points.values[count++] = values[i]!
  }
  return sliceColumns(points, 0, count)
}

/** From the input's raw points, in one pass. */
async function* workedOut(source: WindowSource, range: WindowRange): AsyncGenerator<PointColumns> {
  const { input, windows, context } = source
  const { from, to, order } = range
  if (from >= to) return
  const open = new OpenWindow(source, order === 'asc' ? from : to - windows.lengthUs, order)
  const reach = {
    from: accepted(from),
    to: accepted(to),
    order,
    page: pagePoints(context),
    extent: 'all',
  } as const
  const stream = input.pieces(reach)
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) {
    const { times } = piece.raw
    for (let left = times.length; left > 0; ) {
      const next = order === 'asc' ? times.length - left : left - 1
      const start = windows.startOf(times[next]!)
      while (!open.goTo(start)) {
        yield open.take()
        await breathe(context)
      }
      const [first, end] =
        order === 'asc'
          ? [next, lowerBound(times, start + windows.lengthUs)]
          : [lowerBound(times, start), next + 1]
      open.add(piece.raw, first, end)
      left -= end - first
    }
    if (open.length > 0) yield open.take()
    await breathe(context)
  }
  while (!open.goTo(order === 'asc' ? to : from - windows.lengthUs)) {
    yield open.take()
    await breathe(context)
  }
  yield open.take()
}

/** The window that is being added up, and the points of those that are done. */
class OpenWindow {
  readonly #source: WindowSource
  readonly #order: 'asc' | 'desc'
  readonly #window = new AggregateAccumulator({ median: false })
  readonly #hasEmpty: boolean
  #start: number
  #isEmpty = true
  #times: number[] = []
  #values: number[] = []

  constructor(source: WindowSource, start: number, order: 'asc' | 'desc') {
    this.#source = source
    this.#start = start
    this.#order = order
    // A count is a point of an empty window too.
    this.#hasEmpty = source.aggregate === 'numGood' || source.aggregate === 'count'
  }

  get length(): number {
    return this.#times.length
  }

  add(points: PointColumns, first: number, end: number): void {
    this.#window.add(points, first, end)
    this.#isEmpty = false
  }

  /** Closes windows up to the one with a start; false when a page is full before. */
  goTo(start: number): boolean {
    const step = this.#order === 'asc' ? this.#source.windows.lengthUs : -this.#source.windows.lengthUs
    while (this.#start !== start) {
      if (this.length >= MAX_PAGE) return false
      if (this.#isEmpty && !this.#hasEmpty) {
        this.#start = start
        break
      }
      this.#close()
      this.#start += step
    }
    return true
  }

  #close(): void {
    const value = this.#window.value(this.#source.aggregate)
    if (!Number.isNaN(value)) {
      this.#times.push(this.#start + this.#source.offsetUs)
      this.#values.push(value)
    }
    this.#window.reset()
    this.#isEmpty = true
  }

  /** The points so far, ascending. */
  take(): PointColumns {
    const points = makeColumns(this.length)
    points.times.set(this.#order === 'asc' ? this.#times : this.#times.reverse())
    points.values.set(this.#order === 'asc' ? this.#values : this.#values.reverse())
    this.#times = []
    this.#values = []
    return points
  }
}

function accepted(at: number): Instant {
  return instantFromUs(Math.min(Math.max(at, MIN_INSTANT), END_INSTANT))
}
