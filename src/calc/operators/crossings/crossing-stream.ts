import type { Instant } from '../../../time/instant.ts'
import type { Chunk, ChunkRange, ChunkStream } from '../../graph/chunk.ts'
import type { AlignedChunks, AlignedStream } from '../union.ts'
import { pairAt } from './compared-chunk.ts'
import type { Pair } from './find-changes.ts'

/** What a stream needs of its operator. */
export interface CrossingSteps {
  /** Both values one microsecond before an instant. */
  lookUp(at: Instant): Promise<Pair | null>
  chunk(aligned: AlignedChunks, before: Pair | null): Promise<Chunk>
}

/**
 * Makes each chunk from aligned ones and from what was right before, which the chunk before knows where it is read
 * anyway.
 */
export class CrossingStream implements ChunkStream {
  readonly #union: AlignedStream
  readonly #range: ChunkRange
  readonly #steps: CrossingSteps
  /** The chunk before ('asc'), or the one that is read ahead ('desc'). */
  #beside: AlignedChunks | null = null

  constructor(union: AlignedStream, range: ChunkRange, steps: CrossingSteps) {
    this.#union = union
    this.#range = range
    this.#steps = steps
  }

  async next(): Promise<Chunk | null> {
    const { order, extent } = this.#range
    const readsAhead = order === 'desc' && extent === 'all'
    const aligned = (readsAhead ? this.#beside : null) ?? (await this.#union.next())
    if (aligned === null) return null
    if (readsAhead) this.#beside = await this.#union.next()
    const before = await this.#before(aligned, order === 'asc' || readsAhead ? this.#beside : null)
    if (order === 'asc') this.#beside = aligned
    return this.#steps.chunk(aligned, before)
  }

  async #before({ from, times }: AlignedChunks, earlier: AlignedChunks | null): Promise<Pair | null> {
    if (earlier !== null) return pairAt(earlier, earlier.to - 1)
    // Where the range begins with a raw point, nothing depends on what was before it.
    return from === this.#range.from && times[0] === from ? null : this.#steps.lookUp(from)
  }
}
