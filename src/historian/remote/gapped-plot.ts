import { PlotSampler } from '../../series/plot.ts'
import type { PlotPoints } from '../../series/reads.ts'
import { badPoints, type ChartColumn, goodPoints, namedPoints } from './chart-column.ts'

/** A column of a chart, or a part of one, with the good points of it that the next one of it comes too late after. */
export interface GappedColumn extends ChartColumn {
  /**
   * The first of them and, at or after the least and the greatest point, the first; null for none. Of no meaning where
   * there are no more than three good points.
   */
  readonly gaps: readonly (number | null)[]
}

/**
 * A chart of a signal that ends between points that are too far apart, fed with columns or parts of them in time order.
 * The sampler gets the points that each part may show, and between them the gaps that a server or their times show.
 */
export class GappedPlot {
  readonly #plot: PlotSampler
  readonly #stepped: boolean
  readonly #maxGapUs: number
  /** Of the last good point; NaN before the first. */
  #lastGood = Number.NaN

  constructor(edges: Float64Array, stepped: boolean, maxGapUs: number) {
    this.#plot = new PlotSampler(edges)
    this.#stepped = stepped
    this.#maxGapUs = maxGapUs
  }

  add(column: GappedColumn): void {
    const { count, numGood, firstGoodTime, lastGoodTime, last, firstBadTime } = column
    if (numGood > 0) this.#addGapBetween(this.#lastGood, firstGoodTime)
    if (numGood < count) this.#plot.add(badPoints(firstBadTime, Math.min(count - numGood, 2)))
    if (numGood === 0) return
    const named = namedPoints(column)
    const gaps = column.gaps.filter((time) => time !== null)
    let before = Number.NaN
    for (const [time, value] of named) {
      if (numGood <= 3) this.#addGapBetween(before, time)
      else for (const gap of gaps.filter((one) => one >= before && one < time)) this.#addGapAfter(gap)
      this.#plot.add(goodPoints([[time, value]]))
      before = time
    }
    // Points that are not shown make it a sample: the last one once more stands for them.
    if (numGood > named.length) this.#plot.add(goodPoints([[lastGoodTime, last]]))
    this.#lastGood = lastGoodTime
  }

  finish(): PlotPoints {
    return this.#plot.finish()
  }

  #addGapBetween(time: number, next: number): void {
    if (next - time > this.#maxGapUs) this.#addGapAfter(time)
  }

  /** A stepped signal keeps the value of a good point so long, a linear one has none between two. */
  #addGapAfter(time: number): void {
    this.#plot.addGap(this.#stepped ? time + this.#maxGapUs : time + 1)
  }
}
