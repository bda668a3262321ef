import type { PointColumns } from '../../series/columns.ts'
import type { ZoneMap } from '../../series/zone-map.ts'
import { BlockView } from '../blocks/block.ts'
import { mergePoints } from '../blocks/merge-points.ts'
import { isUsable } from '../blocks/zone-map.ts'
import type { PartRun } from '../parts/part.ts'
import type { ReadPace } from '../pause.ts'
import type { PointBlocks, ZoneMapSink } from '../reads/point-blocks.ts'
import { takeBlock } from '../reads/zone-map-reads.ts'
import type { Source } from './sources.ts'

const { NEGATIVE_INFINITY, POSITIVE_INFINITY } = Number

/** Blocks that are fetched together, beside the one that is needed. */
const BLOCKS_AHEAD = 15

/**
 * The points of a tag from several sources as one sequence of blocks. Between two beginnings of blocks, of whatever
 * source, each source has at most one block; where a single one has points its block is shown as it is, elsewhere the
 * points are merged, those of later sources first.
 */
export class LayeredBlocks implements PointBlocks {
  readonly view = new BlockView()
  /** Blocks that are read ahead; `null` for none. */
  #loading: Promise<void> | null = null
  /** From where on blocks were asked for: once each, as a small cache may not keep them. */
  #loadedFrom = NEGATIVE_INFINITY
  readonly #sources: readonly Source[]

  /** @param sources  in the order in which they count: of points of the same time that of the last one is the one */
  constructor(sources: readonly Source[]) {
    this.#sources = sources
  }

  seekBefore(at: number, from = NEGATIVE_INFINITY): boolean {
    for (let until = at; until >= from && until > NEGATIVE_INFINITY; ) {
      const { start, end } = this.#between(until)
      if (start === NEGATIVE_INFINITY) return false
      if (this.#show(start, end) && this.view.firstTime <= at) return true
      until = previous(start)
    }
    return false
  }

  seekAfter(at: number, to = POSITIVE_INFINITY): boolean {
    for (let from = at; from < to; ) {
      const start = this.#next(from)
      if (start >= to) return false
      const end = this.#blockAfter(start)
      if (this.#show(start, end)) return true
      from = end
    }
    return false
  }

  seekGoodBefore(at: number, from = NEGATIVE_INFINITY): boolean {
    let last = NEGATIVE_INFINITY
    // What is shown is never good at other times than its sources are. What ends first is looked into last, if at all.
    for (const source of this.#sources.toSorted((one, other) => other.lastTime - one.lastTime)) {
      if (source.lastTime < Math.max(last, from)) break
      if (source.firstTime <= at) last = Math.max(last, source.lastGood(at, Math.max(last, from)))
    }
    return this.seekBefore(last, from)
  }

  seekGoodAfter(at: number): boolean {
    let first = POSITIVE_INFINITY
    for (const source of this.#sources.toSorted((one, other) => one.firstTime - other.firstTime)) {
      if (source.firstTime >= first) break
      if (source.lastTime >= at) first = Math.min(first, source.firstGood(at, first))
    }
    return first < POSITIVE_INFINITY && this.seekCovering(first)
  }

  seekCovering(at: number, to?: number): boolean {
    // No further back than the block that has it: what is damaged before it is not needed.
    const { start, end } = this.#between(at)
    const isThere = start > NEGATIVE_INFINITY && this.#show(start, end)
    return (isThere && this.view.lastTime >= at) || this.seekAfter(at, to)
  }

  async eachZoneMap(from: number, to: number, pace: ReadPace, sink: ZoneMapSink): Promise<void> {
    let at = from
    while (at < to) {
      if (sink.isDone?.() === true) return
      at = this.#step(at, from, to, sink)
      const loading = this.#loading
      if (loading === null && (at >= to || !pace.isDue(sink.steps?.()))) continue
      // What it rejects with is met below, or by nobody where the read is aborted.
      loading?.catch(() => {})
      // It yields to the event loop, which is when the state of the read is held.
      await pace.pause()
      await loading
      this.#loading = null
    }
  }

  /** Gives the next points at or after `at`; gives where to go on. */
  #step(at: number, from: number, to: number, sink: ZoneMapSink): number {
    // The source whose points come first, and where those of the others begin.
    let source: Source | null = null
    let first = POSITIVE_INFINITY
    let others = POSITIVE_INFINITY
    for (const one of this.#sources) {
      // What begins later is not looked into before it comes first.
      const next = one.firstTime > at ? one.firstTime : one.nextTime(at)
      if (next < first) {
        others = first
        first = next
        source = one
      } else if (next < others) others = next
    }
    if (source === null || first >= to) return to
    const exact = source.nextTime(first)
    if (exact > first) return Math.min(exact, others, to)
    if (others > first) {
      const { run } = source
      if (run === null) {
        const end = Math.min(to, others)
        const blockEnd = source.blockAfter(first)
        // Where others begin within one of its blocks they may take turns, point by point: all of it is merged.
        if (end === to || end >= blockEnd || blockEnd === POSITIVE_INFINITY) {
          if (source.give !== undefined) return source.give(first, end, sink)
          sink.takePoints(source.points(first, end))
          return end
        }
      } else {
        const block = run.blockBefore(first)
        const last = block < 0 ? POSITIVE_INFINITY : run.blockLast(block)
        if (block >= 0 && others > last && !source.isCut(run.blockFirst(block), last)) {
          return this.#takeRun(run, block, source, others, at, from, to, sink)
        }
      }
    }
    if (!this.seekAfter(first, to)) return to
    takeBlock(this.view, first, to, sink)
    return next(this.view.lastTime)
  }

  /** Gives a block that no other source has points within, or the page that it begins; gives where to go on. */
  #takeRun(
    run: PartRun,
    block: number,
    source: Source,
    others: number,
    at: number,
    from: number,
    to: number,
    sink: ZoneMapSink,
  ): number {
    const first = run.blockFirst(block)
    const last = run.blockLast(block)
    let summary: ZoneMap | null | undefined
    if (first >= at && first >= from) {
      if (run.pages > 0) {
        const page = run.pageOf(block)
        const pageEnd = run.pageStart(page + 1)
        const pageLast = run.blockLast(pageEnd - 1)
        const isAlone = pageLast < to && others > pageLast && !source.isCut(first, pageLast)
        if (pageEnd - block > 1 && run.pageStart(page) === block && isAlone) {
          const whole = run.pageSummary(page)
          if (whole !== null && isUsable(whole) && sink.takeZoneMap(whole)) return next(pageLast)
        }
      }
      if (last < to) {
        summary = run.blockSummary(block)
        if (summary !== null && isUsable(summary) && sink.takeZoneMap(summary)) return next(last)
      }
    }
    if (first > this.#loadedFrom) {
      // With those that follow it, in one go.
      this.#loadedFrom = first
      this.#loading = run.load(block, Math.min(block + BLOCKS_AHEAD, run.blockBefore(to - 1)))
      if (this.#loading !== null) return Math.max(at, from)
    }
    run.openAhead(block, this.view)
    if (summary === undefined) summary = run.blockSummary(block)
    takeBlock(this.view, Math.max(at, from), to, sink, summary?.longestGap)
    return next(last)
  }

  /**
   * Where the blocks begin and end between which an instant lies; start -Infinity when no block begins at or before it.
   */
  #between(at: number): { readonly start: number; readonly end: number } {
    let start = NEGATIVE_INFINITY
    let end = POSITIVE_INFINITY
    // The latest sources first: most that are asked for is new, and what ends before it need not be looked into.
    for (let i = this.#sources.length - 1; i >= 0; i--) {
      const source = this.#sources[i]!
      if (source.firstTime > at) {
        end = Math.min(end, source.firstTime)
        continue
      }
      if (source.lastTime < start) continue
      start = Math.max(start, source.blockStart(at))
      if (source.lastTime > at) end = Math.min(end, source.blockAfter(at))
    }
    return { start, end }
  }

