import { timeTicks } from '../time/ticks.ts'
import { drawCurve, shadeBreaks } from './draw-curve.ts'
import { drawStates } from './draw-states.ts'
import { type Curve, type Lane, type ScaleGroup, xOf, yOf } from './layout.ts'
import type { Picture } from './picture.ts'
import type { Theme } from './theme.ts'
import { tickText, valueTicks } from './value-ticks.ts'

/** Draws the whole chart but its cursors. */
export function drawPicture(context: CanvasRenderingContext2D, picture: Picture): void {
  const { layout, theme } = picture
  context.clearRect(0, 0, layout.width, layout.height)
  context.font = `11px ${theme.font}`
  context.textBaseline = 'middle'
  drawTimeAxis(context, picture)
  for (const { from, to } of picture.shaded) {
    const left = Math.max(layout.left, xOf(layout, from))
    const right = Math.min(layout.right, xOf(layout, to))
    if (right <= left) continue
    context.save()
    context.globalAlpha = 0.1
    context.fillStyle = theme.accent
    context.fillRect(left, layout.top, right - left, layout.bottom - layout.top)
    context.restore()
  }
  for (const lane of layout.lanes) {
    if (lane.states !== null) drawStates(context, picture, lane, lane.states)
    else drawLane(context, picture, lane)
  }
  drawNow(context, picture)
}

function drawLane(context: CanvasRenderingContext2D, picture: Picture, lane: Lane): void {
  const { layout, theme } = picture
  const [first] = lane.groups
  context.strokeStyle = theme.grid
  context.lineWidth = 1
  context.strokeRect(layout.left + 0.5, crisp(lane.top), layout.right - layout.left, Math.round(lane.height))
  if (first !== undefined) {
    context.beginPath()
    for (const value of valueTicks(first.scale)) {
      const y = crisp(yOf(lane, first.scale, value))
      if (y <= lane.top + 1 || y >= lane.top + lane.height - 1) continue
      context.moveTo(layout.left, y)
      context.lineTo(layout.right, y)
    }
    context.stroke()
  }
  const hatch = hatchOf(context, theme)
  for (const { curves } of lane.groups) {
    for (const { loader } of curves)
      shadeBreaks(context, layout, lane, loader.series.value, hatch, picture.now)
  }
  for (const group of lane.groups) drawAxis(context, picture, lane, group)
  for (const group of lane.groups) {
    for (const curve of group.curves) drawLimits(context, picture, lane, group, curve)
  }
  // The selected pen lies on top.
  const curves = lane.groups.flatMap((group) => group.curves.map((curve) => ({ group, curve })))
  curves.sort((a, b) => Number(isSelected(a.curve, picture)) - Number(isSelected(b.curve, picture)))
  for (const { group, curve } of curves) drawPen(context, picture, lane, group, curve)
}

function isSelected({ pen }: Curve, { selected }: Picture): boolean {
  return pen.address === selected
}

function drawPen(
  context: CanvasRenderingContext2D,
  picture: Picture,
  lane: Lane,
  { scale }: ScaleGroup,
  curve: Curve,
): void {
  const { layout, theme, now } = picture
  const color = theme.pens[curve.pen.color]!
  const stepped = curve.loader.stepped.value
  if (curve.earlier !== undefined) {
    const style = { color, width: 1.25, dash: [5, 4], alpha: 0.55, hasMarkers: false, stepped }
    drawCurve(context, layout, lane, scale, curve.earlier, style, now)
  }
  const width = isSelected(curve, picture) ? 2 : 1.35
  const style = { color, width, dash: [], alpha: 1, hasMarkers: true, stepped }
  drawCurve(context, layout, lane, scale, curve.loader, style, now)
}

/** Limits as thin dashed lines, and a tint beyond fixed ones. */
function drawLimits(
  context: CanvasRenderingContext2D,
  picture: Picture,
  lane: Lane,
  { scale }: ScaleGroup,
  { pen }: Curve,
): void {
  const { layout, theme, now } = picture
  for (const { side, value } of pen.limits) {
    const color = theme.bad
    if (typeof value === 'string') {
      const loader = picture.limitOf(value)
      const stepped = loader?.stepped.value ?? false
      const style = { color, width: 1, dash: [6, 3], alpha: 0.9, hasMarkers: false, stepped }
      if (loader !== undefined) drawCurve(context, layout, lane, scale, loader, style, now)
      continue
    }
    const y = Math.min(lane.top + lane.height, Math.max(lane.top, yOf(lane, scale, value)))
    const edge = side === 'high' ? lane.top : lane.top + lane.height
    context.save()
    context.fillStyle = color
    context.globalAlpha = 0.07
    context.fillRect(layout.left, Math.min(y, edge), layout.right - layout.left, Math.abs(edge - y))
    context.globalAlpha = 0.9
    context.strokeStyle = color
    context.setLineDash([6, 3])
    context.beginPath()
    context.moveTo(layout.left, crisp(y))
    context.lineTo(layout.right, crisp(y))
    context.stroke()
    context.restore()
  }
}

