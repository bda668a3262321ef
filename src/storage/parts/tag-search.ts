/** Index of the first entry of a tag in ids that ascend; -1 without one. */
export function indexOfTag(tags: Uint32Array, tag: number): number {
  let low = 0
  let high = tags.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (tags[middle]! < tag) low = middle + 1
    else high = middle
  }
  return tags[low] === tag ? low : -1
}
