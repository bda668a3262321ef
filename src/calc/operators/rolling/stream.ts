import { lowerBound, NO_POINTS, type PointColumns, sliceColumns } from '../../../series/columns.ts'
import { clampInstant, type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import type { Chunk, ChunkRange, Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { DEEP_LEVELS, FOLLOWED_LEVELS, type Operator } from '../../graph/operator.ts'
import { rawTimesWith, withValues } from '../own-times.ts'
import { joinedChunk } from '../union.ts'
import { BufferedInput, type InputFeed, openFeed } from './buffered-input.ts'
import { bufferedWindows, emptyWindowsUntil } from './buffered-windows.ts'
import { KnownValues } from './known-values.ts'
import type { RollingOp } from './ops.ts'
import { outerBreaksOf } from './outer-breaks.ts'
import type { RollingWindow } from './window.ts'

/** What is aggregated over rolling windows. */
export interface RollingSource {
  readonly input: Operator
  /** Integrals of the input from a formula; absent where they come from its segments. */
  readonly closedIntegrals: Operator['closedIntegrals']
  readonly op: RollingOp
  readonly window: RollingWindow
  readonly evaluation: Evaluation
  /** Set where chunks are asked for raw points, too. */
  readonly hasRawPoints: boolean
  /** Raw points beside those of the input. */
  readonly ownTimes: readonly number[]
}

/**
 * One for the point held back where a page is cut, one at the very end of the range, one for the vertex that joins
 * segments.
 */
export const MORE_POINTS = 3

/** Raw points of one chunk, about: a few milliseconds' worth. */
const TILE_POINTS = 8_192

/** How far the input is read for windows up to an instant; a raw point at their very end is in them. */
export function lastRead(window: RollingWindow, to: Instant): Instant {
  return clampInstant(Math.max(to, window.latestEnd(to)) + 1)
}

/**
 * Streams aggregates over rolling windows. Holds the input over the windows of one chunk. A chunk ends after some
 * thousand raw points, so that others can go on, or as many as must be held before it, so that no point is gone over
 * more than a few times, however long the window.
 */
export class RollingStream {
  readonly #source: RollingSource
  readonly #range: ChunkRange

  constructor(source: RollingSource, range: ChunkRange) {
    this.#source = source
    this.#range = range
  }

  chunks(): AsyncGenerator<Chunk, void> {
    const { order, extent, to } = this.#range
    if (order === 'asc') return this.#forwards()
    // A window that ends later than its t needs points after the newest page.
    return extent === 'first' && !this.#source.window.reachesBeyond(to) ? this.#backwards() : this.#atOnce()
  }

  async *#forwards(): AsyncGenerator<Chunk, void> {
    const { from, to, extent, page } = this.#range
    const { window, evaluation } = this.#source
    // A whole range is read with what its first windows reach before it, as one range: operators inside each other
    // would otherwise read theirs twice as often at each level.
    const isWhole = extent === 'all'
    const start = instantFromUs(Math.min(from, window.earliestStart(from)))
    const main = this.#mainRange()
    let held = isWhole ? new BufferedInput() : await this.#readLead(from)
    const feed = this.#open(isWhole ? { ...main, from: start } : main)
    /** Windows up to there lie in what was read. */
    let known = from
    for (let position = from; position < to; ) {
      // What was read already is given before more is.
      if (known <= position) {
        const doubled = 2 * held.length
        const isEnough = () =>
          extent === 'all' ? held.length >= doubled : held.countWithin(position, known) >= page - 1
        while (known < to && (known <= position || !isEnough())) {
          const reach = await feed.next(held)
          known = reach === null ? to : this.#complete(position, reach)
          await evaluation.pause()
        }
      }
      const until = this.#tileEnd(held, position, known)
      const chunk = await this.#chunk(held, position, until)
      position = until
      if (until < to) held.dropBefore(this.#firstBuffered(until))
      // A stream is kept for others that read the same range; what it was made of is not.
      else held = new BufferedInput()
      yield chunk
    }
  }

  /** From the newest chunk on. */
  async *#backwards(): AsyncGenerator<Chunk, void> {
    const { from, to, page } = this.#range
    const feed = this.#open(this.#mainRange())
    /** What the chunk after those that are left was read as. */
    let later = new BufferedInput()
    for (let end = to; from < end; ) {
      const newest = new BufferedInput()
      let start = end
      while (start >= end || (start > from && newest.length <= page)) {
        const reach = (await feed.next(newest)) ?? from
        start = instantFromUs(Math.max(Math.min(reach, end), from))
      }
      const held = await this.#readLead(start)
      held.append(newest)
      // A raw point at the very end of this chunk is in the windows that end there.
      held.append(later)
      later = newest
      const chunks: Chunk[] = []
      for (let at = start; at < end; at = chunks.at(-1)!.to) {
        chunks.push(await this.#chunk(held, at, this.#tileEnd(held, at, end)))
        await this.#source.evaluation.pause()
      }
      end = start
      yield joinedChunk(chunks)
    }
  }

  /** As one chunk: a window needs what comes before it, so there is nothing to be gained by cutting. */
  async *#atOnce(): AsyncGenerator<Chunk, void> {
    const { evaluation, input } = this.#source
    const page = evaluation.pagePoints(input.width)
    const range = { ...this.#range, order: 'asc', page, extent: 'all' } as const
    yield joinedChunk(await Array.fromAsync(new RollingStream(this.#source, range).chunks()))
  }

  /**
   * What is needed of the input from an instant on: windows can lie wholly after their t, whose raw points are needed
   * too.
   */
  #firstBuffered(at: Instant): Instant {
    // From the left, the window at an instant is that of a microsecond before, which can start much earlier.
    const earlier = clampInstant(at - 1)
    return instantFromUs(Math.min(earlier, this.#source.window.earliestStart(earlier)))
  }

  /** Where a chunk ends: after so many raw points that others can go on, or as many as are held before it. */
  #tileEnd({ raw: { times } }: BufferedInput, from: Instant, to: Instant): Instant {
    const first = lowerBound(times, from)
    const next = times[first + Math.max(TILE_POINTS, first)]
    return next === undefined || next >= to ? to : instantFromUs(next)
  }

  /** How far the input is read. */
  get #lastRead(): Instant {
    const { to, isEndOpen } = this.#range
    const { window } = this.#source
    if (isEndOpen !== true) return lastRead(window, to)
    return clampInstant(Math.max(to, window.latestEnd(to - 1) + 1))
  }

  /** The last instant whose window, and all before, are known when the input is known up to `reach`. */
  #complete(position: Instant, reach: Instant): Instant {
    const { window } = this.#source
    const { to } = this.#range
    if (reach >= this.#lastRead) return to
    // Whether a raw point stands at the end of what was read is not known yet.
    const known = reach - 1
    let low: number = position
    let high: number = Math.max(position, Math.min(known, to))
    while (low < high) {
      const middle = low + Math.ceil((high - low) / 2)
      if (window.latestEnd(middle) <= known) low = middle
      else high = middle - 1
    }
    return instantFromUs(low)
  }

  async #chunk(held: BufferedInput, from: Instant, to: Instant): Promise<Chunk> {
    const { op, window, input, closedIntegrals, evaluation, hasRawPoints, ownTimes } = this.#source
    const all = held.raw
    evaluation.charge(all.times.length)
    const reach = held.part(this.#firstBuffered(from), lastRead(window, to))
    const values = bufferedWindows(op, window, reach, input.extrapolationLimits, closedIntegrals)
    const empty = emptyWindowsUntil(op, window, reach)
    const { emptyUntil = MIN_INSTANT } = empty
    const charged = (times: Float64Array, limit: Limit): Float64Array => {
      evaluation.chargeStep(times.length)
      return from < emptyUntil ? valuesFrom(emptyUntil, times, limit, values) : values(times, limit)
    }
    if (!hasRawPoints) return { from, to, raw: NO_POINTS, valuesAt: charged }
    const inside: PointColumns = sliceColumns(all, lowerBound(all.times, from), lowerBound(all.times, to))
    const own = ownTimes.filter((time) => time >= from && time < to)
    const rawTimes = rawTimesWith(inside, own)
    const { times } = rawTimes
    const outer = outerBreaksOf(
      window,
      reach,
      input.extrapolationLimits,
      { from, to, times },
      input.levels < FOLLOWED_LEVELS,
    )
    const parts = { isRightContinuous: true, isTrueToRaw: true, ...empty, ...outer } as const
    if (input.levels < DEEP_LEVELS) {
      const raw = withValues(rawTimes, charged(rawTimes.times, 'at'))
      return { from, to, raw, ...parts, valuesAt: charged }
    }
    // Values at raw points, and limits from the left there, are worked out with the chunk: a reader at the top that
    // asks for them first would have them worked out on all levels in one tick. So are those where the range begins:
    // windows of others begin there where what lies before them is read by itself.
    const opens = from === this.#range.from && rawTimes.times[0] !== from
    const known = new KnownValues(opens ? withFirst(from, rawTimes.times) : rawTimes.times, charged)
    const prepared = await known.prepare(evaluation)
    const raw = withValues(rawTimes, opens ? prepared.subarray(1) : prepared)
    const kept = (times: Float64Array, limit: Limit) => known.valuesAt(times, limit)
    const valuesAt = (times: Float64Array, limit: Limit) => valuesFrom(emptyUntil, times, limit, kept)
    return { from, to, raw, ...parts, valuesAt }
  }

  /** What the windows from an instant on reach of the input before it. */
  async #readLead(from: Instant): Promise<BufferedInput> {
    const { window, evaluation, input } = this.#source
    const held = new BufferedInput()
    const start = window.earliestStart(from)
    if (start >= from) return held
    const page = evaluation.pagePoints(input.width)
    const isEndOpen = this.#isEndOpen(from)
    const range = { from: start, to: from, order: 'asc', page, extent: 'all', isEndOpen } as const
    const feed = this.#open(range)
    while ((await feed.next(held)) !== null) await evaluation.pause()
    return held
  }

  /** The range itself, and on to the end of its last windows. */
  #mainRange(): ChunkRange {
    const { order, extent, from, page, isEndOpen } = this.#range
    const to = this.#lastRead
    const isOpen = isEndOpen === true && to === this.#range.to
    // Equal ranges of what lies before others are to be one, however many levels they come through.
    return {
      from,
      to,
      order,
      extent,
      page: isOpen ? page : page + MORE_POINTS,
      isEndOpen: isOpen && this.#isEndOpen(to),
    }
  }

  /**
   * Whether the end of what is read is not asked for. What lies before windows goes on with what they were read with:
   * the same range, asked for through many levels, would otherwise end a microsecond later at each. Where the input
   * ends right before, the instant after that is asked for, and segments have a vertex at their end.
   */
  #isEndOpen(end: Instant): boolean {
    const { op, input } = this.#source
    return op.integrals === undefined && !input.extrapolationLimits.some((limit) => limit === end - 1)
  }

  #open(range: ChunkRange): InputFeed {
    const { input, closedIntegrals, op, evaluation } = this.#source
    return openFeed(input, range, op.integrals !== undefined && closedIntegrals === undefined, evaluation)
  }
}

function withFirst(first: number, times: Float64Array): Float64Array {
  const all = new Float64Array(times.length + 1)
  all[0] = first
  all.set(times, 1)
  return all
}

/** Values at ascending times, of which those before an instant have none and are not asked for. */
function valuesFrom(
  instant: number,
  times: Float64Array,
  limit: Limit,
  valuesAt: Chunk['valuesAt'],
): Float64Array {
  const first = lowerBound(times, instant)
  if (first === 0) return valuesAt(times, limit)
  const values = new Float64Array(times.length).fill(Number.NaN)
  if (first < times.length) values.set(valuesAt(times.subarray(first), limit), first)
  return values
}
