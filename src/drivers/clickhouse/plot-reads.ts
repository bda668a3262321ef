import type { CallContext, PlotPoints, PlotQuery } from '../../historian/contract.ts'
import { addChartColumn } from '../../historian/remote/chart-column.ts'
import { GappedPlot } from '../../historian/remote/gapped-plot.ts'
import { PlotSampler } from '../../series/plot.ts'
import { plotColumns, plotColumnsWithGaps } from './plot-columns.ts'
import { sameWindows } from './same-windows.ts'
import type { SegmentReads } from './segment-reads.ts'
import { tagId } from './tag-id.ts'

/** Points of charts: the server says of each column which points it is drawn by, all tags of a call in one query. */
export class PlotReads {
  readonly #segments: SegmentReads

  constructor(segments: SegmentReads) {
    this.#segments = segments
  }

  async read(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]> {
    const found: PlotPoints[] = []
    const gapOf = ({ maxGapUs }: PlotQuery) => `${maxGapUs}`
    for (const members of sameWindows(queries, ({ edges }) => edges, gapOf)) {
      const plots = await this.#plots(
        members.map((index) => queries[index]!),
        context,
      )
      members.forEach((index, i) => {
        found[index] = plots[i]!
      })
    }
    return found
  }

  /** Of queries with the same columns and the same limit of how long a point is good for. */
  async #plots(queries: readonly PlotQuery[], context: CallContext): Promise<readonly PlotPoints[]> {
    const { edges, maxGapUs } = queries[0]!
    const tags = queries.map(({ tag }) => tag)
    if (maxGapUs === undefined) {
      const found = await this.#segments.rows(tags, edges, plotColumns(), context)
      return tags.map((tag) => {
        const plot = new PlotSampler(edges)
        for (const column of found.get(tagId(tag).text) ?? []) addChartColumn(plot, column)
        return plot.finish()
      })
    }
    const found = await this.#segments.rows(tags, edges, plotColumnsWithGaps(maxGapUs), context)
    return queries.map(({ tag, stepped }) => {
      const plot = new GappedPlot(edges, stepped, maxGapUs)
      for (const column of found.get(tagId(tag).text) ?? []) plot.add(column)
      return plot.finish()
    })
  }
}
