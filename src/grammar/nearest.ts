/** Longer names are cut before they are compared, so that the work is bounded whatever a client sends. */
const LONGEST_COMPARED = 40

/**
 * The name that is nearest to one that was mistyped, in any case: fewest letters added, left out, replaced or swapped
 * with their neighbour; among equals the first.
 * @returns `null` when there are no names
 * @source  optimal string alignment distance (restricted Damerau-Levenshtein)
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

function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let distance = Math.min(row[j - 1]! + 1, last[j]! + 1, replaced)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) distance = Math.min(distance, beforeLast[j - 2]! + 1)
      row.push(distance)
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
