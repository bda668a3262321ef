import { loaders } from '../curves/loaders.ts'
import { readingAt } from '../curves/series.ts'
import type { View } from '../state/view.ts'
import { durationText, timeText } from '../time/zone.ts'
import { crisp } from './draw.ts'
import { type Layout, xOf, yOf } from './layout.ts'
import { reachMs } from './signals.ts'
import type { Theme } from './theme.ts'

export interface Overlay {
  readonly layout: Layout
  readonly view: View
  readonly theme: Theme
  readonly cursor: number | null
  readonly band: { readonly from: number; readonly to: number } | null
}

/** Cursors, their points, and the span that is being drawn: all that moves without the curves. */
export function drawOverlay(context: CanvasRenderingContext2D, overlay: Overlay): void {
  const { layout, view, theme, cursor, band } = overlay
  context.clearRect(0, 0, layout.width, layout.height)
  context.font = `11px ${theme.font}`
  context.textBaseline = 'middle'
  if (view.a !== null && view.b !== null) tint(context, overlay, view.a, view.b, 0.06)
  if (view.a !== null) drawLine(context, overlay, view.a, 'A', theme.accent)
  if (view.b !== null) {
    const apart = view.a === null ? '' : `  ${durationText(view.b - view.a)}`
    drawLine(context, overlay, view.b, `B${apart}`, theme.accent)
  }
  if (band !== null) tint(context, overlay, band.from, band.to, 0.16)
  if (cursor === null) return
  // Where a pixel is longer than a second, fractions of one would only flicker.
  const shown = layout.span.to - layout.span.from > 1_200_000 ? Math.round(cursor / 1000) * 1000 : cursor
  drawLine(context, overlay, cursor, timeText(shown, view.zone), theme.ink)
  drawReadings(context, overlay, cursor)
}

function tint(
  context: CanvasRenderingContext2D,
  { layout, theme }: Overlay,
  a: number,
  b: number,
  alpha: number,
): void {
  const left = Math.max(layout.left, xOf(layout, Math.min(a, b)))
  const right = Math.min(layout.right, xOf(layout, Math.max(a, b)))
  if (right <= left) return
  context.save()
  context.globalAlpha = alpha
  context.fillStyle = theme.accent
  context.fillRect(left, layout.top, right - left, layout.bottom - layout.top)
  context.restore()
}

function drawLine(
  context: CanvasRenderingContext2D,
  { layout, theme }: Overlay,
  at: number,
  label: string,
  color: string,
): void {
  const x = crisp(xOf(layout, at))
  if (x < layout.left || x > layout.right + 1) return
  context.save()
  context.strokeStyle = color
  context.globalAlpha = 0.6
  context.beginPath()
  context.moveTo(x, layout.top)
  context.lineTo(x, layout.bottom)
  context.stroke()
  context.globalAlpha = 1
  const width = context.measureText(label).width + 12
  const left = Math.min(Math.max(x - width / 2, layout.left), layout.right - width)
  context.fillStyle = color
  context.beginPath()
  context.roundRect(left, layout.bottom + 3, width, 18, 4)
  context.fill()
  context.fillStyle = theme.surface
  context.textAlign = 'left'
  context.fillText(label, left + 6, layout.bottom + 12.5)
  context.restore()
}

function drawReadings(context: CanvasRenderingContext2D, { layout, theme }: Overlay, at: number): void {
  for (const lane of layout.lanes) {
    for (const { curves, scale } of lane.groups) {
      for (const { pen } of curves) {
        const loader = loaders.peek().get(pen.address)
        if (loader === undefined) continue
        const reading = readingAt(loader.series.peek(), at, loader.stepped.peek(), reachMs())
        if (reading?.value == null) continue
        const x = Math.max(layout.left, xOf(layout, reading.at))
        const y = yOf(lane, scale, reading.value)
        if (x > layout.right || y < lane.top - 4 || y > lane.top + lane.height + 4) continue
        context.beginPath()
        context.arc(x, y, 4, 0, 7)
        context.fillStyle = theme.surface
        context.fill()
        context.lineWidth = 2
        context.strokeStyle = theme.pens[pen.color]!
        context.stroke()
        context.lineWidth = 1
      }
    }
  }
}
