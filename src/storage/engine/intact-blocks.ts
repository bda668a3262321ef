import { NO_POINTS, type PointColumns } from '../../series/columns.ts'
import type { RangeResult } from '../../series/reads.ts'
import { joinSpans, type Span, without } from '../blocks/spans.ts'
import { isUnreadable } from '../damage.ts'
import type { ReadPace } from '../pause.ts'
import { readRange } from '../reads/point-reads.ts'
import { LayeredBlocks } from './layered-blocks.ts'
import type { Source } from './sources.ts'

/** Spans of one read that are reported one by one. */
const MOST_SPANS = 100

/** A layer of a tag's points for a read that goes on beside damage. */
export interface LayerOf {
  /** `null` where nothing of it can be read. */
  readonly source: Source | null
  /** Where its points were taken away: nothing is missing there. Joined. */
  readonly cuts: readonly Span[]
  /** What of it is known to be damaged from the start. */
  readonly damaged: Span | null
}

/**
 * The points of a tag without those that cannot be read because of damage. Where a block is damaged, points of earlier
 * layers are left out, too: it may have replaced them. Those of later layers are right whatever it held.
 */
export class IntactBlocks extends LayeredBlocks {
  readonly #layers: IntactLayers

  /** @param layers  in the order in which they count */
  constructor(layers: readonly LayerOf[]) {
    const intact = new IntactLayers(layers)
    super(intact.sources)
    this.#layers = intact
  }

  /** What was met of [from, to) and left out: spans in time order that lie apart. */
  missing(from: number, to: number): readonly Span[] {
    const spans = joinSpans(this.#layers.holes.map((hole) => within(hole, from, to)).filter(isSome))
    if (spans.length <= MOST_SPANS) return spans
    // The last ones as one, with what lies between them.
    const last = { from: spans[MOST_SPANS - 1]!.from, to: spans.at(-1)!.to }
    return [...spans.slice(0, MOST_SPANS - 1), last]
  }
}

/** As `readRange`; `missing` has the spans that were left out, as far as the points that are given reach. */
export async function readIntactRange(
  blocks: IntactBlocks,
  range: Parameters<typeof readRange>[1],
  pace: ReadPace,
): Promise<RangeResult> {
  const read = await readRange(blocks, range, pace)
  const last = read.points.times.at(-1)
  const { from, to, order } = range
  const isCut = read.more && last !== undefined
  const reached = !isCut ? range : order === 'asc' ? { from, to: last + 1 } : { from: last, to }
  const missing = blocks.missing(reached.from, reached.to)
  return missing.length === 0 ? read : { ...read, missing }
}

/** Layers that are read together, so that damage of one is known before the points of others are given. */
class IntactLayers {
  readonly sources: readonly Source[]
  readonly #layers: readonly IntactLayer[]
  #from = Number.NaN
  #to = Number.NaN

  constructor(layers: readonly LayerOf[]) {
    this.#layers = layers.map((layer) => new IntactLayer(layer))
    this.sources = this.#layers.flatMap((layer, index) =>
      layer.inner === null
        ? []
        : [new IntactSource(layer.inner, (from, to) => this.#points(index, from, to))],
    )
  }

  get holes(): readonly Span[] {
    return this.#layers.flatMap(({ holes }) => holes)
  }

  #points(index: number, from: number, to: number): PointColumns {
    if (from !== this.#from || to !== this.#to) {
      for (const layer of this.#layers) layer.read(from, to)
      this.#from = from
      this.#to = to
    }
    const later = this.#layers.slice(index + 1).flatMap(({ holes }) => holes)
    return without(this.#layers[index]!.points, joinSpans(later))
  }
}

class IntactLayer {
  readonly inner: Source | null
  readonly holes: Span[] = []
  /** Of what was read last. */
  points: PointColumns = NO_POINTS
  readonly #cuts: readonly Span[]

  constructor({ source, cuts, damaged }: LayerOf) {
    this.inner = source
    this.#cuts = cuts
    if (damaged !== null) this.#add(damaged)
  }

  /** Reads the points of [from, to), which lie in one block. */
  read(from: number, to: number): void {
    const { inner } = this
    this.points = NO_POINTS
    if (inner === null || inner.lastTime < from || inner.firstTime >= to) return
    try {
      this.points = inner.points(from, to)
    } catch (error) {
      if (!isUnreadable(error) || inner.run === null) throw error
      const block = inner.run.blockBefore(to - 1)
      this.#add({ from: inner.run.blockFirst(block), to: inner.run.blockLast(block) + 1 })
    }
  }

  #add(hole: Span): void {
    for (const span of minus(hole, this.#cuts)) {
      if (!this.holes.some(({ from }) => from === span.from)) this.holes.push(span)
    }
  }
}

/** A source whose blocks are never shown as they are, but only as points. */
class IntactSource implements Source {
  readonly firstTime: number
  readonly lastTime: number
  readonly points: Source['points']
  readonly #inner: Source

  constructor(inner: Source, points: Source['points']) {
    this.#inner = inner
    this.firstTime = inner.firstTime
    this.lastTime = inner.lastTime
    this.points = points
  }

  get run() {
    return this.#inner.run
  }

  nextTime(at: number): number {
    return this.#inner.nextTime(at)
  }

  blockStart(at: number): number {
    return this.#inner.blockStart(at)
  }

  blockAfter(at: number): number {
    return this.#inner.blockAfter(at)
  }

  isCut(): boolean {
    return true
  }

  lastGood(at: number, from: number): number {
    return this.#inner.lastGood(at, from)
  }

  firstGood(at: number, to: number): number {
    return this.#inner.firstGood(at, to)
  }
}

/** What is left of a span without others, which are joined. */
function minus(span: Span, others: readonly Span[]): readonly Span[] {
  const left: Span[] = []
  let { from } = span
  for (const other of others) {
    if (other.to <= from) continue
    if (other.from >= span.to) break
    if (other.from > from) left.push({ from, to: other.from })
    from = other.to
  }
  if (from < span.to) left.push({ from, to: span.to })
  return left
}

function within(span: Span, from: number, to: number): Span {
  return { from: Math.max(span.from, from), to: Math.min(span.to, to) }
}

function isSome({ from, to }: Span): boolean {
  return from < to
}