function drawAxis(
  context: CanvasRenderingContext2D,
  { theme }: Picture,
  lane: Lane,
  group: ScaleGroup,
): void {
  if (group.axisWidth === 0) return
  const right = group.axisX + group.axisWidth
  const [only, ...others] = group.curves
  context.textAlign = 'right'
  context.fillStyle = theme.muted
  for (const value of valueTicks(group.scale)) {
    const y = yOf(lane, group.scale, value)
    if (y < lane.top - 1 || y > lane.top + lane.height + 1) continue
    // The topmost place belongs to the unit.
    const isTop = y < lane.top + 18 && group.unit !== ''
    const within = Math.min(Math.max(y, lane.top + 5), lane.top + lane.height - 5)
    if (!isTop) context.fillText(tickText(value, group.scale.step), right - 8, within)
  }
  context.fillStyle = others.length === 0 && only !== undefined ? theme.pens[only.pen.color]! : theme.muted
  if (group.unit !== '') context.fillText(group.unit.slice(0, 8), right - 8, lane.top + 4)
  for (const [index, { pen }] of group.curves.slice(0, 6).entries()) {
    context.fillStyle = theme.pens[pen.color]!
    context.fillRect(right - 3, lane.top + 14 + index * 9, 3, 7)
  }
}

function drawTimeAxis(context: CanvasRenderingContext2D, { layout, theme, view }: Picture): void {
  const { span, left, right, bottom } = layout
  context.strokeStyle = theme.grid
  context.lineWidth = 1
  context.textAlign = 'center'
  const ticks = timeTicks(span.from, span.to, right - left, view.zone)
  context.beginPath()
  for (const { at } of ticks) {
    const x = crisp(xOf(layout, at))
    context.moveTo(x, layout.top)
    context.lineTo(x, bottom + 4)
  }
  context.stroke()
  for (const { at, label, below } of ticks) {
    const x = Math.min(Math.max(xOf(layout, at), left + 8), right - 14)
    context.fillStyle = theme.muted
    context.fillText(label, x, bottom + 13)
    context.fillStyle = theme.faint
    if (below !== '') context.fillText(below, Math.min(x, right - 18), bottom + 28)
  }
}

/** A thin line at now, where the future begins. */
function drawNow(context: CanvasRenderingContext2D, { layout, theme, now }: Picture): void {
  if (now < layout.span.from || now > layout.span.to) return
  const x = crisp(xOf(layout, now))
  context.save()
  context.strokeStyle = theme.accent
  context.globalAlpha = 0.5
  context.beginPath()
  context.moveTo(x, layout.top)
  context.lineTo(x, layout.bottom)
  context.stroke()
  context.restore()
}

let hatch: { readonly color: string; readonly pattern: CanvasPattern | string } | null = null

/** Diagonal lines, told from a tint also without colours. */
function hatchOf(context: CanvasRenderingContext2D, { bad }: Theme): CanvasPattern | string {
  if (hatch?.color === bad) return hatch.pattern
  const tile = document.createElement('canvas')
  tile.width = tile.height = 8
  const pen = tile.getContext('2d')!
  pen.globalAlpha = 0.1
  pen.fillStyle = bad
  pen.fillRect(0, 0, 8, 8)
  pen.globalAlpha = 0.4
  pen.strokeStyle = bad
  pen.beginPath()
  for (const x of [-8, 0, 8]) {
    pen.moveTo(x, 8)
    pen.lineTo(x + 8, 0)
  }
  pen.stroke()
  hatch = { color: bad, pattern: context.createPattern(tile, 'repeat') ?? bad }
  return hatch.pattern
}

/** The middle of a device-independent pixel, so that thin lines are not blurred. */
export function crisp(position: number): number {
  return Math.round(position) + 0.5
}
