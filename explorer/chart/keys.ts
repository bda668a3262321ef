import { loaders } from '../curves/loaders.ts'
import { commitSpan, cursor, isMoving, moveSpan, selectedPen, span, step, view } from '../state/store.ts'
import { zoomAt } from './gestures.ts'
import { layout } from './signals.ts'

const REST_MS = 350
let timer: ReturnType<typeof setTimeout> | undefined

/** Keys of the chart itself; those of the whole page are in page/shortcuts.ts. */
export function addKeys(host: HTMLElement): void {
  host.addEventListener('blur', () => delete host.dataset.by)
  host.addEventListener('keydown', (event) => {
    delete host.dataset.by
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const action = actionOf(event)
    if (action === null) return
    event.preventDefault()
    event.stopPropagation()
    action()
  })
}

function actionOf({ key, shiftKey }: KeyboardEvent): (() => void) | null {
  switch (key) {
    case 'ArrowLeft':
      return () => pan(shiftKey ? -1 : -0.1)
    case 'ArrowRight':
      return () => pan(shiftKey ? 1 : 0.1)
    case 'ArrowUp':
    case '+':
    case '=':
      return () => zoom(1 / 1.5)
    case 'ArrowDown':
    case '-':
      return () => zoom(1.5)
    case 'Home':
      return () => moveCursor(span.peek().from)
    case 'End':
      return () => moveCursor(span.peek().to)
    case ',':
      return () => moveCursor(cursorTime() - pixels(4))
    case '.':
      return () => moveCursor(cursorTime() + pixels(4))
    case '<':
      return () => moveCursor(cursorTime() - pixels(40))
    case '>':
      return () => moveCursor(cursorTime() + pixels(40))
    case 'n':
      return () => toPoint(1, false)
    case 'p':
      return () => toPoint(-1, false)
    case 'N':
      return () => toPoint(1, true)
    case 'P':
      return () => toPoint(-1, true)
    case 'a':
      return () => step({ a: Math.round(cursorTime()) })
    case 'b':
      return () => step({ b: Math.round(cursorTime()) })
    case 'Escape':
      return escapeAction()
    default:
      return null
  }
}

/** Takes the cursor away, then A and B; after that the key is the browser's, which closes what is open. */
function escapeAction(): (() => void) | null {
  if (cursor.peek() !== null) return () => (cursor.value = null)
  const { a, b } = view.peek()
  return a === null && b === null ? null : () => step({ a: null, b: null })
}

/** Moves by a share of what is seen. */
export function pan(share: number): void {
  const { from, to } = span.peek()
  const by = (to - from) * share
  isMoving.value = true
  moveSpan(from + by, to + by)
  commitSoon()
}

export function zoom(factor: number): void {
  const { from, to } = span.peek()
  const at = cursor.peek()
  isMoving.value = true
  zoomAt(at !== null && at > from && at < to ? at : (from + to) / 2, factor)
  commitSoon()
}

/** Keys that are held down make one step. */
function commitSoon(): void {
  clearTimeout(timer)
  timer = setTimeout(commitSpan, REST_MS)
}

function cursorTime(): number {
  const { from, to } = span.peek()
  return cursor.peek() ?? (from + to) / 2
}

function pixels(count: number): number {
  const places = layout.peek()
  const { from, to } = span.peek()
  return places === null ? 0 : (count * (to - from)) / (places.right - places.left)
}

function moveCursor(at: number): void {
  const { from, to } = span.peek()
  cursor.value = Math.min(to, Math.max(from, at))
}

/** To the next or the previous point of the selected pen that is drawn, or to the next one with another value. */
export function toPoint(direction: 1 | -1, isChange: boolean): void {
  const loader = loaders.peek().get(selectedPen.peek()?.address ?? '')
  if (loader === undefined) return
  const { times, values } = loader.series.peek()
  const here = cursorTime()
  let index = direction === 1 ? times.findIndex((at) => at > here) : times.findLastIndex((at) => at < here)
  const start = Math.max(
    0,
    times.findLastIndex((at) => at <= here),
  )
  while (isChange && index >= 0 && index < times.length && Object.is(values[index], values[start]))
    index += direction
  const at = times[index]
  if (at === undefined) return
  const { from, to } = span.peek()
  if (at < from || at > to) {
    moveSpan(at - (to - from) / 2, at + (to - from) / 2)
    commitSoon()
  }
  cursor.value = at
}
