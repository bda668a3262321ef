import type { PointColumns } from '../../series/columns.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { summaryOf } from '../parts/part-summary.ts'

/** Points of a block in memory: a summary takes a thirtieth of the memory that they take. */
export const MEMORY_BLOCK_POINTS = 1_024

/** Points of a tag in memory, in time order, with what reads before have summed up of them. */
export interface SummedColumns extends PointColumns {
  /** Left out where nothing is kept. */
  readonly summaries?: BlockSummaries
}

/**
 * Zone maps of the points of one tag in memory, by whole blocks, for as long as points are only added behind them:
 * whoever asks for aggregates of such a tag again and again would have all of its points summed up each time.
 */
export class BlockSummaries {
  readonly #known: ZoneMap[] = []
  /** Blocks that were asked for once: what is never read again, or has other points then, is not summed up. */
  readonly #asked = new Set<number>()

  /**
   * Summary of the block of a number, which is whole in these points; `null` the first time that it is asked for.
   * @param points  of this memory, as they are now or were when there were fewer
   */
  of(points: PointColumns, block: number): ZoneMap | null {
    const known = this.#known[block]
    if (known !== undefined) return known
    if (!this.#asked.delete(block)) {
      this.#asked.add(block)
      return null
    }
    const start = block * MEMORY_BLOCK_POINTS
    const summary = summaryOf(points, start, start + MEMORY_BLOCK_POINTS)
    this.#known[block] = summary
    return summary
  }
}
