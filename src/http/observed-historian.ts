import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian, TooOldPoints, WriteBatch } from '../historian/contract.ts'
import type { PointColumns } from '../series/columns.ts'
import { type Span, traced } from '../tracing/span.ts'
import type { Metrics } from './metrics.ts'

/** The methods of a historian that are counted, each with the points that its result or its arguments carry. */
const OPERATIONS: Readonly<Partial<Record<keyof Historian, Count>>> = {
  checkHealth: noPoints,
  findTags: noPoints,
  hasTags: noPoints,
  searchTags: noPoints,
  readPoints: (_batch, result) => read((result as PointColumns).times.length),
  readRanges: (_batch, result) =>
    read(sum(result, (range: { points: PointColumns }) => range.points.times.length)),
  readBoundingValues: (_batch, result) =>
    read(sum(result, (found: { beforeTimes: Float64Array }) => 2 * found.beforeTimes.length)),
  estimatePoints: noPoints,
  readAggregates: noPoints,
  readInterpolated: noPoints,
  readIntegrals: noPoints,
  readPlots: noPoints,
  readGaps: noPoints,
  write: (batch, result) => {
    const tooOld = (result as TooOldPoints | null | undefined)?.count ?? 0
    return { direction: 'written', points: (batch as WriteBatch).points.times.length - tooOld, tooOld }
  },
  putTags: noPoints,
  deletePoints: noPoints,
  deleteTags: noPoints,
  renameTags: noPoints,
}

const CHANGES: ReadonlySet<string> = new Set(['write', 'putTags', 'deletePoints', 'deleteTags', 'renameTags'])

/** Is notified of the calls of a historian by its name. */
export interface CallWatch {
  changeSucceeded(historian: string): void
  callFailed(historian: string, operation: string, error: unknown, isChange: boolean): void
}

type Count = (firstArgument: unknown, result: unknown) => Passed | null
interface Passed {
  readonly direction: 'read' | 'written'
  readonly points: number
  /** Points beside these that were not taken. */
  readonly tooOld?: number
}

/**
 * The same historian with its calls counted and timed, and each a span where calls are traced. Methods that it does not
 * have stay absent, since that is how a historian says what it offers.
 */
export function observeHistorian(
  historian: Historian,
  metrics: Metrics,
  watch: CallWatch,
  isTraced: boolean,
): Historian {
  const shownOf = (name: keyof Historian, value: Method) => {
    const call = value.bind(historian) as Method
    const count = OPERATIONS[name]
    if (count === undefined) return call
    const counted = observed(historian, name, call, count, metrics, watch)
    return isTraced ? tracedCalls(historian, name, counted) : (...args: unknown[]) => counted(args, null)
  }
  const wrapped = new Map<string, unknown>()
  // What is not known of a historian now is looked up when it is needed, which takes several times as long.
  const others = new Proxy(historian, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function' || typeof name !== 'string') return value
      return wrapped.getOrInsertComputed(name, () => shownOf(name as keyof Historian, value as Method))
    },
  })
  const shown: Historian = Object.create(others)
  for (const name of namesOf(historian)) {
    const value: unknown = historian[name]
    // Anything else may change: what a historian can do may become known later.
    const property =
      typeof value === 'function'
        ? { value: shownOf(name, value as Method) }
        : { get: (): unknown => historian[name] }
    Object.defineProperty(shown, name, { ...property, enumerable: true })
  }
  return shown
}

type Method = (...args: unknown[]) => unknown

/** Everything that a historian has, its own and that of its classes. */
function namesOf(historian: Historian): readonly (keyof Historian)[] {
  const names = new Set<string>()
  for (let object: object = historian; object !== Object.prototype; object = Object.getPrototypeOf(object)) {
    for (const name of Object.getOwnPropertyNames(object)) if (name !== 'constructor') names.add(name)
  }
  return [...names] as (keyof Historian)[]
}

function observed(
  { name, type }: Historian,
  operation: string,
  call: Method,
  count: Count,
  metrics: Metrics,
  watch: CallWatch,
): (args: unknown[], span: Span | null) => unknown {
  const isChange = CHANGES.has(operation)
  const called = metrics.historianCalls(type, operation)
  const ended = (began: number, outcome: string) => called(outcome, (performance.now() - began) / 1_000)
  const answered = (began: number, firstArgument: unknown, result: unknown, span: Span | null) => {
    const passed = count(firstArgument, result)
    if (passed !== null) {
      metrics.pointsPassed(type, passed.direction, passed.points)
      if (passed.tooOld !== undefined) metrics.pointsPassed(type, 'too_old', passed.tooOld)
      span?.set('tidemark.points', passed.points)
    }
    ended(began, 'ok')
    if (isChange) watch.changeSucceeded(name)
    return result
  }
  const failed = (began: number, error: unknown): never => {
    ended(began, error instanceof TidemarkError ? error.kind : 'bug')
    watch.callFailed(name, operation, error, isChange)
    throw error
  }
  return (args, span) => {
    const began = performance.now()
    let result: unknown
    try {
      result = call(...args)
    } catch (error) {
      return failed(began, error)
    }
    if (!(result instanceof Promise)) return answered(began, args[0], result, span)
    return result.then(
      (found) => answered(began, args[0], found, span),
      (error: unknown) => failed(began, error),
    )
  }
}

/** Each call as a span below the one that it is made in. */
function tracedCalls(
  { name, type }: Historian,
  operation: string,
  call: (args: unknown[], span: Span | null) => unknown,
): Method {
  const attributes = {
    'tidemark.historian': name,
    'tidemark.historian.type': type,
    'tidemark.operation': operation,
  }
  return (...args) => traced(`${operation} ${type}`, 'internal', attributes, (span) => call(args, span))
}

function noPoints(): null {
  return null
}

function read(points: number): Passed {
  return { direction: 'read', points }
}

function sum<Item>(items: unknown, pointsOf: (item: Item) => number): number {
  let points = 0
  for (const item of items as readonly Item[]) points += pointsOf(item)
  return points
}
