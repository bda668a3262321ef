/**
 * Ids of several ascending lists, such as the tags of parts, ascending and each once; found as they are read, without
 * memory for them.
 */
export function ascendingTags(lists: readonly Iterable<number>[]): Iterable<number> {
  if (lists.length < 2) return lists[0] ?? []
  const middle = lists.length >>> 1
  return mergedTags(ascendingTags(lists.slice(0, middle)), ascendingTags(lists.slice(middle)))
}

function* mergedTags(left: Iterable<number>, right: Iterable<number>): Generator<number> {
  const ofLeft = left[Symbol.iterator]()
  const ofRight = right[Symbol.iterator]()
  let one = ofLeft.next()
  let other = ofRight.next()
  while (one.done !== true && other.done !== true) {
    const tag = Math.min(one.value, other.value)
    yield tag
    if (one.value === tag) one = ofLeft.next()
    if (other.value === tag) other = ofRight.next()
  }
  for (; one.done !== true; one = ofLeft.next()) yield one.value
  for (; other.done !== true; other = ofRight.next()) yield other.value
}
