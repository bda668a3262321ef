import type { PenLoader } from '../curves/pen-loader.ts'
import { firstAtOrAfter, type Series } from '../curves/series.ts'
import { type Lane, type Layout, xOf, yOf } from './layout.ts'
import type { ValueScale } from './value-ticks.ts'

/** Points closer together than this have no markers. */
const MARKER_GAP = 7
/** From this many points for each CSS pixel on, a curve is drawn with hairlines. */
const DENSE = 2

export interface CurveStyle {
  readonly color: string
  readonly width: number
  readonly dash: readonly number[]
  readonly alpha: number
  readonly hasMarkers: boolean
  readonly stepped: boolean
}

/** What is drawn of one curve: points from `first` up to but not including `last`. */
interface DrawnPoints {
  readonly series: Series
  readonly stepped: boolean
  readonly first: number
  readonly last: number
}

/**
 * The line of a curve: straight or stepped between its points, broken where it has no value. From its newest point to
 * now it is dotted, for nothing was measured there.
 */
export function drawCurve(
  context: CanvasRenderingContext2D,
  layout: Layout,
  lane: Lane,
  scale: ValueScale,
  loader: PenLoader,
  style: CurveStyle,
  now: number,
): void {
  const series = loader.series.value
  const { times } = series
  if (times.length === 0) return
  const { span } = layout
  const first = Math.max(0, firstAtOrAfter(times, span.from) - 1)
  const last = Math.min(times.length, firstAtOrAfter(times, span.to) + 1)
  const drawn: DrawnPoints = { series, stepped: style.stepped, first, last }
  context.save()
  context.beginPath()
  context.rect(layout.left, lane.top - 1, layout.right - layout.left, lane.height + 2)
  context.clip()
  context.globalAlpha = style.alpha
  context.strokeStyle = style.color
  context.fillStyle = style.color
  context.lineWidth = style.width
  context.lineJoin = 'round'
  context.setLineDash([...style.dash])
  const path = new Path2D()
  tracePath(path, layout, lane, scale, drawn)
  const isDense = last - first > DENSE * (layout.right - layout.left)
  if (isDense && style.dash.length === 0) strokeDense(context, path, style.width)
  else context.stroke(path)
  if (last === times.length)
    drawHold(context, layout, lane, scale, series, Math.min(now + loader.shiftMs, span.to))
  context.setLineDash([])
  if (style.hasMarkers) drawMarkers(context, layout, lane, scale, drawn)
  context.restore()
}

/** From the newest good point on its value is only held: up to a break behind it, or to now. */
function drawHold(
  context: CanvasRenderingContext2D,
  layout: Layout,
  lane: Lane,
  scale: ValueScale,
  { times, values, to }: Series,
  now: number,
): void {
  const end = values.length - 1
  const good = Number.isNaN(values[end]!) ? end - 1 : end
  const value = values[good]
  if (value === undefined || Number.isNaN(value)) return
  const from = times[good]!
  const heldTo = good === end ? Math.min(now, Math.max(to, from)) : times[end]!
  if (heldTo <= from) return
  const y = yOf(lane, scale, value)
  context.setLineDash([1.5, 4])
  context.lineCap = 'round'
  context.beginPath()
  context.moveTo(Math.max(xOf(layout, from), layout.left - 2), y)
  context.lineTo(xOf(layout, heldTo), y)
  context.stroke()
}

/**
 * Strokes a curve with several points for each pixel, whose joins nobody sees: as hairlines of one device pixel beside
 * each other. A browser that draws without a graphics processor takes a tenth of the time that a wider line takes.
 */
function strokeDense(context: CanvasRenderingContext2D, path: Path2D, width: number): void {
  const ratio = context.getTransform().a
  const lines = Math.max(1, Math.round(width * ratio))
  context.save()
  context.lineWidth = 1 / ratio
  context.lineJoin = 'bevel'
  const start = (1 - lines) / 2 / ratio
  context.translate(start, start)
  for (let line = 0; line < lines; line++) {
    context.stroke(path)
    context.translate(1 / ratio, 1 / ratio)
  }
  context.restore()
}

function tracePath(
  path: Path2D,
  layout: Layout,
  lane: Lane,
  scale: ValueScale,
  { series, stepped, first, last }: DrawnPoints,
): void {
  const { times, values } = series
  const xPerMs = (layout.right - layout.left) / (layout.span.to - layout.span.from)
  const yPerUnit = lane.height / (scale.high - scale.low)
  const bottom = lane.top + lane.height
  let isDown = false
  let lastY = 0
  for (let index = first; index < last; index++) {
    const value = values[index]!
    const x = layout.left + (times[index]! - layout.span.from) * xPerMs
    if (Number.isNaN(value)) {
      // A stepped value holds up to the break.
      if (isDown && stepped) path.lineTo(x, lastY)
      isDown = false
      continue
    }
    const y = bottom - (value - scale.low) * yPerUnit
    if (!isDown) path.moveTo(x, y)
    else {
      if (stepped) path.lineTo(x, lastY)
      path.lineTo(x, y)
    }
    // A point between two breaks is seen as well.
    const isAlone = !isDown && (index + 1 >= last || Number.isNaN(values[index + 1]!))
    if (isAlone && !stepped) path.lineTo(x + 1.5, y)
    isDown = true
    lastY = y
  }
}

function drawMarkers(
  context: CanvasRenderingContext2D,
  layout: Layout,
  lane: Lane,
  scale: ValueScale,
  { series, first, last }: DrawnPoints,
): void {
  const { times, values, sampled } = series
  const gap = (layout.right - layout.left) / Math.max(1, last - first)
  if (sampled !== false || gap < MARKER_GAP) return
  for (let index = first; index < last; index++) {
    if (Number.isNaN(values[index]!)) continue
    context.beginPath()
    context.arc(xOf(layout, times[index]!), yOf(lane, scale, values[index]!), 2.4, 0, 7)
    context.fill()
  }
}

/** Shades the stretches without a good value, from a break to the next good point. */
export function shadeBreaks(
  context: CanvasRenderingContext2D,
  layout: Layout,
  lane: Lane,
  { times, values }: Series,
  pattern: CanvasPattern | string,
  now: number,
): void {
  const { span } = layout
  const first = Math.max(0, firstAtOrAfter(times, span.from) - 1)
  context.save()
  context.fillStyle = pattern
  for (let index = first; index < times.length && times[index]! <= span.to; index++) {
    if (!Number.isNaN(values[index]!)) continue
    let end = index + 1
    while (end < times.length && Number.isNaN(values[end]!)) end++
    const from = Math.max(layout.left, xOf(layout, times[index]!))
    const to = Math.min(layout.right, xOf(layout, end < times.length ? times[end]! : Math.min(now, span.to)))
    if (to >= from) context.fillRect(Math.min(from, to - 2), lane.top, Math.max(2, to - from), lane.height)
    index = end
  }
  context.restore()
}
