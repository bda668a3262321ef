import type { PointColumns } from '../../series/columns.ts'
import type { PartRun } from '../parts/part.ts'
import { keptPoints } from '../retention/kept-points.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import { MemorySource, NO_COLUMNS, type Source } from './sources.ts'

/**
 * Sources of a tag as they are with a watermark: what lies behind it, and the points that are kept of what lies before,
 * which are looked for when a read gets there. May be the argument.
 * @param sources  in the order in which they count
 */
export function retainedSources(sources: readonly Source[], watermark: number): readonly Source[] {
  if (sources.every(({ firstTime }) => firstTime > watermark)) return sources
  const later = sources
    .filter(({ lastTime }) => lastTime > watermark)
    .map((source) => (source.firstTime > watermark ? source : new LaterSource(source, watermark + 1)))
  return [new KeptSource(sources, watermark), ...later]
}

/** The points of a source from an instant on. */
class LaterSource implements Source {
  readonly firstTime: number
  readonly lastTime: number
  readonly #source: Source

  constructor(source: Source, from: number) {
    this.#source = source
    this.firstTime = from
    this.lastTime = source.lastTime
  }

  get run(): PartRun | null {
    return this.#source.run
  }

  nextTime(at: number): number {
    return this.#source.nextTime(Math.max(at, this.firstTime))
  }

  blockStart(at: number): number {
    if (at < this.firstTime) return Number.NEGATIVE_INFINITY
    const start = this.#source.blockStart(at)
    // The block that the instant lies in begins there.
    return start === Number.NEGATIVE_INFINITY ? start : Math.max(start, this.firstTime)
  }

  blockAfter(at: number): number {
    if (at >= this.firstTime) return this.#source.blockAfter(at)
    const isWithin = this.#source.blockStart(this.firstTime) > Number.NEGATIVE_INFINITY
    return isWithin ? this.firstTime : this.#source.blockAfter(this.firstTime)
  }

  points(from: number, to: number): PointColumns {
    return to <= this.firstTime ? NO_COLUMNS : this.#source.points(Math.max(from, this.firstTime), to)
  }

  isCut(first: number, last: number): boolean {
    return first < this.firstTime || this.#source.isCut(first, last)
  }

  lastGood(at: number, from: number): number {
    const time = this.#source.lastGood(at, Math.max(from, this.firstTime))
    return time < this.firstTime ? Number.NEGATIVE_INFINITY : time
  }

  firstGood(at: number, to: number): number {
    return this.#source.firstGood(Math.max(at, this.firstTime), to)
  }
}

/** The points that stay at or before a watermark. */
class KeptSource implements Source {
  readonly run = null
  readonly firstTime = Number.NEGATIVE_INFINITY
  readonly lastTime: number
  readonly #sources: readonly Source[]
  #kept: MemorySource | null | undefined

  constructor(sources: readonly Source[], watermark: number) {
    this.#sources = sources
    this.lastTime = watermark
  }

  nextTime(at: number): number {
    return at > this.lastTime
      ? Number.POSITIVE_INFINITY
      : (this.#points?.nextTime(at) ?? Number.POSITIVE_INFINITY)
  }

  blockStart(at: number): number {
    return this.#points?.blockStart(at) ?? Number.NEGATIVE_INFINITY
  }

  blockAfter(at: number): number {
    return this.#points?.blockAfter(at) ?? Number.POSITIVE_INFINITY
  }

  points(from: number, to: number): PointColumns {
    return this.#points?.points(from, to) ?? NO_COLUMNS
  }

  isCut(): boolean {
    return false
  }

  lastGood(at: number, from: number): number {
    return this.#points?.lastGood(at, from) ?? Number.NEGATIVE_INFINITY
  }

  firstGood(at: number, to: number): number {
    return this.#points?.firstGood(at, to) ?? Number.POSITIVE_INFINITY
  }

  get #points(): MemorySource | null {
    if (this.#kept === undefined) {
      const kept = keptPoints(new LayeredBlocks(this.#sources), this.lastTime)
      this.#kept = kept.times.length === 0 ? null : new MemorySource(kept)
    }
    return this.#kept
  }
}
