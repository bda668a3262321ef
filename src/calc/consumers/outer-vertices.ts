import { lowerBound, upperBound } from '../../series/columns.ts'
import { joinFilled, NO_SEGMENTS, type Segments, sliceSegments } from './join-segments.ts'

/** Vertices of one chunk, and those of its outer breaks. */
interface ChunkVertices {
  readonly vertices: Segments
  readonly outer: Segments
  /** Raw times of the chunk. */
  readonly raw: Float64Array
  /** Whether no chunk comes after it. */
  readonly isLast: boolean
}

/** Vertices that are settled, ascending. */
interface Settled {
  readonly segments: Segments
  /** What comes behind the last raw point of the signal, with outer breaks; empty where there are none. */
  readonly beyond: Segments
}

/**
 * Outer breaks are vertices only before all raw points of a signal and behind all of them. What follows the last raw
 * point that was read is held back, with its outer breaks, until the next raw point comes or the range ends.
 */
export class OuterVertices {
  readonly #isAscending: boolean
  readonly #isFirst: boolean
  readonly #isLast: boolean
  #held: Segments = NO_SEGMENTS
  #heldOuter: Segments = NO_SEGMENTS
  #hasRaw = false

  /** @param isFirst, isLast whether no raw point lies before the range, and none behind it */
  constructor(order: 'asc' | 'desc', isFirst: boolean, isLast: boolean) {
    this.#isAscending = order === 'asc'
    this.#isFirst = isFirst
    this.#isLast = isLast
  }

  /** The vertices of the next chunk, as far as they are settled then. */
  add({ vertices, outer, raw, isLast }: ChunkVertices): Settled {
    const hadRaw = this.#hasRaw
    if (raw.length === 0) {
      this.#hold(vertices, outer)
      if (!isLast) return { segments: NO_SEGMENTS, beyond: NO_SEGMENTS }
      // Where no raw point was read at all, all is before and behind them at once.
      return this.#isAscending || !hadRaw ? this.#behind() : { segments: this.#before(), beyond: NO_SEGMENTS }
    }
    this.#hasRaw = true
    const [first, last] = [raw[0]!, raw.at(-1)!]
    const inside = sliceSegments(
      vertices,
      lowerBound(vertices.times, first),
      upperBound(vertices.times, last),
    )
    const early = [until(vertices, first), until(outer, first)] as const
    const late = [since(vertices, last), since(outer, last)] as const
    if (this.#isAscending) {
      this.#hold(...early)
      const segments = joinFilled([hadRaw ? this.#between() : this.#before(), inside])
      this.#hold(...late)
      if (!isLast) return { segments, beyond: NO_SEGMENTS }
      const end = this.#behind()
      return { segments: joinFilled([segments, end.segments]), beyond: end.beyond }
    }
    this.#hold(...late)
    const end = hadRaw ? { segments: this.#between(), beyond: NO_SEGMENTS } : this.#behind()
    this.#hold(...early)
    const start = isLast ? this.#before() : NO_SEGMENTS
    return { segments: joinFilled([start, inside, end.segments]), beyond: end.beyond }
  }

  #hold(vertices: Segments, outer: Segments): void {
    const [held, heldOuter] = [this.#held, this.#heldOuter]
    this.#held = this.#isAscending ? joinFilled([held, vertices]) : joinFilled([vertices, held])
    this.#heldOuter = this.#isAscending ? joinFilled([heldOuter, outer]) : joinFilled([outer, heldOuter])
  }

  #before(): Segments {
    const outer = this.#heldOuter
    const vertices = this.#between()
    return this.#isFirst ? withVertices(vertices, outer) : vertices
  }

  #behind(): Settled {
    const outer = this.#heldOuter
    const vertices = this.#between()
    if (!this.#isLast || outer.times.length === 0) return { segments: vertices, beyond: NO_SEGMENTS }
    return { segments: NO_SEGMENTS, beyond: withVertices(vertices, outer) }
  }

  /** What is held, without outer breaks. */
  #between(): Segments {
    const held = this.#held
    this.#held = NO_SEGMENTS
    this.#heldOuter = NO_SEGMENTS
    return held
  }
}

/** Segments with further vertices; those at the same time stay as they are. */
export function withVertices(segments: Segments, more: Segments): Segments {
  if (more.times.length === 0) return segments
  const { times } = segments
  const all = [
    ...Array.from(times, (_, i) => ({ of: segments, i })),
    ...Array.from(more.times, (_, i) => ({ of: more, i })).filter(
      ({ i }) => times[lowerBound(times, more.times[i]!)] !== more.times[i],
    ),
  ].sort((a, b) => a.of.times[a.i]! - b.of.times[b.i]!)
  return {
    times: Float64Array.from(all, ({ of, i }) => of.times[i]!),
    at: Float64Array.from(all, ({ of, i }) => of.at[i]!),
    before: Float64Array.from(all, ({ of, i }) => of.before[i]!),
    kinds: Uint8Array.from(all, ({ of, i }) => of.kinds[i]!),
  }
}

function until(segments: Segments, time: number): Segments {
  return sliceSegments(segments, 0, lowerBound(segments.times, time))
}

function since(segments: Segments, time: number): Segments {
  return sliceSegments(segments, upperBound(segments.times, time), segments.times.length)
}
