import type { Memtable } from '../memtable/memtable.ts'
import type { PreparedPoints } from '../memtable/point-table.ts'
import { inSlices } from '../pause.ts'
import type { WalRecord } from '../wal/wal-record.ts'

/**
 * Does most of the work of applying the points of records together beforehand, in slices; nobody sees it. `null` where
 * nothing was done: they are applied as they are then.
 */
export async function preparePoints(
  memtable: Memtable,
  records: readonly Pick<WalRecord, 'points'>[],
): Promise<PreparedPoints | null> {
  const work = memtable.prepare(records)
  return work === null ? null : inSlices(work)
}
