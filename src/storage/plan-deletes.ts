import { TAIL } from './block-key.ts'
import type { Changes } from './changes.ts'
import { ChunkList, without } from './chunk-list.ts'
import { planPages } from './plan-pages.ts'
import type { Snapshot } from './snapshot.ts'
import type { StoredBlocks } from './tag-blocks.ts'

/** [from, to) of a tag's time. */
export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Works out what removing spans of points changes in the blocks of a tag.
 * @param changes  `null` only counts
 * @returns        points of each span; one in several spans counts for the first of them
 */
export async function planDeletes(
  changes: Changes | null,
  blocks: StoredBlocks,
  tag: number,
  spans: readonly Span[],
  snapshot: Snapshot,
): Promise<number[]> {
  const counts = spans.map(() => 0)
  const mark = changes?.mark()
  const pieces = disjointPieces(spans)
  const { view } = blocks
  for (let first = 0; first < pieces.length; ) {
    if (!blocks.seekCovering(pieces[first]!.from)) break
    while (first < pieces.length && pieces[first]!.to <= view.firstTime) first++
    if (first < pieces.length && pieces[first]!.from > view.lastTime) continue

    const cuts: { readonly start: number; readonly end: number }[] = []
    let removed = 0
    for (let i = first; i < pieces.length && pieces[i]!.from <= view.lastTime; i++) {
      const piece = pieces[i]!
      const start = view.lowerBound(piece.from)
      const end = view.lowerBound(piece.to)
      if (start < end) cuts.push({ start, end })
      counts[piece.span]! += end - start
      removed += end - start
    }
    while (first < pieces.length && pieces[first]!.to <= view.lastTime + 1) first++
    if (first < pieces.length) pieces[first]!.from = Math.max(pieces[first]!.from, view.lastTime + 1)
    if (changes !== null && removed > 0) planCuts(changes, blocks, tag, cuts, removed)
    if (snapshot.isDue()) await snapshot.rest()
  }
  if (changes !== null) planPages(changes, blocks.pages!, tag, changes.summariesSince(mark!, tag))
  return counts
}

/** Stores the block in view again without the points that are cut out. */
function planCuts(
  changes: Changes,
  blocks: StoredBlocks,
  tag: number,
  cuts: readonly { readonly start: number; readonly end: number }[],
  removed: number,
): void {
  const { view, isTail } = blocks
  const key = isTail ? TAIL : view.firstTime
  if (removed === view.count) {
    changes.removeBlock(tag, key)
    return
  }
  if (view.chunkCount > 0) {
    const chunks = new ChunkList(changes.arena)
    chunks.addWithout(view, cuts)
    // Without its first points a block begins later, and so has another key.
    changes.removeBlock(tag, key)
    changes.putChunks(tag, chunks, false)
    return
  }
  const kept = without(view, 0, view.count, cuts)
  if (isTail) changes.putTail(tag, kept)
  else {
    if (kept.times[0] !== key) changes.removeBlock(tag, key)
    changes.putPlain(tag, kept)
  }
}

interface Piece {
  from: number
  readonly to: number
  /** Index of the span that it counts for. */
  readonly span: number
}

/** Ascending pieces that do not overlap and cover what the spans cover, each belonging to the first span that covers it. */
export function disjointPieces(spans: readonly Span[]): Piece[] {
  const byStart = spans
    .map((span, index) => ({ ...span, index }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from || a.index - b.index)
  const pieces: Piece[] = []
  const open = new LowestFirst()
  let at = Number.NEGATIVE_INFINITY
  let next = 0
  for (;;) {
    while (open.lowest !== null && open.lowest.to <= at) open.removeLowest()
    if (open.lowest === null) {
      if (next === byStart.length) return pieces
      at = byStart[next]!.from
    }
    while (next < byStart.length && byStart[next]!.from <= at) open.add(byStart[next++]!)
    while (open.lowest !== null && open.lowest.to <= at) open.removeLowest()
    const current = open.lowest
    if (current === null) continue
    const end = next < byStart.length ? Math.min(current.to, byStart[next]!.from) : current.to
    const before = pieces.at(-1)
    if (before !== undefined && before.span === current.index && before.to === at) pieces.pop()
    const from = before !== undefined && before.span === current.index && before.to === at ? before.from : at
    pieces.push({ from, to: end, span: current.index })
    at = end
  }
}

interface OpenSpan {
  readonly to: number
  readonly index: number
}

/** A binary heap of the spans that cover an instant, by their index. */
class LowestFirst {
  readonly #heap: OpenSpan[] = []

  get lowest(): OpenSpan | null {
    return this.#heap[0] ?? null
  }

  add(span: OpenSpan): void {
    const heap = this.#heap
    heap.push(span)
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      if (heap[parent]!.index <= heap[at]!.index) return
      swap(heap, at, parent)
      at = parent
    }
  }

  removeLowest(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    heap[0] = last
    for (let at = 0; ; ) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && heap[child]!.index < heap[least]!.index) least = child
      }
      if (least === at) return
      swap(heap, at, least)
      at = least
    }
  }
}

function swap<T>(items: T[], a: number, b: number): void {
  const item = items[a]!
  items[a] = items[b]!
  items[b] = item
}
