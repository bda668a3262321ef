import { firstAtOrAfter } from '../curves/series.ts'
import { PALETTE_SIZE } from '../state/view.ts'
import { type Curve, type Lane, statesOf, xOf } from './layout.ts'
import type { Picture } from './picture.ts'

/** Which colour of the palette a state has, by its place among the numbers; null for a value without a name. */
export function colorOfState(states: ReadonlyMap<number, string>, value: number): number | null {
  if (!states.has(value)) return null
  return [...states.keys()].filter((number) => number < value).length % PALETTE_SIZE
}

/** A tag with states: a bar in the colours of its states, with their names where there is room. */
export function drawStates(
  context: CanvasRenderingContext2D,
  { layout, theme, now }: Picture,
  { top, height }: Lane,
  { loader }: Curve,
): void {
  const { times, values } = loader.series.value
  const states = statesOf(loader)!
  const { span } = layout
  context.save()
  context.beginPath()
  context.rect(layout.left, top, layout.right - layout.left, height)
  context.clip()
  context.fillStyle = theme.grid
  context.fillRect(layout.left, top, layout.right - layout.left, height)
  context.textAlign = 'left'
  const first = Math.max(0, firstAtOrAfter(times, span.from) - 1)
  for (let index = first; index < times.length && times[index]! <= span.to; ) {
    const value = values[index]!
    let end = index + 1
    while (end < times.length && values[end] === value) end++
    const left = Math.max(layout.left, xOf(layout, times[index]!))
    const right = Math.min(layout.right, xOf(layout, times[end] ?? Math.min(now, span.to)))
    index = end
    if (Number.isNaN(value) || right <= left) continue
    const color = colorOfState(states, value)
    context.globalAlpha = 0.85
    context.fillStyle = color === null ? theme.muted : theme.pens[color]!
    context.fillRect(left, top, Math.max(1, right - left - 1), height)
    context.globalAlpha = 1
    const name = states.get(value) ?? String(value)
    if (right - left < context.measureText(name).width + 14) continue
    context.fillStyle = theme.surface
    context.fillText(name, left + 7, top + height / 2 + 0.5)
  }
  context.restore()
}
