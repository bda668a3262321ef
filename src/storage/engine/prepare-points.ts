import type { Memtable } from '../memtable/memtable.ts'
import type { PreparedTags } from '../memtable/point-table.ts'
import { Pacer } from '../pause.ts'
import type { WalRecord } from '../wal/wal-record.ts'

/** A step takes as long as so many of the pacer: the clock is asked after each. */
const STEPS_OF_SORT = 16

/**
 * Does most of the work of applying the points of records together beforehand, in slices; nobody sees it. `null` where
 * nothing was done: they are applied as they are then.
 */
export async function preparePoints(
  memtable: Memtable,
  records: readonly Pick<WalRecord, 'points'>[],
): Promise<PreparedTags | null> {
  const work = memtable.prepare(records)
  if (work === null) return null
  const pacer = new Pacer()
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (pacer.isDue(STEPS_OF_SORT)) await pacer.pause()
  }
}
