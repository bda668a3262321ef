import type { FindPoint } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../time/instant.ts'
import type { Ask, Ledger, Series, SinglePoint } from './series.ts'

/** BAD points that are read at once where a good one is looked for; there are rarely more of them in a row. */
const BAD_RUN = 64
const LONGEST_PAGE = 20_000

/** Whether a raw point is not BAD and has a value. */
export function isGoodPoint({ bad, value }: SinglePoint): boolean {
  return !bad && !Number.isNaN(value)
}

/** Whether a search goes back in time. */
export function goesBack(find: FindPoint): boolean {
  return find === 'before' || find === 'before-or-at'
}

/** The raw point next to an instant that is accepted; all others are passed by. `null` when there is none. */
export async function findRawPoint(
  series: Series,
  find: FindPoint,
  at: Instant,
  accept: (point: SinglePoint) => boolean = isGoodPoint,
): Promise<SinglePoint | null> {
  const nearest = await series.rawPoint(find, at)
  if (nearest === null || accept(nearest)) return nearest
  if (accept === isGoodPoint && series.goodPoint !== undefined) return series.goodPoint(find, at)
  const back = goesBack(find)
  let from: number = back ? MIN_INSTANT : nearest.time + 1
  let to: number = back ? nearest.time : END_INSTANT
  for (let limit = BAD_RUN; from < to; limit = Math.min(limit * 8, LONGEST_PAGE)) {
    const range = { from: instantFromUs(from), to: instantFromUs(to), limit }
    const { points, more } = await series.rawPoints({ ...range, order: back ? 'desc' : 'asc' })
    for (let i = 0; i < points.times.length; i++) {
      const time = instantFromUs(points.times[i]!)
      const point = { time, value: points.values[i]!, bad: points.statuses[i] !== 0 }
      if (accept(point)) return point
    }
    if (!more) return null
    if (back) to = points.times.at(-1)!
    else from = points.times.at(-1)! + 1
  }
  return null
}

/** Where something is looked for, when that is not known before other reads were made. */
export type Whereabouts =
  | { readonly kind: 'at'; readonly at: Instant }
  /** Near an instant, as in the ask for a raw time; so many times at once. */
  | { readonly kind: 'near'; readonly at: Instant; readonly name: string; readonly count?: number }
  /** Anywhere in [from, to]. */
  | { readonly kind: 'within'; readonly from: Instant; readonly to: Instant; readonly name: string }

/** Where the raw time of an ask is looked for. */
export function whereaboutsOf({ at, near, count = 1 }: Ask & { readonly kind: 'raw-time' }): Whereabouts {
  return near === undefined && count === 1
    ? { kind: 'at', at }
    : { kind: 'near', at, name: near ?? '', count }
}

/**
 * Plans findRawPoint.
 * @param name of who looks, the same only for equal series in equal contexts
 */
export function planFindRawPoint(
  series: Series,
  find: FindPoint,
  where: Whereabouts,
  name: string,
  ledger: Ledger,
): void {
  const back = goesBack(find)
  const at = where.kind !== 'within' ? where.at : back ? where.to : where.from
  const grid = `${name} ${find} ${at} ${where.kind === 'at' ? '' : where.name}`
  const count = where.kind === 'near' ? (where.count ?? 1) : 1
  if (where.kind === 'at') series.plan({ kind: 'point', find, at }, ledger)
  else {
    // What a raw point takes at an instant that is not known: its time, and the values of all inputs there.
    const [from, to] = where.kind === 'within' ? [where.from, where.to] : [at, at]
    const near = where.kind === 'near' ? { near: { find, at } } : {}
    series.plan({ kind: 'raw-time', find, at, near: `${grid} time`, count }, ledger)
    series.plan({ kind: 'raw-time', find, at, near: `${grid} point`, count }, ledger)
    // Each of several look-ups may pass by BAD points of its own, and read what stands beside them.
    const each = series.goodPoint !== undefined || count === 1 ? 1 : 10
    series.plan({ kind: 'values', grid, count: each * count, from, to, ...near }, ledger)
  }
  if (series.goodPoint !== undefined) {
    series.plan({ kind: 'values', grid: `${grid} good`, count: 2 * count, from: at, to: at }, ledger)
    return
  }
  const [from, to] = back ? [MIN_INSTANT, at] : [at, END_INSTANT]
  if (from >= to) return
  const range = {
    from,
    to,
    order: back ? 'desc' : 'asc',
    page: (BAD_RUN + 2) * count,
    extent: 'first',
  } as const
  series.plan({ kind: 'pieces', ...range, widened: grid }, ledger)
}
