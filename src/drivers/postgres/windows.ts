import type { Relation } from './relation.ts'

/** The edges as the column's own type, worked out once for the statement. */
export function boundsOf({ time }: Relation, edges: string): string {
  if (time.bound('x') === 'x') return edges
  return `(SELECT array_agg(${time.bound('e.at')} ORDER BY e.i) FROM unnest(${edges}) WITH ORDINALITY AS e(at, i))`
}

const gridNames = new WeakMap<Float64Array, number>()
let nextGrid = 1

/** The same array gets the same name: labels of a call share their windows. */
export function gridName(edges: Float64Array): number {
  return gridNames.getOrInsertComputed(edges, () => nextGrid++)
}
