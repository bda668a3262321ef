import type { FilePart } from '../parts/file-part.ts'
import type { TagSet } from '../parts/tag-set.ts'
import { cutsOf } from './cells.ts'
import { ofInput } from './merge-input.ts'
import { monthOf } from './months.ts'

/** One merge cuts out no more than these, however small they may be. */
const MOST_PARTITIONS = 100
/** Tags that are looked at in each input, of those with small and of those with large runs. */
const SAMPLES = 256

/**
 * Where the outputs of a merge are cut (cells.ts). The bytes of months are estimated from a sample of tags. Throws
 * InputDamage.
 */
export function cutTimes(inputs: readonly FilePart[], partitionBytes: number): readonly number[] {
  const total = inputs.reduce((sum, { info }) => sum + info.bytes, 0)
  if (total <= partitionBytes) return []
  const months = new Map<number, number>()
  for (const input of inputs) addMonths(input, months)
  return cutsOf(months, Math.max(partitionBytes, total / MOST_PARTITIONS))
}

function addMonths(input: FilePart, months: Map<number, number>): void {
  const { points, bytes, firstTime, lastTime } = input.info
  if (points === 0) return
  const first = monthOf(firstTime)
  if (monthOf(lastTime) === first) {
    months.set(first, (months.get(first) ?? 0) + bytes)
    return
  }
  // Points of each month, of the tags that are looked at.
  const sample = new Map<number, number>()
  for (const tags of [input.smallTags, input.largeTags]) sampleTags(input, tags, sample)
  const all = sample.values().reduce((sum, count) => sum + count, 0)
  for (const [month, count] of sample) months.set(month, (months.get(month) ?? 0) + (bytes * count) / all)
}

function sampleTags(input: FilePart, tags: TagSet, sample: Map<number, number>): void {
  const step = Math.ceil(tags.size / SAMPLES)
  let number = 0
  for (const tag of tags) {
    if (number++ % step !== 0) continue
    ofInput(input.info.name, () => {
      const run = input.run(tag)!
      for (let block = 0; block < run.blocks; block++) {
        spread(run.blockFirst(block), run.blockLast(block), run.blockCount(block) * step, sample)
      }
    })
  }
}

/** Spreads points evenly over the months from the first to the last. */
function spread(firstTime: number, lastTime: number, count: number, sample: Map<number, number>): void {
  const first = monthOf(firstTime)
  const last = monthOf(lastTime)
  const share = count / (last - first + 1)
  for (let month = first; month <= last; month++) sample.set(month, (sample.get(month) ?? 0) + share)
}
