import type { HistorianMeasures } from '../../historian/measures.ts'
import type { EngineState } from './engine-state.ts'
import type { Owner } from './owner.ts'

/**
 * What is known of a historian without a look at any file: points that were deleted count until their part is merged.
 * @param owner  `null` where another process is it
 */
export function measureStore({ memtable, parts }: EngineState, owner: Owner | null): HistorianMeasures {
  let { first, last } = memtable.timeRange
  for (const { info } of parts.current.parts) {
    first = Math.min(first, info.firstTime)
    last = Math.max(last, info.lastTime)
  }
  const timeOrNull = (time: number) => (Number.isFinite(time) ? time : null)
  return {
    journalPoints: memtable.allPoints,
    oldest: timeOrNull(first),
    newest: timeOrNull(last),
    archiveLagSeconds: owner?.archiveLagSeconds ?? null,
    retention: owner?.retentionMeasures ?? null,
  }
}
