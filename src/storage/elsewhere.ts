import { resolve } from 'node:path'

/** An embedded historian that is configured to keep its data in a folder of its own. */
export interface HistorianElsewhere {
  readonly name: string
  readonly folder: string
}

/** Those of the historians that are not among the folders of the data directory anyway. */
export function outside(
  inside: readonly string[],
  elsewhere: readonly HistorianElsewhere[],
): readonly HistorianElsewhere[] {
  const known = new Set(inside.map((folder) => resolve(folder)))
  return elsewhere.filter(({ folder }) => !known.has(resolve(folder)))
}
