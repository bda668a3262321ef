import { editDistance } from '../errors/edit-distance.ts'

/** Longer names are cut before they are compared, so that the work is bounded whatever a client sends. */
const LONGEST_COMPARED = 40

/**
 * The name that is nearest to one that was mistyped, in any case: fewest letters added, left out, replaced or swapped
 * with their neighbour; among equals the first.
 * @returns `null` when there are no names
 */
export function nearestName(mistyped: string, names: Iterable<string>): string | null {
  const wanted = mistyped.slice(0, LONGEST_COMPARED).toUpperCase()
  let nearest: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const name of names) {
    const distance = editDistance(wanted, name.slice(0, LONGEST_COMPARED).toUpperCase())
    if (distance < least) {
      least = distance
      nearest = name
    }
  }
  return nearest
}