  /** A time at or before that of the first point at or after `at`. */
  #next(at: number): number {
    let first = POSITIVE_INFINITY
    for (const source of this.#sources) {
      if (source.lastTime < at) continue
      first = Math.min(first, source.firstTime >= first ? first : source.nextTime(at))
    }
    return first
  }

  /** Where the first block begins behind an instant, or may begin. */
  #blockAfter(at: number): number {
    let end = POSITIVE_INFINITY
    for (const source of this.#sources) {
      if (source.lastTime <= at || source.firstTime >= end) continue
      end = Math.min(end, source.firstTime > at ? source.firstTime : source.blockAfter(at))
    }
    return end
  }

  /** Views all points of [start, end), in which each source has one block at most; false when there are none. */
  #show(start: number, end: number): boolean {
    let only: Source | null = null
    let merged: PointColumns | null = null
    for (const source of this.#sources) {
      if (source.lastTime < start || source.firstTime >= end) continue
      if (source.nextTime(start) >= end) continue
      if (only === null && merged === null) {
        only = source
        continue
      }
      merged ??= only!.points(start, end)
      only = null
      merged = mergePoints(merged, source.points(start, end))
    }
    if (only !== null) return this.#showOnly(only, start, end)
    return merged !== null && this.#showColumns(merged)
  }

  #showOnly(source: Source, start: number, end: number): boolean {
    const { run } = source
    if (run !== null) {
      const block = run.blockBefore(Math.min(end - 1, Number.MAX_SAFE_INTEGER))
      const first = run.blockFirst(block)
      const last = run.blockLast(block)
      if (first >= start && last < end && !source.isCut(first, last)) {
        run.open(block, this.view)
        return true
      }
    }
    return this.#showColumns(source.points(start, end))
  }

  #showColumns(points: PointColumns): boolean {
    const count = points.times.length
    if (count === 0) return false
    this.view.openColumns(points, 0, count)
    return true
  }
}

/** Instants are whole. */
function next(at: number): number {
  return at + 1
}

function previous(at: number): number {
  return at - 1
}
