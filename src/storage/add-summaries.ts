import { Arena } from './arena.ts'
import { readBlockKey, TAIL } from './block-key.ts'
import type { Meta, Store } from './environment.ts'
import { META } from './names.ts'
import { encodeSummary } from './summary-entry.ts'

/**
 * Gives each block of a historian that was written before there were summaries an entry that says there is none: its points are read
 * instead, until it is rewritten. One transaction, at the start, before anything is answered; touches keys only.
 */
export async function addSummaries({
  meta,
  points,
  summaries,
}: {
  readonly meta: Meta
  readonly points: Store
  readonly summaries: Store
}): Promise<void> {
  if (meta.get(META.summaries) === true) return
  const none = encodeSummary(new Arena(), null)
  await summaries.transaction(() => {
    summaries.clearSync()
    for (const key of points.getKeys({})) {
      if (readBlockKey(key).time !== TAIL) summaries.put(key, none)
    }
    meta.put(META.summaries, true)
  })
}
