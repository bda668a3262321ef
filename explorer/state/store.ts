import { batch, computed, signal } from '@preact/signals-core'
import { isCancelled, sentenceFor, serviceNow } from '../api/client.ts'
import { readTime } from '../api/multi.ts'
import { browserZone, isoText, isZone } from '../time/zone.ts'
import {
  emptyView,
  followsNow,
  hashToView,
  MOST_PENS,
  newPen,
  type Pen,
  type View,
  viewToHash,
} from './view.ts'

/** What is seen of the time axis, in epoch milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
}

const LEAST_MS = 10
const MOST_MS = 200 * 366 * 86_400_000
export const EARLIEST = Date.UTC(1700, 0, 2)
export const LATEST = Date.UTC(2199, 11, 30)

const home = browserZone()

/** What the address says. */
export const view = signal<View>(emptyView(home))

/** What the chart shows now; between two steps it can differ from what the address says. */
export const span = signal<Span>({ from: Date.now() - 28_800_000, to: Date.now() })

/** Whether the span follows the clock. */
export const isLive = signal(false)

/** The sentence about a range that could not be read. */
export const rangeError = signal('')

/** Which end of the range that sentence is about. */
export const rangeErrorEnd = signal<'from' | 'to'>('from')

/** Instant below the pointer or the keyboard's cursor; null when there is none. */
export const cursor = signal<number | null>(null)

/** The last sentence about something that was done, such as `Copied.` */
export const notice = signal('')

/** Whether the span is moved at this moment, so that scales should only grow. */
export const isMoving = signal(false)

export const zone = computed(() => view.value.zone)
export const visiblePens = computed(() => view.value.pens.filter(({ hidden }) => !hidden))
export const selectedPen = computed(
  () => view.value.pens.find(({ address }) => address === view.value.selected) ?? view.value.pens[0] ?? null,
)

/** The view that the address holds; a drag changes what is shown before it is a step. */
let committed = ''

/** Steps that the browser's Back can go back without leaving the page. */
let depth = 0

/** Takes the view from the address, and follows the browser's Back and Forward. */
export function startHistory(): void {
  depth = typeof history.state?.depth === 'number' ? history.state.depth : 0
  takeAddress()
  history.replaceState({ depth }, '', `#${committed}`)
  addEventListener('popstate', ({ state }) => {
    depth = typeof state?.depth === 'number' ? state.depth : 0
    takeAddress()
  })
}

function takeAddress(): void {
  const next = hashToView(location.hash, home, isZone)
  view.value = next
  committed = viewToHash(next, home)
  void resolveRange(next.from, next.to)
}

export function stepBack(): void {
  if (depth > 0) history.back()
}

/** Changes the view as one step that Back takes back. */
export function step(change: Partial<View>): void {
  const next = { ...view.peek(), ...change }
  const after = viewToHash(next, home)
  view.value = next
  if (after === committed) return
  committed = after
  depth++
  history.pushState({ depth }, '', `#${after}`)
}

/** Changes the view without a step of its own: which panel is open is no place to go back to. */
export function adjust(change: Partial<View>): void {
  view.value = { ...view.peek(), ...change }
  committed = viewToHash(view.peek(), home)
  history.replaceState({ depth }, '', `#${committed}`)
}

/** Moves what is seen, at once; `commitSpan` makes it a step. */
export function moveSpan(from: number, to: number): void {
  const length = Math.min(MOST_MS, Math.max(LEAST_MS, to - from))
  const middle = (from + to) / 2
  const start = Math.min(Math.max(middle - length / 2, EARLIEST), LATEST - length)
  isLive.value = false
  span.value = { from: start, to: start + length }
}

/** Makes what is seen the range of the view. */
export function commitSpan(): void {
  // Somebody who chose to follow now while a pan came to rest meant the later wish.
  if (isLive.peek()) {
    isMoving.value = false
    return
  }
  const { from, to } = span.peek()
  isMoving.value = false
  rangeError.value = ''
  step({ from: isoText(Math.round(from), zone.peek()), to: isoText(Math.round(to), zone.peek()) })
}

let resolving: AbortController | null = null

