import { makeColumns, type PointColumns } from '../../series/columns.ts'
import type { Tombstone } from '../parts/part.ts'

/** [from, to) of time. */
export interface Span {
  readonly from: number
  readonly to: number
}

const NONE: readonly Span[] = []

/** Tombstones by tag. */
export class TombstoneMap {
  readonly #byTag = new Map<number, Tombstone[]>()

  add(tombstone: Tombstone): void {
    const known = this.#byTag.get(tombstone.tag)
    if (known === undefined) this.#byTag.set(tombstone.tag, [tombstone])
    else known.push(tombstone)
  }

  addAll(tombstones: Iterable<Tombstone>): void {
    for (const tombstone of tombstones) this.add(tombstone)
  }

  /** Tags that have any. */
  tags(): Iterable<number> {
    return this.#byTag.keys()
  }

  /** Whether there are any of a tag. */
  has(tag: number): boolean {
    return this.#byTag.has(tag)
  }

  /**
   * What is taken from the points of a tag in a part with such numbers: ascending, apart from each other.
   * @param others  spans that are taken from all parts, ascending and apart from each other
   */
  cuts(tag: number, lastSequence: number, others: readonly Span[] = NONE): readonly Span[] {
    const all = this.#byTag.get(tag)
    if (all === undefined) return others
    return joinSpans([...others, ...all.filter(({ sequence }) => sequence > lastSequence)])
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
