import { effect, untracked } from '@preact/signals-core'
import { key } from '../api/client.ts'
import {
  type IntervalPage,
  type IntervalWish,
  type PointPage,
  readIntervals,
  readPoints,
  readStatistics,
  type Statistics,
} from '../api/tables.ts'
import { statesOf } from '../chart/layout.ts'
import { shaded } from '../chart/signals.ts'
import { loaders } from '../curves/loaders.ts'
import { Resource } from '../curves/resource.ts'
import { selectedPen, span, view, visiblePens, zone } from '../state/store.ts'

const PAGE = 200

export const statisticsData = new Resource<{
  readonly rows: readonly Statistics[]
  readonly from: number
  readonly to: number
}>()
export const pointsData = new Resource<PointPage & { readonly address: string }>()
export const intervalsData = new Resource<
  IntervalPage & { readonly wish: IntervalWish; readonly from: number; readonly to: number }
>()

/** Reads what the open table shows, whenever it or what is seen changes. */
export function startTables(): void {
  effect(() => {
    const { panel, a, b } = view.value
    if (panel !== 'statistics' || key.value === '') return
    const addresses = visiblePens.value.map(({ address }) => address)
    const isBetween = a !== null && b !== null && a !== b
    const [from, to] = isBetween ? [Math.min(a, b), Math.max(a, b)] : [span.value.from, span.value.to]
    const place = zone.value
    const withStates = addresses.filter((address) => {
      const loader = loaders.value.get(address)
      return loader !== undefined && statesOf(loader) !== null
    })
    untracked(() =>
      statisticsData.want(JSON.stringify([addresses, withStates, from, to, place]), async (cancel) => ({
        rows: await readStatistics(addresses, new Set(withStates), from, to, place, cancel),
        from,
        to,
      })),
    )
  })
  effect(() => {
    const address = selectedPen.value?.address
    if (view.value.panel !== 'points' || address === undefined || key.value === '') return
    const { from, to } = span.value
    const place = zone.value
    untracked(() =>
      pointsData.want(JSON.stringify([address, from, to, place]), async (cancel) => ({
        ...(await readPoints(address, from, to, { maxPoints: PAGE, zone: place, cancel })),
        address,
      })),
    )
  })
  effect(() => {
    const { panel, condition, gaps } = view.value
    const tag = gaps === '' ? addressOfCondition(condition) : (selectedPen.value?.address ?? '')
    if (panel !== 'intervals' || tag === '' || key.value === '') {
      untracked(() => intervalsData.clear())
      return
    }
    const type = gaps === '' ? ('INTERVALS' as const) : ('GAPS' as const)
    const aggregatesOf = selectedPen.value?.address ?? ''
    const { from, to } = span.value
    const place = zone.value
    untracked(() =>
      intervalsData.want(JSON.stringify([type, tag, gaps, aggregatesOf, from, to, place]), async (cancel) => {
        const wish = { type, tag, longerThan: gaps, aggregatesOf }
        return { ...(await readIntervals(wish, from, to, { zone: place, cancel })), wish, from, to }
      }),
    )
  })
  effect(() => {
    shaded.value = (intervalsData.value.value?.intervals ?? []).map(({ from, to }) => ({
      from: Date.parse(from),
      to: Date.parse(to),
    }))
  })
}

/** A call is a calculation, as in the field for calculations. */
export function addressOfCondition(written: string): string {
  const trimmed = written.trim()
  return /^\w+\s*\(/.test(trimmed) ? `calc/${trimmed}` : trimmed
}

/** The next page of points behind those that are shown. */
export async function morePoints(): Promise<void> {
  const shown = pointsData.value.peek()
  if (shown === null || shown.next === '') return
  const { from, to } = span.peek()
  await pointsData.extend(shown, async () => {
    const page = await readPoints(shown.address, from, to, {
      maxPoints: PAGE,
      cursor: shown.next,
      zone: zone.peek(),
    })
    return {
      ...shown,
      points: [...shown.points, ...page.points],
      next: page.next,
      warnings: [...shown.warnings, ...page.warnings],
    }
  })
}

/** The next page of intervals behind those that are shown. */
export async function moreIntervals(): Promise<void> {
  const shown = intervalsData.value.peek()
  if (shown === null || shown.next === '') return
  const { wish, from, to } = shown
  await intervalsData.extend(shown, async () => {
    const page = await readIntervals(wish, from, to, { zone: zone.peek(), cursor: shown.next })
    return { ...shown, intervals: [...shown.intervals, ...page.intervals], next: page.next }
  })
}
