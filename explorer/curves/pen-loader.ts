import { batch, signal } from '@preact/signals-core'
import { isCancelled, ServiceError, sentenceFor } from '../api/client.ts'
import { isoOf, type ReadRequest, readMulti } from '../api/multi.ts'
import type { Metadata } from '../api/tags.ts'
import { type CurrentPoint, type PlotRange, readPlot } from './plot.ts'
import { appended, EMPTY_SERIES, type Series } from './series.ts'

/** What is wrong with a pen, and where in its address. */
export interface PenError {
  readonly message: string
  /** Counted from 1; null where it is about no place. */
  readonly column: number | null
}

/** Between two requests of a span that keeps moving. */
const PAUSE_MS = 60
/** Asked for beyond each edge of what is seen, as a share of it, so that a pan finds points there. */
const OVERSCAN = 0.2
/** A trend that follows now is loaded anew when this many points have gathered. */
const MOST_POINTS = 60_000
/** A loaded column may be this much wider than a wanted one before it is loaded anew. */
const COARSEST = 1.05
const FINEST = 0.4

/**
 * The points of one pen. At most one request is under way: one that a newer span made needless is cancelled, and the
 * last good picture stays until the next one is here.
 */
export class PenLoader {
  readonly tag: string
  /** By which the points are moved to later, for an earlier period below the present one. */
  readonly shiftMs: number
  readonly series = signal<Series>(EMPTY_SERIES)
  readonly current = signal<CurrentPoint | null>(null)
  readonly metadata = signal<Metadata | null>(null)
  readonly stepped = signal(false)
  readonly error = signal<PenError | null>(null)
  readonly isLoading = signal(false)

  #wanted: PlotRange | null = null
  #running: { readonly range: PlotRange; readonly cancel: AbortController } | null = null
  #lastStart = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #zone = 'UTC'
  #isClosed = false
  #knowsStepped = false

  constructor(tag: string, shiftMs = 0) {
    this.tag = tag
    this.shiftMs = shiftMs
  }

  /** Loads what is missing of a span at a width in pixels. */
  want(from: number, to: number, width: number, zone: string): void {
    const extra = (to - from) * OVERSCAN
    const columns = Math.min(10_000, Math.max(16, Math.ceil(width * (1 + 2 * OVERSCAN))))
    this.#wanted = { from: from - extra, to: to + extra, columns }
    this.#zone = zone
    const inner = { from, to, columns: width }
    if (this.error.peek() === null && isEnough(this.series.peek(), inner)) {
      this.#drop()
      return
    }
    if (this.#running !== null && isEnough(this.#running.range, inner)) return
    this.#cancelRunning()
    this.#schedule()
  }

  /** Loads the last wanted range again, whatever is there. */
  reload(): void {
    this.#cancelRunning()
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    this.#drop()
  }

  /** The newest points behind those that are there; nothing while a whole picture is loaded. */
  get tail(): ReadRequest | null {
    const { times, to } = this.series.peek()
    if (this.#running !== null || this.error.peek() !== null || to === 0) return null
    const from = times.at(-1) ?? to
    return {
      type: 'RAW_POINTS',
      tag: this.tag,
      details: { from: isoOf(from), to: 'now', maxPoints: 1_000, rightBoundary: 'INCLUDE' },
    }
  }

  append(times: readonly number[], values: readonly number[], to: number): void {
    if (this.#running !== null) return
    const before = this.series.peek()
    this.series.value = appended(before, times, values, to)
    const at = times.at(-1)
    const value = values.at(-1)
    if (at === undefined || value === undefined) return
    if (this.series.peek().times.length > MOST_POINTS) this.reload()
    this.current.value = { at, value: Number.isNaN(value) ? null : value, isGood: !Number.isNaN(value) }
  }

  #drop(): void {
    this.#wanted = null
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#cancelRunning()
    this.isLoading.value = false
  }

  #cancelRunning(): void {
    this.#running?.cancel.abort()
    this.#running = null
  }

  #schedule(): void {
    this.isLoading.value = true
    if (this.#timer !== undefined) return
    const wait = Math.max(0, this.#lastStart + PAUSE_MS - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#wanted !== null && !this.#isClosed) void this.#load(this.#wanted)
    }, wait)
  }

  async #load(range: PlotRange): Promise<void> {
    this.#cancelRunning()
    const cancel = new AbortController()
    this.#running = { range, cancel }
    this.#lastStart = performance.now()
    const { from, to, columns } = range
    const shifted = { from: from - this.shiftMs, to: to - this.shiftMs, columns }
    try {
      const plot = await readPlot(this.tag, shifted, { zone: this.#zone, cancel: cancel.signal })
      if (cancel.signal.aborted) return
      batch(() => {
        this.#running = null
        this.series.value = this.shiftMs === 0 ? plot.series : movedBy(plot.series, this.shiftMs)
        this.current.value = plot.current
        this.error.value = null
        this.isLoading.value = false
      })
      if (this.metadata.peek() === null && !this.#knowsStepped) await this.#learnStepped()
    } catch (error) {
      if (isCancelled(error) || cancel.signal.aborted) return
      this.#running = null
      const column = error instanceof ServiceError ? error.issues.find((issue) => issue.column)?.column : null
      batch(() => {
        this.error.value = { message: sentenceFor(error), column: column ?? null }
        this.isLoading.value = false
      })
    }
  }

  /** Whether a calculation is stepped shows between two of its points that differ. */
  async #learnStepped(): Promise<void> {
    const { times, values } = this.series.peek()
    const at = values.findIndex(
      (value, index) => index > 0 && value !== values[index - 1] && !Number.isNaN(value),
    )
    if (at < 1 || this.tag === '') return
    const middle = (times[at - 1]! + times[at]!) / 2 - this.shiftMs
    const answer = await readMulti(
      { near: { type: 'ADJACENT_POINTS', tag: this.tag, details: { at: isoOf(middle) } } },
      { zone: this.#zone },
    ).catch(() => null)
    const { before, at: here, after } = answer?.results.near ?? {}
    if (before == null || here == null || after == null || before.value === after.value) return
    if (here.timestamp === before.timestamp) return
    this.#knowsStepped = true
    this.stepped.value = here.value === before.value
  }
}

/** Whether loaded columns cover a span, and are neither much wider nor much narrower than wanted ones. */
function isEnough(loaded: PlotRange & { readonly sampled?: Series['sampled'] }, wanted: PlotRange): boolean {
  if (loaded.columns === 0) return false
  const loadedMs = (loaded.to - loaded.from) / loaded.columns
  // A live span runs ahead of what is loaded by the milliseconds that an answer takes.
  if (loaded.from > wanted.from || loaded.to < wanted.to - 2 * loadedMs) return false
  const wantedMs = (wanted.to - wanted.from) / wanted.columns
  if (loadedMs < wantedMs * FINEST) return false
  return loadedMs <= wantedMs * COARSEST || loaded.sampled === false
}

function movedBy(series: Series, ms: number): Series {
  return {
    ...series,
    from: series.from + ms,
    to: series.to + ms,
    times: series.times.map((time) => time + ms),
  }
}
