import { makeColumns, type PointColumns } from '../../series/columns.ts'
import type { TombstoneColumns } from '../parts/tombstone-columns.ts'

/** [from, to) of time. */
export interface Span {
  readonly from: number
  readonly to: number
}

const NONE: readonly Span[] = []

/**
 * Tombstones by tag, from lists that are sorted by tag: in columns, as those of some deletions of very many tags would
 * fill the heap as objects. Fast where tags are asked about in ascending order.
 */
export class TombstoneMap {
  readonly #lists: readonly TombstoneColumns[]
  /** Of each list, the first place whose tag is not below `#tag`. */
  readonly #places: Uint32Array
  #tag = 0

  constructor(lists: readonly TombstoneColumns[]) {
    this.#lists = lists.filter(({ tags }) => tags.length > 0)
    this.#places = new Uint32Array(this.#lists.length)
  }

  /** Whether there are any of a tag. */
  has(tag: number): boolean {
    this.#seek(tag)
    for (let i = 0; i < this.#lists.length; i++) {
      if (this.#lists[i]!.tags[this.#places[i]!] === tag) return true
    }
    return false
  }

  /**
   * What is taken from the points of a tag in a part with such numbers: ascending, apart from each other.
   * @param others  spans that are taken from all parts, ascending and apart from each other
   */
  cuts(tag: number, lastSequence: number, others: readonly Span[] = NONE): readonly Span[] {
    this.#seek(tag)
    const all: Span[] = [...others]
    for (let i = 0; i < this.#lists.length; i++) {
      const { tags, from, to, sequences } = this.#lists[i]!
      for (let at = this.#places[i]!; tags[at] === tag; at++) {
        if (sequences[at]! > lastSequence) all.push({ from: from[at]!, to: to[at]! })
      }
    }
    return joinSpans(all)
  }

  #seek(tag: number): void {
    if (tag === this.#tag) return
    if (tag < this.#tag) this.#places.fill(0)
    this.#tag = tag
    for (let i = 0; i < this.#lists.length; i++) {
      const { tags } = this.#lists[i]!
      let place = this.#places[i]!
      while (place < tags.length && tags[place]! < tag) place++
      this.#places[i] = place
    }
  }
}

function joinSpans(spans: readonly Span[]): readonly Span[] {
  if (spans.length < 2) return spans
  const joined: { from: number; to: number }[] = []
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else joined.push({ from, to })
  }
  return joined
}

/** Whether anything of [first, last] is taken away. */
export function isCut(cuts: readonly Span[], first: number, last: number): boolean {
  return cuts.some(({ from, to }) => from <= last && to > first)
}

/** Whether all of [first, last] is taken away by one span. */
export function isWithin(cuts: readonly Span[], first: number, last: number): boolean {
  return cuts.some(({ from, to }) => from <= first && to > last)
}

/** Points without those within spans, which are ascending and apart from each other; may be the argument. */
export function withoutSpans(points: PointColumns, cuts: readonly Span[]): PointColumns {
  const { times, values, statuses } = points
  const count = times.length
  if (count === 0 || !isCut(cuts, times[0]!, times[count - 1]!)) return points
  const left = makeColumns(count)
  let length = 0
  let cut = 0
  for (let i = 0; i < count; i++) {
    const time = times[i]!
    while (cut < cuts.length && cuts[cut]!.to <= time) cut++
    if (cut < cuts.length && time >= cuts[cut]!.from) continue
    left.times[length] = time
    left.values[length] = values[i]!
    left.statuses[length] = statuses[i]!
    length++
  }
  return {
    times: left.times.subarray(0, length),
    values: left.values.subarray(0, length),
    statuses: left.statuses.subarray(0, length),
  }
}
