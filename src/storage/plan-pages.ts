import { TAIL } from './block-key.ts'
import type { BlockSummaries, Changes } from './changes.ts'
import { type BlockSummary, PAGE_BLOCKS, type SummaryPage } from './summary-page.ts'
import type { SummaryPages } from './summary-pages.ts'

/** A page that keeps fewer blocks than this takes those of the next one in. */
const LEAST_BLOCKS = 10

/** Pages of a tag that follow each other and are written anew. */
interface Run {
  /** Keys of the stored pages. */
  readonly keys: number[]
  /** Ascending. */
  blocks: BlockSummary[]
  /** Where the page after them begins; TAIL when the newest is among them. */
  until: number
}

/**
 * Works out what changes of a tag's blocks change in its pages of summaries; to be called once they are all worked out.
 * @param changed  the new summary of blocks by the time of their first point, `undefined` for one that is removed
 */
export function planPages(changes: Changes, pages: SummaryPages, tag: number, changed: BlockSummaries): void {
  if (changed.size === 0) return
  const times = Float64Array.from(changed.keys()).sort()
  const newest = pages.newest()
  /** What was worked out last; not put as long as the newest page might have to go into it. */
  let before: Run | null = null
  for (let next = 0; next < times.length; ) {
    const run = runFrom(pages, newest, times[next]!)
    for (;;) {
      const start = next
      while (next < times.length && times[next]! < run.until) next++
      run.blocks = merged(run.blocks, times.subarray(start, next), changed)
      if (run.until === TAIL || run.blocks.length >= LEAST_BLOCKS) break
      absorb(run, pageFrom(pages, newest!, run.until), pages, newest!)
    }
    if (run.until === TAIL && run.blocks.length === 0) {
      // The page before it becomes the newest.
      if (before !== null && before.until === run.keys[0]) {
        run.keys.unshift(...before.keys)
        run.blocks = before.blocks
        before = null
      } else if (newest !== null) {
        const page = pages.before(run.keys[0]! - 1)
        if (page !== null) {
          run.keys.unshift(page.firstTime)
          run.blocks = page.blocks()
        }
      }
    }
    if (before !== null) putRun(changes, tag, before, newest)
    before = run
  }
  putRun(changes, tag, before!, newest)
}

/** The page that a block has its place in: the last one that begins at or before it, or the first. */
function runFrom(pages: SummaryPages, newest: SummaryPage | null, time: number): Run {
  const run: Run = { keys: [], blocks: [], until: TAIL }
  if (newest === null) return run
  const page = newest.firstTime <= time ? newest : (pages.before(time) ?? pages.after(time) ?? newest)
  absorb(run, page, pages, newest)
  return run
}

/** Takes the page after a run, or its first one, into it. */
function absorb(run: Run, page: SummaryPage, pages: SummaryPages, newest: SummaryPage): void {
  run.keys.push(page.firstTime)
  run.blocks = [...run.blocks, ...page.blocks()]
  run.until =
    page.firstTime === newest.firstTime ? TAIL : (pages.after(page.firstTime + 1) ?? newest).firstTime
}

function pageFrom(pages: SummaryPages, newest: SummaryPage, time: number): SummaryPage {
  return time === newest.firstTime ? newest : pages.after(time)!
}

/** Blocks with some of them changed. */
function merged(
  blocks: readonly BlockSummary[],
  times: Float64Array,
  changed: BlockSummaries,
): BlockSummary[] {
  const result: BlockSummary[] = []
  let at = 0
  for (const time of times) {
    while (at < blocks.length && blocks[at]!.time < time) result.push(blocks[at++]!)
    if (at < blocks.length && blocks[at]!.time === time) at++
    const stretch = changed.get(time)
    if (stretch !== undefined) result.push({ time, stretch })
  }
  while (at < blocks.length) result.push(blocks[at++]!)
  return result
}

/**
 * Puts the pages of a run. The newest pages are filled up one after the other, as blocks come at the end; others are split evenly,
 * as blocks come in between.
 */
function putRun(
  changes: Changes,
  tag: number,
  { keys, blocks, until }: Run,
  newest: SummaryPage | null,
): void {
  const isNewest = until === TAIL
  const each = isNewest ? PAGE_BLOCKS : Math.ceil(blocks.length / Math.ceil(blocks.length / PAGE_BLOCKS))
  const kept = new Set<number>()
  for (let start = 0; start < blocks.length; start += each) {
    const part = blocks.slice(start, start + each)
    const key = isNewest && start + each >= blocks.length ? TAIL : part[0]!.time
    kept.add(key)
    changes.putPage(tag, key, part)
  }
  for (const time of keys) {
    const key = time === newest!.firstTime ? TAIL : time
    if (!kept.has(key)) changes.removePage(tag, key)
  }
}
