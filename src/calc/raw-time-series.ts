import type { PointColumns } from '../series/columns.ts'
import type { EdgePoint } from '../series/interpolate.ts'
import type { FindPoint } from '../series/reads.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT, US_PER_MS } from '../time/instant.ts'
import type { Whereabouts } from './good-points.ts'
import { type Derived, PointSignalSeries } from './point-signal.ts'
import { TimesMemo } from './read-memo.ts'
import type { Ask, CurrentPoint, Ledger, SinglePoint } from './series.ts'

/**
 * The epoch milliseconds of the last raw point of a series, good or BAD, with a fraction for microseconds. Goes on beyond
 * `now`, since there too that point is the last one.
 */
export class RawTimeSeries extends PointSignalSeries {
  readonly stepped = true
  readonly #looked = new TimesMemo<Promise<Float64Array>>()

  /** Looked up one by one: a look-up costs one point however many points there are between two times. */
  override valuesAt(times: Float64Array): Promise<Float64Array> {
    return this.#looked.get(times, async () => {
      const found = await Promise.all(
        Array.from(times, (at) => this.input.rawTime('before-or-at', instantFromUs(at))),
      )
      return Float64Array.from(found, millisOf)
    })
  }

  protected override planValues(ask: Ask & { readonly kind: 'values' }, ledger: Ledger): void {
    const { grid, count, to, near } = ask
    const at = near === undefined ? to : near.at
    this.input.plan({ kind: 'raw-time', find: 'before-or-at', at, near: `times ${grid}`, count }, ledger)
  }

  async currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    const [current, time] = await Promise.all([
      this.input.currentPoint(find, at),
      this.input.rawTime(find, at),
    ])
    if (current === null || time === null) return null
    return { time: current.time, value: millisOf(time), bad: current.bad }
  }

  async rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    const point = await this.input.rawPoint(find, at)
    return point === null ? null : { ...point, value: millisOf(point.time) }
  }

  rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.input.rawTime(find, at)
  }

  protected override holdUntil(): Instant {
    return END_INSTANT
  }

  protected makesKnot(): boolean {
    return true
  }

  protected derive({ times, statuses }: PointColumns): Derived {
    const values = times.map(millisOf)
    return { raw: { times, values, statuses }, knots: { times, values } }
  }

  protected async knotBefore(at: Instant): Promise<EdgePoint | null> {
    const time = at <= MIN_INSTANT ? null : await this.input.rawTime('before', at)
    return time === null ? null : { time, value: millisOf(time) }
  }

  protected planKnotBefore(where: Whereabouts, ledger: Ledger): void {
    const at = where.kind === 'within' ? where.to : where.at
    const near = where.kind === 'at' ? {} : { near: `${this.name} ${where.name}` }
    this.input.plan({ kind: 'raw-time', find: 'before', at, ...near }, ledger)
  }

  protected planPoint(ask: Ask & { readonly kind: 'point' | 'raw-time' }, ledger: Ledger): void {
    this.input.plan(ask, ledger)
  }

  protected planCurrent(ask: Ask & { readonly kind: 'current' }, ledger: Ledger): void {
    this.input.plan(ask, ledger)
    this.input.plan({ kind: 'raw-time', find: ask.find, at: ask.at }, ledger)
  }
}

function millisOf(time: number | null): number {
  return time === null ? Number.NaN : time / US_PER_MS
}
