/** [from, to) of a tag's time. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A span of a tag's time, [from, to). */
export interface TagSpan extends Span {
  readonly tag: string
}

interface Piece {
  from: number
  readonly to: number
  /** Index of the span that it counts for. */
  readonly span: number
}

/**
 * Ascending pieces that do not overlap and cover what the spans cover, each belonging to the first span that covers it.
 */
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
