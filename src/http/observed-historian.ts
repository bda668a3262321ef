import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian, WriteBatch } from '../historian/contract.ts'
import type { PointColumns } from '../series/columns.ts'
import type { Metrics } from './metrics.ts'

/** The methods of a historian that are counted, each with the points that its result or its arguments carry. */
const OPERATIONS: Readonly<Partial<Record<keyof Historian, Count>>> = {
  checkHealth: noPoints,
  findTags: noPoints,
  searchTags: noPoints,
  readPoints: (_batch, result) => read((result as PointColumns).times.length),
  readRanges: (_batch, result) =>
    read(sum(result, (range: { points: PointColumns }) => range.points.times.length)),
  readNeighbours: (_batch, result) =>
    read(sum(result, (found: { beforeTimes: Float64Array }) => 2 * found.beforeTimes.length)),
  estimatePoints: noPoints,
  readAggregates: noPoints,
  readInterpolated: noPoints,
  readIntegrals: noPoints,
  write: (batch) => ({
    direction: 'written',
    points: (batch as WriteBatch).points.times.length,
  }),
  putTags: noPoints,
  deletePoints: noPoints,
  deleteTags: noPoints,
  renameTags: noPoints,
}

type Count = (firstArgument: unknown, result: unknown) => Passed | null
interface Passed {
  readonly direction: 'read' | 'written'
  readonly points: number
}

/**
 * The same historian with its calls counted and timed. Methods that it does not have stay absent, since that is how a
 * historian says what it offers.
 */
export function observeHistorian(historian: Historian, metrics: Metrics): Historian {
  const wrapped = new Map<string, unknown>()
  return new Proxy(historian, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function' || typeof name !== 'string') return value
      return wrapped.getOrInsertComputed(name, () => {
        const call = value.bind(target) as (...args: unknown[]) => unknown
        const count = OPERATIONS[name as keyof Historian]
        return count === undefined ? call : observed(historian.type, name, call, count, metrics)
      })
    },
  })
}

function observed(
  type: string,
  operation: string,
  call: (...args: unknown[]) => unknown,
  count: Count,
  metrics: Metrics,
): (...args: unknown[]) => unknown {
  const ended = (began: number, outcome: string) =>
    metrics.historianCalled(type, operation, outcome, (performance.now() - began) / 1_000)
  const answered = (began: number, firstArgument: unknown, result: unknown) => {
    const passed = count(firstArgument, result)
    if (passed !== null) metrics.pointsPassed(type, passed.direction, passed.points)
    ended(began, 'ok')
    return result
  }
  const failed = (began: number, error: unknown): never => {
    ended(began, error instanceof TidemarkError ? error.kind : 'bug')
    throw error
  }
  return (...args) => {
    const began = performance.now()
    let result: unknown
    try {
      result = call(...args)
    } catch (error) {
      return failed(began, error)
    }
    if (!(result instanceof Promise)) return answered(began, args[0], result)
    return result.then(
      (found) => answered(began, args[0], found),
      (error: unknown) => failed(began, error),
    )
  }
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
