import { makeColumns, type PointColumns, sliceColumns } from '../../series/columns.ts'
import type { Span } from '../blocks/spans.ts'
import { atOnce, atPace, type ReadPace } from '../pause.ts'
import { lastGood } from '../reads/good-points.ts'
import type { PointBlocks } from '../reads/point-blocks.ts'

/**
 * The points of a tag that stay although they lie at or before its watermark: the newest of them, and the last good one
 * where that is another. In time order; empty without any. What retention takes away depends on these alone: a value
 * that is held or interpolated right after the watermark is what it was.
 * @param blocks  all points of the tag that are stored, those that no read shows among them
 */
export function keptPoints(blocks: PointBlocks, watermark: number): PointColumns {
  return atOnce(findKept(blocks, watermark))
}

/** The same, with yields to the event loop between blocks: good points may have been replaced by very many BAD ones. */
export function keptInSlices(blocks: PointBlocks, watermark: number, pace: ReadPace): Promise<PointColumns> {
  return atPace(findKept(blocks, watermark), pace)
}

function* findKept(blocks: PointBlocks, watermark: number): Generator<void, PointColumns> {
  const { view } = blocks
  const kept = makeColumns(2)
  if (!blocks.seekBefore(watermark)) return sliceColumns(kept, 0, 0)
  const newest = view.lowerBound(watermark + 1) - 1
  view.copyTo(kept, 1, newest, newest + 1)
  for (let end = newest + 1; ; ) {
    const index = lastGood(view, end)
    if (index >= 0) {
      if (view.timeAt(index) === kept.times[1]) break
      view.copyTo(kept, 0, index, index + 1)
      return kept
    }
    const { firstTime } = view
    yield
    if (!blocks.seekGoodBefore(firstTime - 1)) break
    end = view.lowerBound(firstTime)
  }
  return sliceColumns(kept, 1, 2)
}

/** What is gone at or before a watermark of which these points were kept: all that lies before and between them. */
export function hiddenSpans({ times }: PointColumns): readonly Span[] {
  const hidden: Span[] = []
  let from = Number.NEGATIVE_INFINITY
  for (const time of times) {
    if (from < time) hidden.push({ from, to: time })
    from = time + 1
  }
  return hidden
}
