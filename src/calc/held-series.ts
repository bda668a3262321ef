import { type PointColumns, STATUS_OK } from '../series/columns.ts'
import type { EdgePoint } from '../series/interpolate.ts'
import type { FindPoint } from '../series/reads.ts'
import { type Instant, MIN_INSTANT } from '../time/instant.ts'
import { planFindRawPoint, type Whereabouts } from './good-points.ts'
import { type Derived, PointSignalSeries } from './point-signal.ts'
import type { Ask, CurrentPoint, Ledger, Series, SeriesContext, SinglePoint } from './series.ts'

/**
 * A series held from each of its good raw points to the next. A BAD one is passed by; one at which the series has no value
 * ends the hold.
 */
export class HeldSeries extends PointSignalSeries {
  readonly stepped = true

  currentPoint(find: 'before' | 'before-or-at', at: Instant): Promise<CurrentPoint | null> {
    return this.input.currentPoint(find, at)
  }

  rawPoint(find: FindPoint, at: Instant): Promise<SinglePoint | null> {
    return this.input.rawPoint(find, at)
  }

  rawTime(find: FindPoint, at: Instant): Promise<Instant | null> {
    return this.input.rawTime(find, at)
  }

  protected makesKnot({ bad, value }: SinglePoint): boolean {
    return !bad || Number.isNaN(value)
  }

  protected derive(raw: PointColumns): Derived {
    const { times, values, statuses } = raw
    const kept = new Uint32Array(times.length)
    let count = 0
    for (let i = 0; i < times.length; i++) {
      if (statuses[i] === STATUS_OK || Number.isNaN(values[i]!)) kept[count++] = i
    }
    if (count === times.length) return { raw, knots: raw }
    const indexes = Array.from(kept.subarray(0, count))
    const pick = (column: Float64Array) => Float64Array.from(indexes, (i) => column[i]!)
    return { raw, knots: { times: pick(times), values: pick(values) } }
  }

  protected async knotBefore(at: Instant): Promise<EdgePoint | null> {
    if (at <= MIN_INSTANT) return null
    return this.knotPoint('before', at)
  }

  protected planKnotBefore(where: Whereabouts, ledger: Ledger): void {
    planFindRawPoint(this.input, 'before', where, this.name, ledger)
  }

  protected planPoint(ask: Ask & { readonly kind: 'point' | 'raw-time' }, ledger: Ledger): void {
    this.input.plan(ask, ledger)
  }

  protected planCurrent(ask: Ask & { readonly kind: 'current' }, ledger: Ledger): void {
    this.input.plan(ask, ledger)
  }
}

/**
 * A series held between its raw points.
 * @param name       the same only for equal series in equal contexts
 * @param pushDowns  false: historians compute nothing of it, all comes from its raw points
 */
export function held(series: Series, pushDowns: boolean, name: string, context: SeriesContext): Series {
  if (series.stepped && (pushDowns || series.held === undefined)) return series
  return series.held?.(pushDowns) ?? new HeldSeries(series, name, context)
}
