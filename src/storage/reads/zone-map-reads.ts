import type { BlockView } from '../blocks/block.ts'
import { isUsable } from '../blocks/zone-map.ts'
import type { ZoneMapSink } from './point-blocks.ts'

/**
 * Gives those points of a block that fall into [from, to).
 * @param longestGap  of the block, which bounds that of each chunk; `undefined` where it is not known
 */
export function takeBlock(
  view: BlockView,
  from: number,
  to: number,
  sink: ZoneMapSink,
  longestGap?: number,
): void {
  if (sink.takeBlock?.(view, from, to) === true) return
  const { chunkCount } = view
  if (chunkCount === 0) {
    const start = view.lowerBound(from)
    const end = view.lowerBound(to)
    if (start < end) sink.takePoints(view.columns(start, end))
    return
  }
  let chunk = 0
  while (chunk + 1 < chunkCount && view.chunkFirstTime(chunk + 1) <= from) chunk++
  for (; chunk < chunkCount; chunk++) {
    const zoneMap = view.chunkZoneMap(chunk)
    if (zoneMap.lastTime < from) continue
    if (zoneMap.firstTime >= to) return
    const isWhole = zoneMap.firstTime >= from && zoneMap.lastTime < to && isUsable(zoneMap)
    if (longestGap !== undefined) zoneMap.longestGap = longestGap
    if (isWhole && sink.takeZoneMap(zoneMap)) continue
    const start = Math.max(view.chunkStart(chunk), view.lowerBound(from))
    const end = Math.min(view.chunkStart(chunk + 1), view.lowerBound(to))
    sink.takePoints(view.pointsView(start, end))
  }
}
