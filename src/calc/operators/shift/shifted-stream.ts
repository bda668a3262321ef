import { concatColumns, mergeTimes, NO_POINTS, type PointColumns } from '../../../series/columns.ts'
import { type Instant, instantFromUs, MIN_INSTANT } from '../../../time/instant.ts'
import type { OffsetSpan } from '../../../time/offset-spans.ts'
import type { Chunk, ChunkRange, Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import type { Operator } from '../../graph/operator.ts'
import { withValues } from '../own-times.ts'
import type { TimeMap } from './time-map.ts'

/** Points of a page where only the limit from the left at a break is wanted. */
const LIMIT_PAGE = 2
/** Spans that stay at one instant each, of one chunk. */
const RUN_SPANS = 2_048

/** Streams an operator with its times mapped, span by span: each is read from the input at its mapped times. */
export class ShiftedStream {
  readonly #input: Operator
  readonly #map: TimeMap
  readonly #range: ChunkRange
  readonly #evaluation: Evaluation
  readonly #valuesAtTargets: (targets: Float64Array) => Promise<Float64Array>

  /** @param valuesAtTargets values of the input at times in any order, NaN where there is no time */
  constructor(
    input: Operator,
    map: TimeMap,
    range: ChunkRange,
    evaluation: Evaluation,
    valuesAtTargets: (targets: Float64Array) => Promise<Float64Array>,
  ) {
    this.#input = input
    this.#map = map
    this.#range = range
    this.#evaluation = evaluation
    this.#valuesAtTargets = valuesAtTargets
  }

  async *chunks(): AsyncGenerator<Chunk, void> {
    const { order, page } = this.#range
    const pause = () => this.#evaluation.pause()
    /** Spans that stay at one instant each: many of them make a chunk, since each is a single value. */
    let run: OffsetSpan[] = []
    const ofRun = () => this.#fixedChunk(order === 'asc' ? run : run.toReversed())
    for await (const span of this.#map.spans(this.#range, order, pause)) {
      const { target } = span
      if (target.kind !== 'moved' && run.push(span) < Math.min(page, RUN_SPANS)) continue
      if (run.length > 0) yield ofRun()
      run = []
      if (target.kind === 'moved') yield* this.#moved(span, target.us)
    }
    if (run.length > 0) yield ofRun()
  }

  async *#moved({ from, to }: OffsetSpan, us: number): AsyncGenerator<Chunk, void> {
    const { order, page, extent } = this.#range
    const moved = (at: number): Instant => instantFromUs(Math.min(Math.max(at, from), to) + us)
    const stream = this.#input.chunks({ order, page, extent, from: moved(from), to: moved(to) })
    for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
      this.#evaluation.charge(chunk.raw.times.length)
      const shifted = shiftedChunk(chunk, us)
      if (shifted.from !== from) yield shifted
      else if (this.#map.isBreak(from)) yield this.#withBreak(shifted)
      else if (this.#beginsBehindNone(from)) yield withEnd(shifted)
      else yield shifted
    }
  }

  /** Whether there is no value before an instant as it leads out of the accepted range: no raw point stands there. */
  #beginsBehindNone(at: Instant): boolean {
    return at > MIN_INSTANT && this.#map.spanAt(at - 1).target.kind === 'none'
  }

  /**
   * With the raw point at the break that a chunk begins with, and the limit from the left that the span before has
   * there.
   */
  async #withBreak(chunk: Chunk): Promise<Chunk> {
    const { from, raw } = chunk
    const limitAtBreak = await this.#limitBefore(from)
    return {
      ...chunk,
      raw: raw.times[0] === from ? raw : concatColumns([pointAt(from, chunk), raw]),
      valuesAt: (times: Float64Array, limit: Limit) => {
        const values = chunk.valuesAt(times, limit)
        return limit === 'before' && times[0] === from ? values.with(0, limitAtBreak) : values
      },
    }
  }

  /** Limit from the left at the beginning of a span; there is none where the range begins. */
  async #limitBefore(at: Instant): Promise<number> {
    if (at === this.#range.from || at === MIN_INSTANT) return Number.NaN
    const { target } = this.#map.spanAt(at - 1)
    if (target.kind === 'none') return Number.NaN
    if (target.kind === 'fixed') return (await this.#valuesAtTargets(Float64Array.of(target.at)))[0]!
    const to = instantFromUs(at + target.us)
    const from = instantFromUs(to - 1)
    const stream = this.#input.chunks({ from, to, order: 'asc', page: LIMIT_PAGE, extent: 'all' })
    for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next())
      if (chunk.to === to) return chunk.valuesAt(Float64Array.of(to), 'before')[0]!
    return Number.NaN
  }

  async #fixedChunk(run: readonly OffsetSpan[]): Promise<Chunk> {
    const [from, to] = [run[0]!.from, run.at(-1)!.to]
    // Spans that join differ, or they would be one. Beside one that leads nowhere there is no raw point.
    const opens = this.#map.isBreak(from)
    const isBehindNone = this.#beginsBehindNone(from)
    const isRaw = ({ target }: OffsetSpan, i: number) =>
      i === 0 ? opens : target.kind !== 'none' && run[i - 1]!.target.kind !== 'none'
    const rawTimes = Float64Array.from(run.filter(isRaw), (span) => span.from)
    const isEnd = (span: OffsetSpan, i: number) =>
      !isRaw(span, i) && (i > 0 || span.target.kind === 'none' || isBehindNone)
    const breaks = Float64Array.from(run.filter(isEnd), (span) => span.from)
    const targets = Float64Array.from(run, ({ target }) => (target.kind === 'fixed' ? target.at : Number.NaN))
    const [values, limitAtBreak] = await Promise.all([
      this.#valuesAtTargets(targets),
      opens ? this.#limitBefore(from) : Number.NaN,
    ])
    // A range that begins within a span has the value that is held there.
    const limitAtStart = opens ? limitAtBreak : isBehindNone ? Number.NaN : values[0]!
    const valuesAt = (times: Float64Array, limit: Limit): Float64Array => {
      let index = 0
      return times.map((at) => {
        const last = limit === 'before' ? at - 1 : at
        if (last < from) return limitAtStart
        while (index + 1 < run.length && run[index + 1]!.from <= last) index++
        return values[index]!
      })
    }
    return {
      from,
      to,
      raw: rawTimes.length === 0 ? NO_POINTS : pointsOf(rawTimes, valuesAt(rawTimes, 'at')),
      ...(breaks.length > 0 && { breaks }),
      valuesAt,
    }
  }
}

