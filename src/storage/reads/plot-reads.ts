import { lowerBound } from '../../series/columns.ts'
import { type PlotGaps, PlotSampler, type PlotSummary } from '../../series/plot.ts'
import type { PlotPoints } from '../../series/reads.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { type BlockView, MAX_CHUNKS } from '../blocks/block.ts'
import { EXTENT } from '../blocks/chunk.ts'
import type { ReadPace } from '../pause.ts'
import type { PointBlocks, ZoneMapSink } from './point-blocks.ts'

/**
 * Points of a chart, from summaries where a run of points lies in one column.
 * @param edges  n + 1 ascending instants
 * @param gaps   where the signal ends between good points
 */
export async function readPlot(
  blocks: PointBlocks,
  edges: Float64Array,
  gaps: PlotGaps,
  pace: ReadPace,
): Promise<PlotPoints> {
  const plot = new PlotSampler(edges, { gaps })
  await blocks.eachZoneMap(edges[0]!, edges[edges.length - 1]!, pace, new PlotSink(plot))
  return plot.finish()
}

/** Feeds a plot. */
class PlotSink implements ZoneMapSink {
  readonly #plot: PlotSampler
  /** What was offered last: if it is of the block in view it may have the times of its least and greatest points. */
  #offered: (ZoneMap & PlotSummary) | null = null
  /** Extents of chunks of the block in view. */
  readonly #extents = new Float64Array(MAX_CHUNKS * EXTENT.length)

  constructor(plot: PlotSampler) {
    this.#plot = plot
  }

  takeZoneMap(zoneMap: ZoneMap): boolean {
    this.#offered = zoneMap
    return this.#plot.addSummary(zoneMap, zoneMap.lastTime)
  }

  takePoints(points: Parameters<ZoneMapSink['takePoints']>[0]): void {
    this.#plot.add(points)
  }

  /** Of the chunks that lie in one column those with the least and the greatest point alone are unpacked. */
  takeBlock(view: BlockView, from: number, to: number): boolean {
    const { chunkCount } = view
    if (chunkCount === 0) return false
    for (let chunk = firstChunk(view, from); chunk < chunkCount; ) {
      const firstTime = view.chunkFirstTime(chunk)
      if (firstTime >= to) break
      const length =
        firstTime < from ? 0 : this.#readRun(view, chunk, Math.min(to, this.#plot.columnEnd(firstTime)))
      if (length > 0 && this.#takeRun(view, chunk, length)) {
        chunk += length
        continue
      }
      const start = view.chunkStart(chunk)
      const points = view.pointsView(start, view.chunkStart(chunk + 1))
      const [first, end] = [lowerBound(points.times, from), lowerBound(points.times, to)]
      this.#plot.add(
        first === 0 && end === points.times.length ? points : view.pointsView(start + first, start + end),
      )
      chunk++
    }
    return true
  }

  /**
   * Reads the extents of chunks that follow each other and end before an instant, up to the first one of which its
   * extent is not enough.
   * @returns how many there are
   */
  #readRun(view: BlockView, first: number, end: number): number {
    const extents = this.#extents
    let length = 0
    while (first + length < view.chunkCount) {
      const place = length * EXTENT.length
      const isEnough = view.readExtent(first + length, extents, place)
      if (!isEnough || extents[place + EXTENT.lastTime]! >= end) break
      length++
    }
    return length
  }

  /** Takes whole chunks of one column whose extents were read. */
  #takeRun(view: BlockView, first: number, length: number): boolean {
    const extents = this.#extents
    let least = 0
    let greatest = 0
    for (let i = 1; i < length; i++) {
      const place = i * EXTENT.length
      if (extents[place + EXTENT.min]! < extents[least * EXTENT.length + EXTENT.min]!) least = i
      if (extents[place + EXTENT.max]! > extents[greatest * EXTENT.length + EXTENT.max]!) greatest = i
    }
    const end = (length - 1) * EXTENT.length
    const count = view.chunkStart(first + length) - view.chunkStart(first)
    const firstTime = extents[EXTENT.firstTime]!
    const lastTime = extents[end + EXTENT.lastTime]!
    const min = extents[least * EXTENT.length + EXTENT.min]!
    const max = extents[greatest * EXTENT.length + EXTENT.max]!
    const plot = this.#plot
    const offered = this.#offered
    const isOfBlock = offered?.firstTime === view.firstTime && offered.lastTime === view.lastTime
    const known = isOfBlock ? offered : null
    const timeOf = (value: number, inChunk: number, whole: number | undefined, time: number | undefined) => {
      const isKnown = value === whole && time !== undefined && time >= firstTime && time <= lastTime
      return isKnown ? time : timeInChunk(view, first + inChunk, value)
    }
    const minTime = plot.isLeast(min) ? timeOf(min, least, known?.min, known?.minTime) : undefined
    const maxTime = plot.isGreatest(max) ? timeOf(max, greatest, known?.max, known?.maxTime) : undefined
    return plot.addSummary(
      {
        count,
        numGood: count,
        firstTime,
        firstGoodTime: firstTime,
        first: extents[EXTENT.first]!,
        lastGoodTime: lastTime,
        last: extents[end + EXTENT.last]!,
        min,
        max,
        ...(minTime === undefined ? {} : { minTime }),
        ...(maxTime === undefined ? {} : { maxTime }),
        ...(known?.longestGap === undefined ? {} : { longestGap: known.longestGap }),
      },
      lastTime,
    )
  }
}

/** The first chunk with points at or after an instant. */
function firstChunk(view: BlockView, from: number): number {
  let chunk = 0
  while (chunk + 1 < view.chunkCount && view.chunkFirstTime(chunk + 1) <= from) chunk++
  return chunk
}

/** When a chunk first has a value that it has. */
function timeInChunk(view: BlockView, chunk: number, value: number): number {
  const { times, values } = view.pointsView(view.chunkStart(chunk), view.chunkStart(chunk + 1))
  return times[values.indexOf(value)]!
}
