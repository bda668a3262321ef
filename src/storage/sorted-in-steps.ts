import type { ReadPace } from './pause.ts'

/** Numbers that are sorted between two looks at the clock: about a millisecond, some where long names are compared. */
const RUN = 2_048
/** As many steps as have the pace look at the clock. */
const STEPS_OF_RUN = 64

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
    const run = numbers.subarray(from, from + RUN)
    if (!isSorted(run, compare)) run.sort(compare)
    if (pace.isDue(STEPS_OF_RUN)) await pace.pause()
  }
  let sorted = numbers
  let spare: Uint32Array = new Uint32Array(numbers.length > RUN ? numbers.length : 0)
  for (let width = RUN; width < numbers.length; width *= 2) {
    for (let from = 0; from < sorted.length; from += 2 * width) {
      const middle = Math.min(from + width, sorted.length)
      const end = Math.min(middle + width, sorted.length)
      // What was sorted before stays as it is.
      if (middle === end || compare(sorted[middle - 1]!, sorted[middle]!) < 0) {
        spare.set(sorted.subarray(from, end), from)
        if (pace.isDue(STEPS_OF_RUN)) await pace.pause()
        continue
      }
      let left = from
      let right = middle
      for (let to = from; to < end; to++) {
        const takesLeft = right === end || (left < middle && compare(sorted[left]!, sorted[right]!) < 0)
        spare[to] = sorted[takesLeft ? left++ : right++]!
        if (to % RUN === 0 && pace.isDue(STEPS_OF_RUN)) await pace.pause()
      }
    }
    const merged = spare
    spare = sorted
    sorted = merged
  }
  return sorted
}

function isSorted(run: Uint32Array, compare: (a: number, b: number) => number): boolean {
  for (let i = 1; i < run.length; i++) if (compare(run[i - 1]!, run[i]!) > 0) return false
  return true
}