function shiftedChunk(chunk: Chunk, us: number): Chunk {
  return {
    from: instantFromUs(chunk.from - us),
    to: instantFromUs(chunk.to - us),
    raw: { ...chunk.raw, times: chunk.raw.times.map((time) => time - us) },
    ...(chunk.breaks !== undefined && { breaks: chunk.breaks.map((time) => time - us) }),
    ...(chunk.outerBreaks !== undefined && { outerBreaks: chunk.outerBreaks.map((time) => time - us) }),
    valuesAt: (times, limit) => {
      const moved = times.map((time) => time + us)
      return chunk.valuesAt(moved, limit)
    },
  }
}

/** With a break where a chunk begins. */
function withEnd(chunk: Chunk): Chunk {
  const start = Float64Array.of(chunk.from)
  return { ...chunk, breaks: chunk.breaks === undefined ? start : mergeTimes(start, chunk.breaks) }
}

/** The value of a chunk at its beginning, as a raw point. */
function pointAt(at: Instant, chunk: Chunk): PointColumns {
  const times = Float64Array.of(at)
  return pointsOf(times, chunk.valuesAt(times, 'at'))
}

function pointsOf(times: Float64Array, values: Float64Array): PointColumns {
  return withValues({ times, statuses: new Uint8Array(times.length) }, values)
}
