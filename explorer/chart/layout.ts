import type { PenLoader } from '../curves/pen-loader.ts'
import { extremesOf, signalAt } from '../curves/series.ts'
import type { Span } from '../state/store.ts'
import type { Pen, View } from '../state/view.ts'
import { fixedScale, niceScale, tickText, type ValueScale, valueTicks } from './value-ticks.ts'

/** A curve of the chart. */
export interface Curve {
  readonly pen: Pen
  readonly loader: PenLoader
  readonly earlier: PenLoader | undefined
}

/** Curves that share a scale. */
export interface ScaleGroup {
  readonly id: string
  readonly unit: string
  readonly curves: readonly Curve[]
  readonly scale: ValueScale
  /** Whether its ends are set and stay as they are. */
  readonly isFixed: boolean
  /** Left edge and width of its axis; width 0 where there is no room for one. */
  readonly axisX: number
  readonly axisWidth: number
}

/** A band of the chart with its own scales, or the bar of a tag with states. */
export interface Lane {
  readonly top: number
  readonly height: number
  readonly groups: readonly ScaleGroup[]
  readonly states: Curve | null
}

export interface Layout {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly lanes: readonly Lane[]
  readonly span: Span
}

const TOP = 10
const RIGHT = 14
const TIME_AXIS = 40
const STATE_BAR = 24
const LANE_GAP = 10
const CHARACTER = 6.8
const LEAST_AXIS = 38
const TICK_GAP = 44
const LANE_TICK_GAP = 30

export interface LayoutInput {
  readonly width: number
  readonly height: number
  readonly view: View
  readonly span: Span
  readonly curves: readonly Curve[]
  readonly limitsOf: (address: string) => PenLoader | undefined
  /** Scales of the last picture while the span is moved: they only grow. */
  readonly growing: ReadonlyMap<string, ValueScale> | null
}

/** Where everything of the chart stands, in CSS pixels; the same input gives the same picture. */
export function layOut(input: LayoutInput): Layout {
  const { width, height, view, span, curves } = input
  const numeric = curves.filter(({ loader }) => statesOf(loader) === null)
  const withStates = curves.filter(({ loader }) => statesOf(loader) !== null)
  const bottom = height - TIME_AXIS
  const barsHeight = withStates.length * (STATE_BAR + LANE_GAP)
  const room = Math.max(40, bottom - TOP - barsHeight)
  const bands = bandsOf(numeric, view, input.limitsOf)
  const bandHeight = (room - LANE_GAP * (bands.length - 1)) / Math.max(1, bands.length)
  const ticks = Math.max(2, Math.floor(bandHeight / (bands.length > 1 ? LANE_TICK_GAP : TICK_GAP)))
  const scaled = bands.map((band) => band.map((group) => ({ ...group, ...scaleOf(group, ticks, input) })))
  // Axes stand beside each other as far as there is room; each lane has the same left edge.
  const mostAxes = Math.max(1, Math.floor((width * 0.3) / 48))
  const widths = scaled.map((band) => band.slice(0, mostAxes).map((group) => axisWidthOf(group)))
  const left = Math.max(LEAST_AXIS, ...widths.map((band) => band.reduce((sum, one) => sum + one, 0)))
  const lanes: Lane[] = scaled.map((band, index) => {
    let x = left
    const groups = band.map((group, at): ScaleGroup => {
      const axisWidth = widths[index]![at] ?? 0
      x -= axisWidth
      return { ...group, axisX: x, axisWidth }
    })
    return { top: TOP + index * (bandHeight + LANE_GAP), height: bandHeight, groups, states: null }
  })
  let top = TOP + room + LANE_GAP
  for (const states of withStates) {
    lanes.push({ top, height: STATE_BAR, groups: [], states })
    top += STATE_BAR + LANE_GAP
  }
  return { width, height, left, right: width - RIGHT, top: TOP, bottom, lanes, span }
}

interface UnscaledGroup {
  readonly id: string
  readonly unit: string
  readonly curves: readonly Curve[]
  readonly limits: readonly PenLoader[]
}

function bandsOf(
  curves: readonly Curve[],
  view: View,
  limitsOf: LayoutInput['limitsOf'],
): readonly (readonly UnscaledGroup[])[] {
  if (!view.lanes) return [groupsOf(curves, view.scales, limitsOf)]
  if (curves.length === 0) return [[]]
  return curves.map((curve) => groupsOf([curve], 'pen', limitsOf))
}

