import { GapFinder, type GapPage, type GapSearch } from '../../series/gaps.ts'
import type { ReadPace } from '../pause.ts'
import type { PointBlocks } from './point-blocks.ts'

/** Gaps between good points: blocks whose longest one is short are passed over by their summaries. */
export async function readGaps(blocks: PointBlocks, search: GapSearch, pace: ReadPace): Promise<GapPage> {
  const finder = new GapFinder(search)
  await blocks.eachZoneMap(search.from, search.to, pace, {
    takeZoneMap: (zoneMap) => finder.addSummary(zoneMap),
    takePoints: (points) => finder.add(points),
    isDone: () => finder.isFull,
  })
  return finder.finish()
}
