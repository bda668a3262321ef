import type { RangeStats } from './point-table.ts'

/**
 * Rows that the server summed up, each of which counts points. Where nothing in the ranges was overwritten it need not
 * look for the last versions of points. What comes is counted: where something was written between two queries, perhaps
 * a second version of a point, everything is read again.
 * @param stats of the same ranges, of each tag once
 * @param read  with whether every row is a point of its own
 */
export async function ofLastVersions<Row extends { readonly count: number }>(
  stats: readonly RangeStats[],
  read: (plain: boolean) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (!stats.every(({ plain }) => plain)) return read(false)
  const found = await read(true)
  const rows = stats.reduce((sum, one) => sum + one.rows, 0)
  const counted = found.reduce((sum, { count }) => sum + count, 0)
  return counted === rows ? found : read(false)
}