function groupsOf(
  curves: readonly Curve[],
  scales: View['scales'],
  limitsOf: LayoutInput['limitsOf'],
): readonly UnscaledGroup[] {
  const groups = Map.groupBy(curves, (curve) => groupIdOf(curve, scales))
  return Array.from(groups, ([id, members]) => {
    const units = new Set(members.map(({ loader }) => unitOf(loader)))
    const limits = members
      .flatMap(({ pen }) => pen.limits)
      .flatMap(({ value }) => (typeof value === 'string' ? [limitsOf(value)] : []))
      .filter((loader) => loader !== undefined)
    return { id, unit: units.size === 1 ? [...units][0]! : '', curves: members, limits }
  })
}

function groupIdOf({ pen, loader }: Curve, scales: View['scales']): string {
  if (scales === 'pen' || pen.low !== null || pen.high !== null) return `pen ${pen.address}`
  if (scales === 'shared') return 'shared'
  const unit = unitOf(loader)
  return unit === '' ? `pen ${pen.address}` : `unit ${unit}`
}

function scaleOf(
  group: UnscaledGroup,
  ticks: number,
  { span, growing }: LayoutInput,
): { readonly scale: ValueScale; readonly isFixed: boolean } {
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  const include = (value: number) => {
    least = Math.min(least, value)
    greatest = Math.max(greatest, value)
  }
  for (const { pen, loader, earlier } of group.curves) {
    for (const one of [loader, earlier]) {
      const found =
        one === undefined ? null : extremesOf(one.series.value, span.from, span.to, loader.stepped.value)
      if (found !== null) found.forEach(include)
    }
    const held = heldValue(loader, span)
    if (held !== null) include(held)
    for (const { value } of pen.limits) if (typeof value === 'number') include(value)
  }
  for (const limit of group.limits) {
    const found = extremesOf(limit.series.value, span.from, span.to, limit.stepped.value)
    if (found !== null) found.forEach(include)
    const held = heldValue(limit, span)
    if (held !== null) include(held)
  }
  const { low, high } = group.curves[0]!.pen
  if (low !== null && high !== null && high > low)
    return { scale: fixedScale(low, high, ticks), isFixed: true }
  if (!(least <= greatest)) [least, greatest] = [0, 1]
  const nice = niceScale(least, greatest, ticks)
  if (low !== null || high !== null) {
    const ends = [low ?? Math.min(nice.low, high! - nice.step), high ?? Math.max(nice.high, low! + nice.step)]
    return { scale: fixedScale(ends[0]!, ends[1]!, ticks), isFixed: true }
  }
  const before = growing?.get(group.id)
  if (before === undefined) return { scale: nice, isFixed: false }
  if (before.low <= nice.low && before.high >= nice.high) return { scale: before, isFixed: false }
  return {
    scale: niceScale(Math.min(least, before.low), Math.max(greatest, before.high), ticks),
    isFixed: false,
  }
}

/** The value that is held from the newest point into a span; null where its line ends before or is broken. */
function heldValue(loader: PenLoader, span: Span): number | null {
  const { times } = loader.series.value
  const last = times.at(-1)
  if (last === undefined || last > span.to) return null
  return signalAt(loader.series.value, Math.max(last, span.from), loader.stepped.value)
}

function axisWidthOf({ scale, unit }: { readonly scale: ValueScale; readonly unit: string }): number {
  const longest = Math.max(...valueTicks(scale).map((value) => tickText(value, scale.step).length), 0)
  return Math.max(LEAST_AXIS, Math.ceil(Math.max(longest, Math.min(unit.length, 8)) * CHARACTER) + 16)
}

export function unitOf(loader: PenLoader): string {
  return loader.metadata.value?.units ?? ''
}

/** Names by value of a tag with states; null for other tags. */
export function statesOf(loader: PenLoader): ReadonlyMap<number, string> | null {
  const states = loader.metadata.value?.states
  if (states === null || states === undefined) return null
  return new Map(Object.entries(states).map(([value, name]) => [Number(value), name]))
}

export function xOf({ left, right, span }: Layout, at: number): number {
  return left + ((at - span.from) / (span.to - span.from)) * (right - left)
}

export function timeAtX({ left, right, span }: Layout, x: number): number {
  return span.from + ((x - left) / (right - left)) * (span.to - span.from)
}

export function yOf({ top, height }: Lane, { low, high }: ValueScale, value: number): number {
  return top + height - ((value - low) / (high - low)) * height
}
