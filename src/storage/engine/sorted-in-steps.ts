import type { ReadPace } from '../reads/point-blocks.ts'

/** Numbers that are sorted in one turn of the event loop: a few milliseconds. */
const RUN = 8_192

/**
 * The numbers in ascending order of a comparison, by a merge sort between whose steps others go on; may be the
 * argument.
 * @param compare  never 0 for two of the numbers
 */
export async function sortedInSteps(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
  pace: ReadPace,
): Promise<Uint32Array> {
  for (let from = 0; from < numbers.length; from += RUN) {
    numbers.subarray(from, from + RUN).sort(compare)
    if (pace.isDue()) await pace.pause()
  }
  let sorted = numbers
  let spare: Uint32Array = new Uint32Array(numbers.length > RUN ? numbers.length : 0)
  for (let width = RUN; width < numbers.length; width *= 2) {
    for (let from = 0; from < sorted.length; from += 2 * width) {
      const middle = Math.min(from + width, sorted.length)
      const end = Math.min(middle + width, sorted.length)
      let left = from
      let right = middle
      for (let to = from; to < end; to++) {
        const takesLeft = right === end || (left < middle && compare(sorted[left]!, sorted[right]!) < 0)
        spare[to] = sorted[takesLeft ? left++ : right++]!
        if (to % RUN === 0 && pace.isDue()) await pace.pause()
      }
    }
    const merged = spare
    spare = sorted
    sorted = merged
  }
  return sorted
}
