import {
  changePen,
  commitSpan,
  cursor,
  isMoving,
  moveSpan,
  span,
  step,
  stepBack,
  view,
} from '../state/store.ts'
import { type Layout, type ScaleGroup, timeAtX, xOf } from './layout.ts'
import { layout, rubberBand } from './signals.ts'

/** A wheel that rests this long has made its step. */
const WHEEL_REST_MS = 350
/** A pointer that moved less than this has tapped. */
const TAP_PX = 5
const DOUBLE_TAP_MS = 320

type Drag =
  | { readonly kind: 'pan'; readonly x: number; readonly from: number; readonly to: number }
  | { readonly kind: 'zoom'; readonly at: number }
  | { readonly kind: 'cursor'; readonly which: 'a' | 'b' }
  | {
      readonly kind: 'scale'
      readonly group: ScaleGroup
      readonly y: number
      readonly isEnd: 'low' | 'high' | 'both'
    }

/**
 * Pointer, wheel and touch: a drag pans, a drag with Shift or the right button zooms to a span, the wheel zooms at the
 * pointer, two fingers pinch, a double click is one step back, and a drag on an axis moves its scale.
 */
export function addGestures(host: HTMLElement): void {
  const pointers = new Map<number, { x: number; y: number }>()
  let drag: Drag | null = null
  let pinch: {
    readonly gap: number
    readonly at: number
    readonly from: number
    readonly to: number
  } | null = null
  let startX = 0
  let hasMoved = false
  let lastTap = 0
  let wheelTimer: ReturnType<typeof setTimeout> | undefined

  const place = (event: { clientX: number; clientY: number }) => {
    const box = host.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }

  host.addEventListener('pointerdown', (event) => {
    const places = layout.peek()
    if (places === null || event.button === 1) return
    // The ring around what has the focus is for those who came by keyboard.
    host.dataset.by = 'pointer'
    host.focus({ preventScroll: true })
    host.setPointerCapture(event.pointerId)
    const at = place(event)
    pointers.set(event.pointerId, at)
    if (pointers.size === 2) {
      const [one, two] = [...pointers.values()]
      drag = null
      rubberBand.value = null
      pinch = {
        gap: Math.max(20, Math.abs(one!.x - two!.x)),
        at: timeAtX(places, (one!.x + two!.x) / 2),
        ...span.peek(),
      }
      return
    }
    startX = at.x
    hasMoved = false
    drag = dragAt(places, at, event.shiftKey || event.button === 2)
  })

  host.addEventListener('pointermove', (event) => {
    const places = layout.peek()
    if (places === null) return
    const at = place(event)
    if (!pointers.has(event.pointerId)) {
      cursor.value = isInPlot(places, at) ? timeAtX(places, at.x) : null
      host.dataset.over = overOf(places, at)
      return
    }
    pointers.set(event.pointerId, at)
    if (pinch !== null && pointers.size >= 2) return pinchTo(places)
    if (drag === null) return
    if (Math.abs(at.x - startX) > TAP_PX) hasMoved = true
    if (drag.kind === 'scale') return dragScale(places, drag, at.y)
    if (!hasMoved) return
    if (drag.kind === 'pan') {
      const perPixel = (drag.to - drag.from) / (places.right - places.left)
      const by = (drag.x - at.x) * perPixel
      isMoving.value = true
      cursor.value = null
      moveSpan(drag.from + by, drag.to + by)
    } else if (drag.kind === 'zoom') rubberBand.value = { from: drag.at, to: clampedTime(places, at.x) }
    else view.value = { ...view.peek(), [drag.which]: Math.round(clampedTime(places, at.x)) }
  })

  const release = (event: PointerEvent) => {
    const places = layout.peek()
    if (!pointers.delete(event.pointerId) || places === null) return
    if (pinch !== null) {
      if (pointers.size > 0) return
      pinch = null
      commitSpan()
      return
    }
    const at = place(event)
    const done = drag
    drag = null
    const band = rubberBand.peek()
    rubberBand.value = null
    if (done === null || event.type === 'pointercancel') return
    if (done.kind === 'scale') return finishScale(done)
    if (done.kind === 'cursor') return step({ [done.which]: Math.round(clampedTime(places, at.x)) })
    if (!hasMoved) return tap(places, at, event)
    if (done.kind === 'zoom' && band !== null) {
      const [from, to] = [Math.min(band.from, band.to), Math.max(band.from, band.to)]
      if (to > from) moveSpan(from, to)
    }
    commitSpan()
  }
  host.addEventListener('pointerup', release)
  host.addEventListener('pointercancel', release)
  host.addEventListener('pointerleave', (event) => {
    if (event.pointerType === 'mouse' && pointers.size === 0) cursor.value = null
  })
  host.addEventListener('contextmenu', (event) => event.preventDefault())

  host.addEventListener(
    'wheel',
    (event) => {
      const places = layout.peek()
      if (places === null) return
      event.preventDefault()
      const { from, to } = span.peek()
      const lines = event.deltaMode === 1 ? 20 : 1
      isMoving.value = true
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
        const delta = (event.deltaX || event.deltaY) * lines
        const by = (delta * (to - from)) / (places.right - places.left)
        moveSpan(from + by, to + by)
      } else {
        const factor = Math.exp(Math.max(-1, Math.min(1, (event.deltaY * lines) / 400)))
        zoomAt(clampedTime(places, place(event).x), factor)
      }
      clearTimeout(wheelTimer)
      wheelTimer = setTimeout(commitSpan, WHEEL_REST_MS)
    },
    { passive: false },
  )

  function tap(places: Layout, at: { x: number; y: number }, event: PointerEvent): void {
    const isDouble = event.timeStamp - lastTap < DOUBLE_TAP_MS
    lastTap = isDouble ? 0 : event.timeStamp
    if (isDouble) stepBack()
    else if (isInPlot(places, at)) cursor.value = timeAtX(places, at.x)
  }

  function pinchTo(places: Layout): void {
    const [one, two] = [...pointers.values()]
    const scale = pinch!.gap / Math.max(20, Math.abs(one!.x - two!.x))
    const length = (pinch!.to - pinch!.from) * scale
    const share = ((one!.x + two!.x) / 2 - places.left) / (places.right - places.left)
    isMoving.value = true
    cursor.value = null
    moveSpan(pinch!.at - share * length, pinch!.at + (1 - share) * length)
  }
}

