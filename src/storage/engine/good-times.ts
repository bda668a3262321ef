import type { PartRun } from '../parts/part.ts'

/**
 * A time at or before `at` behind which, up to `at`, a run has no good point: that of the last good point where
 * summaries tell it, the end of a block whose points are not known. A page of some 30 blocks without a good point is
 * one step.
 * @param from  what ends before it is not looked at
 * @returns     -Infinity when no point from `from` to `at` is good, or one further back is the last
 */
export function lastGoodTime(run: PartRun, at: number, from: number): number {
  for (let block = run.blockBefore(at); block >= 0 && run.blockLast(block) >= from; ) {
    const page = run.pages === 0 ? -1 : run.pageOf(block)
    if (page >= 0 && run.pageSummary(page)?.numGood === 0) {
      block = run.pageStart(page) - 1
      continue
    }
    const summary = run.blockSummary(block)
    if (summary === null) return Math.min(at, run.blockLast(block))
    // NaN where it has no good point.
    if (summary.firstGoodTime <= at) return Math.min(at, summary.lastGoodTime)
    block--
  }
  return Number.NEGATIVE_INFINITY
}

/**
 * A time at or after `at` before which, from `at` on, a run has no good point; as above.
 * @param to  what begins at or after it is not looked at
 * @returns   Infinity when no point from `at` on and before `to` is good, or a later one is the first
 */
export function firstGoodTime(run: PartRun, at: number, to: number): number {
  for (let block = Math.max(0, run.blockBefore(at)); block < run.blocks && run.blockFirst(block) < to; ) {
    const page = run.pages === 0 ? -1 : run.pageOf(block)
    if (page >= 0 && run.pageSummary(page)?.numGood === 0) {
      block = run.pageStart(page + 1)
      continue
    }
    const last = run.blockLast(block)
    const summary = last < at ? NO_GOOD : run.blockSummary(block)
    if (summary === null) return Math.max(at, run.blockFirst(block))
    if (summary.lastGoodTime >= at) return Math.max(at, summary.firstGoodTime)
    block++
  }
  return Number.POSITIVE_INFINITY
}

const NO_GOOD = { firstGoodTime: Number.NaN, lastGoodTime: Number.NaN }