/** Shows a typed range and makes it a step, when the service can read it. */
export async function setRange(from: string, to: string): Promise<boolean> {
  const ok = await resolveRange(from, to)
  if (ok) step({ from: from.trim(), to: to.trim() })
  return ok
}

/** Moves the span to what two texts mean. */
async function resolveRange(from: string, to: string): Promise<boolean> {
  resolving?.abort()
  const cancel = new AbortController()
  resolving = cancel
  const now = serviceNow()
  let end: 'from' | 'to' = 'to'
  try {
    const last = quickTime(to, now) ?? (await readEnd(to, cancel.signal))
    end = 'from'
    const first = quickTime(from, now) ?? (await readEnd(from, cancel.signal))
    if (cancel.signal.aborted) return false
    if (!(first < last)) throw new Error('The range must begin before it ends.')
    batch(() => {
      rangeError.value = ''
      span.value = { from: first, to: last }
      isLive.value = followsNow(to)
    })
    return true
  } catch (error) {
    if (isCancelled(error) || cancel.signal.aborted) return false
    rangeErrorEnd.value = end
    rangeError.value = sentenceFor(error)
    return false
  }
}

function readEnd(text: string, cancel: AbortSignal): Promise<number> {
  return readTime(text, { zone: zone.peek(), cancel })
}

/** Times that need no service: instants of our own, and exact durations before now. Null for everything else. */
function quickTime(text: string, now: number): number | null {
  const trimmed = text.trim()
  if (followsNow(trimmed)) return now
  const before = /^\*-(\d+(?:\.\d+)?)([smh])$/.exec(trimmed)
  if (before !== null)
    return now - Number(before[1]) * { s: 1e3, m: 6e4, h: 36e5 }[before[2] as 's' | 'm' | 'h']
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)$/.test(trimmed)) {
    const at = Date.parse(trimmed)
    return at >= EARLIEST && at < LATEST ? at : null
  }
  return null
}

/** Follows now with the present length of the span. */
export function goLive(): void {
  const { from, to } = span.peek()
  const now = serviceNow()
  batch(() => {
    span.value = { from: now - (to - from), to: now }
    isLive.value = true
    rangeError.value = ''
  })
  step({ from: `*-${lengthText(to - from)}`, to: '*' })
}

/** A length as the interface reads it, to the second. */
function lengthText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000))
  if (seconds % 3600 === 0) return `${seconds / 3600}h`
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}

export function toggleLive(): void {
  if (isLive.peek()) {
    isLive.value = false
    commitSpan()
  } else goLive()
}

/** Moves a live span on to now. */
export function followNow(): void {
  const { from, to } = span.peek()
  const now = serviceNow()
  span.value = { from: from + (now - to), to: now }
}

export function addPens(addresses: readonly string[]): void {
  let { pens } = view.peek()
  for (const address of addresses) {
    if (pens.some((pen) => pen.address === address)) continue
    if (pens.length >= MOST_PENS) {
      notice.value = `A trend holds at most ${MOST_PENS} pens.`
      break
    }
    pens = [...pens, newPen(address, pens)]
  }
  step({ pens })
}

export function changePen(address: string, change: Partial<Pen>): void {
  step({ pens: view.peek().pens.map((pen) => (pen.address === address ? { ...pen, ...change } : pen)) })
}

export function removePen(address: string): void {
  step({ pens: view.peek().pens.filter((pen) => pen.address !== address) })
}

/** Shows one pen alone, or all again when it is alone already. */
export function singleOut(address: string): void {
  const { pens } = view.peek()
  const isAlone = pens.every((pen) => pen.hidden === (pen.address !== address))
  step({ pens: pens.map((pen) => ({ ...pen, hidden: isAlone ? false : pen.address !== address })) })
}

/** Moves a pen up or down in the list. */
export function movePen(address: string, by: number): void {
  const pens = [...view.peek().pens]
  const at = pens.findIndex((pen) => pen.address === address)
  const to = at + by
  if (at < 0 || to < 0 || to >= pens.length) return
  pens.splice(to, 0, ...pens.splice(at, 1))
  step({ pens })
}

/** The address of the present view, to send to somebody: with instants where it is not live. */
export function shareAddress(): string {
  return `${location.origin}${location.pathname}#${viewToHash(view.peek(), '')}`
}