/** Zooms so that an instant stays where it is. A factor above 1 shows more. */
export function zoomAt(at: number, factor: number): void {
  const { from, to } = span.peek()
  moveSpan(at - (at - from) * factor, at + (to - at) * factor)
}

function dragAt(places: Layout, at: { x: number; y: number }, isZoom: boolean): Drag | null {
  const group = axisAt(places, at)
  if (group !== null) return { kind: 'scale', group: group.group, y: at.y, isEnd: group.end }
  const near = nearCursor(places, at.x)
  if (near !== null && isInPlot(places, at)) return { kind: 'cursor', which: near }
  if (isZoom) return { kind: 'zoom', at: clampedTime(places, at.x) }
  return { kind: 'pan', x: at.x, ...span.peek() }
}

function nearCursor(places: Layout, x: number): 'a' | 'b' | null {
  const { a, b } = view.peek()
  for (const [which, at] of [
    ['a', a],
    ['b', b],
  ] as const) {
    if (at !== null && Math.abs(xOf(places, at) - x) < 5) return which
  }
  return null
}

/** The axis below the pointer: its upper and lower third move one end, the middle moves both. */
function axisAt(places: Layout, { x, y }: { x: number; y: number }) {
  for (const lane of places.lanes) {
    if (y < lane.top || y > lane.top + lane.height) continue
    for (const group of lane.groups) {
      if (group.axisWidth === 0 || x < group.axisX || x >= group.axisX + group.axisWidth) continue
      const share = (y - lane.top) / lane.height
      return {
        group,
        end: share < 1 / 3 ? ('high' as const) : share > 2 / 3 ? ('low' as const) : ('both' as const),
      }
    }
  }
  return null
}

function overOf(places: Layout, at: { x: number; y: number }): string {
  if (axisAt(places, at) !== null) return 'axis'
  if (!isInPlot(places, at)) return ''
  return nearCursor(places, at.x) === null ? 'plot' : 'cursor'
}

function dragScale(places: Layout, drag: Extract<Drag, { kind: 'scale' }>, y: number): void {
  const lane = places.lanes.find(({ groups }) => groups.some(({ id }) => id === drag.group.id))
  if (lane === undefined) return
  const { low, high } = drag.group.scale
  const by = ((y - drag.y) / lane.height) * (high - low)
  const next = {
    low: rounded(drag.isEnd === 'high' ? low : low + by, high - low),
    high: rounded(drag.isEnd === 'low' ? high : high + by, high - low),
  }
  if (next.high <= next.low) return
  const members = new Set(drag.group.curves.map(({ pen }) => pen.address))
  view.value = {
    ...view.peek(),
    pens: view.peek().pens.map((pen) => (members.has(pen.address) ? { ...pen, ...next } : pen)),
  }
}

/** The dragged ends become one step of the view. */
function finishScale({ group }: Extract<Drag, { kind: 'scale' }>): void {
  const address = group.curves[0]?.pen.address
  const pen = view.peek().pens.find((one) => one.address === address)
  if (pen !== undefined) changePen(pen.address, {})
}

function rounded(value: number, range: number): number {
  const unit = 10 ** Math.floor(Math.log10(range / 200))
  return Number((Math.round(value / unit) * unit).toPrecision(12))
}

function isInPlot({ left, right, top, bottom }: Layout, { x, y }: { x: number; y: number }): boolean {
  return x >= left && x <= right && y >= top && y <= bottom
}

function clampedTime(places: Layout, x: number): number {
  return timeAtX(places, Math.min(places.right, Math.max(places.left, x)))
}
