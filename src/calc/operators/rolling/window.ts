import { addDuration, type Duration } from '../../../time/duration.ts'
import { clampInstant, END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import type { RollingWindows } from '../../../time/total-windows.ts'
import { slackUs } from '../../../time/windows.ts'
import type { TimeZone } from '../../../time/zone.ts'
import type { Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import type { MovesOn, OperatorContext } from '../../graph/operator.ts'
import { reachingTo, reachOf } from '../../graph/reach.ts'

/** Where the windows of some times start, which is just outside them, and end, which is inside. */
export interface WindowBounds {
  readonly starts: Float64Array
  /** The same for raw points: before the first accepted instant, where that is inside of a window that is cut there. */
  readonly pointStarts: Float64Array
  readonly ends: Float64Array
  /** An instant in each window that many windows share, whichever of them are asked for: see folds.ts. */
  readonly pivots: Float64Array
}

/** Times whose windows are looked up before others may go on. */
const STEP_TIMES = 4_096

/**
 * The rolling windows (start, end] of all t. Days and longer are steps on the calendar of a zone, so that a later t
 * can have a window that starts earlier: 30 March minus a month is 28 February, as is 29 March. Bounds are cut at the
 * accepted instants: no tag has points before or after them. A point at the first one is inside of a window that is cut
 * there.
 */
export class RollingWindow {
  /** The same only for equal windows. */
  readonly text: string
  /** Whether each window ends at its t. */
  readonly isTrailing: boolean
  readonly #windows: Omit<RollingWindows, 'kind'>
  /** How long all are; `null` where they are not equally long, or do not end at their t. */
  readonly lengthUs: number | null
  /** Pivots are this far apart. */
  readonly #pivotUs: number

  private constructor(
    windows: Omit<RollingWindows, 'kind'>,
    text: string,
    isTrailing: boolean,
    lengthUs: number | null = null,
  ) {
    this.lengthUs = lengthUs
    this.#windows = windows
    this.text = text
    this.isTrailing = isTrailing
    const at = instantFromUs(0)
    const nominalUs = windows.endFor(at) - windows.startFor(at)
    // Windows on the calendar can be shorter than others, but not by half.
    this.#pivotUs = Math.max(1, this.isOfOneLength ? nominalUs : Math.floor(nominalUs / 2))
  }

  /** @param text the same only for equal windows */
  static of(windows: RollingWindows, text: string): RollingWindow {
    return new RollingWindow(windows, text, false)
  }

  /** The windows (t - duration, t]. @param text of the duration, as it was written */
  static trailing(duration: Duration, text: string, zone: TimeZone): RollingWindow {
    const windows = {
      startFor: (t: Instant) => addDuration(t, duration, zone, -1),
      endFor: (t: Instant) => t,
      startSlackUs: slackUs(duration),
      endSlackUs: 0,
    }
    const lengthUs = duration.kind === 'exact' ? duration.us : null
    return new RollingWindow(windows, `${text} ${zone.id}`, true, lengthUs)
  }

  /** Whether all windows are equally long. */
  get isOfOneLength(): boolean {
    return this.#windows.startSlackUs === 0 && this.#windows.endSlackUs === 0
  }

  startFor(t: number): Instant {
    return clampInstant(this.#windows.startFor(instantFromUs(t)))
  }

  endFor(t: number): Instant {
    return clampInstant(this.#windows.endFor(instantFromUs(t)))
  }

  /** No window of any t at or after this one starts before. */
  earliestStart(t: number): Instant {
    return clampInstant(this.startFor(t) - this.#windows.startSlackUs)
  }

  /** No window of any t at or before this one ends after. */
  latestEnd(t: number): Instant {
    return clampInstant(this.endFor(t) + this.#windows.endSlackUs)
  }

  /** How long windows hold what is before or after them, about: a month is taken for as long as that of an instant. */
  movesOn(at: Instant): MovesOn {
    return {
      beforeUs: Math.max(0, this.latestEnd(at) - at),
      afterUs: Math.max(0, at - this.earliestStart(at)),
    }
  }

  /** The context of an input that these windows are made of. */
  contextOf(context: OperatorContext): OperatorContext {
    const { from, to } = reachOf(context)
    return reachingTo(context, { from: this.earliestStart(from), to: this.latestEnd(to) })
  }

  /** Whether a window up to t, its own or an earlier one, ends after t. */
  reachesBeyond(t: number): boolean {
    return this.latestEnd(t) > t
  }

  /** Where windows of t within two times start, at most. */
  startsWithin(from: number, to: number): readonly [from: number, to: number] {
    return [this.earliestStart(from), this.startFor(to) + this.#windows.startSlackUs]
  }

  /** The same for their ends. */
  endsWithin(from: number, to: number): readonly [from: number, to: number] {
    return [this.endFor(from) - this.#windows.endSlackUs, this.latestEnd(to)]
  }

  /** A t whose window starts at an instant, as far as one does: months are not equally long. */
  startingAt(at: number): number {
    const near = 2 * at - this.#windows.startFor(instantFromUs(at))
    return near + at - this.#windows.startFor(instantFromUs(near))
  }

  /** The same for its end. */
  endingAt(at: number): number {
    const near = 2 * at - this.#windows.endFor(instantFromUs(at))
    return near + at - this.#windows.endFor(instantFromUs(near))
  }

  /**
   * An end is never before its start. From the left, bounds can jump: they are those of a microsecond before, and one
   * more.
   */
  boundsAt(times: Float64Array, limit: Limit): WindowBounds {
    const early = limit === 'before' ? 1 : 0
    const bounds = emptyBounds(times.length)
    if (this.lengthUs !== null) setTrailing(bounds, times, this.lengthUs, early)
    else {
      for (let i = 0; i < times.length; i++) {
        const start = this.#windows.startFor(instantFromUs(times[i]! - early))
        setStart(bounds, i, start, early)
        bounds.ends[i] = Math.max(this.endFor(times[i]! - early) + early, bounds.starts[i]!)
      }
    }
    setPivots(bounds, this.#pivotUs)
    return bounds
  }

  /** The same for many times, cooperatively. */
  async boundsOf(times: Float64Array, evaluation: Evaluation): Promise<WindowBounds> {
    const bounds = emptyBounds(times.length)
    for (let from = 0; from < times.length; from += STEP_TIMES) {
      const part = this.boundsAt(times.subarray(from, from + STEP_TIMES), 'at')
      bounds.starts.set(part.starts, from)
      bounds.pointStarts.set(part.pointStarts, from)
      bounds.ends.set(part.ends, from)
      bounds.pivots.set(part.pivots, from)
      await evaluation.pause()
    }
    return bounds
  }
}

function emptyBounds(length: number): WindowBounds {
  return {
    starts: new Float64Array(length),
    pointStarts: new Float64Array(length),
    ends: new Float64Array(length),
    pivots: new Float64Array(length),
  }
}

/** The last multiple of a length in each window, or its start. */
function setPivots({ starts, ends, pivots }: WindowBounds, lengthUs: number): void {
  let pivot = Number.POSITIVE_INFINITY
  for (let i = 0; i < pivots.length; i++) {
    const end = ends[i]!
    if (end < pivot || end >= pivot + lengthUs) pivot = Math.floor(end / lengthUs) * lengthUs
    pivots[i] = Math.max(starts[i]!, pivot)
  }
}

/** Values at the starts of windows, without those of windows that begin before the first accepted instant. */
export function withoutCut(values: Float64Array, { pointStarts }: WindowBounds): Float64Array {
  if (!pointStarts.some((start) => start < MIN_INSTANT)) return values
  return values.map((value, i) => (pointStarts[i]! < MIN_INSTANT ? Number.NaN : value))
}

/** Sets where a window starts that would start at an instant which may lie beyond the accepted ones. */
function setStart({ starts, pointStarts }: WindowBounds, i: number, start: number, early: number): void {
  const first = clampInstant(start)
  starts[i] = first === MIN_INSTANT ? first : first + early
  pointStarts[i] = start < MIN_INSTANT ? MIN_INSTANT - 1 : starts[i]!
}

/** Bounds of windows that are equally long, without a look at the calendar for each. */
function setTrailing(bounds: WindowBounds, times: Float64Array, lengthUs: number, early: number): void {
  const { starts, pointStarts, ends } = bounds
  for (let i = 0; i < times.length; i++) {
    const time = times[i]! - early
    const start = time - lengthUs
    if (start > MIN_INSTANT && time < END_INSTANT) {
      starts[i] = start + early
      pointStarts[i] = start + early
      ends[i] = time + early
      continue
    }
    setStart(bounds, i, start, early)
    ends[i] = Math.max(clampInstant(time) + early, starts[i]!)
  }
}
