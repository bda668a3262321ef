import type { Span } from '../blocks/spans.ts'
import type { ReadPace } from '../pause.ts'
import { sortedInSteps } from '../sorted-in-steps.ts'

/** A span of a tag's time, [from, to). */
export interface TagSpan extends Span {
  readonly tag: string
}

interface OwnedSpan {
  readonly from: number
  readonly to: number
  /** Index of the span that it counts for. */
  readonly span: number
}

/**
 * Ascending spans that do not overlap and cover what the spans cover, each belonging to the first span that covers it;
 * sorted in steps first, and worked out as they are read, as there can be very many.
 */
export async function disjointSpans(spans: readonly Span[], pace: ReadPace): Promise<Iterable<OwnedSpan>> {
  const indexes = Uint32Array.from(spans.keys()).filter((index) => spans[index]!.from < spans[index]!.to)
  const byStart = await sortedInSteps(indexes, (a, b) => spans[a]!.from - spans[b]!.from || a - b, pace)
  return joinAdjacent(spansOf(spans, byStart))
}

/** @param byStart  indexes of spans in ascending order of their starts */
function* spansOf(spans: readonly Span[], byStart: Uint32Array): Generator<OwnedSpan> {
  const open = new LowestFirst()
  let at = Number.NEGATIVE_INFINITY
  let next = 0
  const startOf = (place: number) => spans[byStart[place]!]!.from
  const removeEnded = () => {
    while (open.lowest !== null && spans[open.lowest]!.to <= at) open.removeLowest()
  }
  for (;;) {
    removeEnded()
    if (open.lowest === null) {
      if (next === byStart.length) return
      at = startOf(next)
    }
    while (next < byStart.length && startOf(next) <= at) open.add(byStart[next++]!)
    removeEnded()
    const span = open.lowest
    if (span === null) continue
    const { to } = spans[span]!
    const end = next < byStart.length ? Math.min(to, startOf(next)) : to
    yield { from: at, to: end, span }
    at = end
  }
}

/** Adjacent spans of the same owner become one. */
function* joinAdjacent(owned: Iterable<OwnedSpan>): Generator<OwnedSpan> {
  let held: OwnedSpan | null = null
  for (const one of owned) {
    if (held === null) held = one
    else if (held.span === one.span && held.to === one.from)
      held = { span: held.span, from: held.from, to: one.to }
    else {
      yield held
      held = one
    }
  }
  if (held !== null) yield held
}

/** A binary heap of the spans that cover an instant, by their index. */
class LowestFirst {
  readonly #heap: number[] = []

  get lowest(): number | null {
    return this.#heap[0] ?? null
  }

  add(span: number): void {
    const heap = this.#heap
    heap.push(span)
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      if (heap[parent]! <= heap[at]!) return
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
        if (child < heap.length && heap[child]! < heap[least]!) least = child
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
