import { never } from '../../../errors/tidemark-error.ts'
import { clampInstant, END_INSTANT, instantFromUs } from '../../../time/instant.ts'
import { goesBack, reachFrom } from '../../consumers/find-point.ts'
import type { InputNeed } from '../../graph/base.ts'
import { nearTo, timesOf } from '../../graph/near.ts'
import {
  type ChunksNeed,
  type CurrentNeed,
  instantNeed,
  keyOf,
  type Need,
  type NeedSink,
  nearNeed,
  nearSink,
  type RawNeed,
  type ValuesNeed,
} from '../../graph/need.ts'
import type { Operator } from '../../graph/operator.ts'
import type { TimeMap } from './time-map.ts'

/** A need of an operator that is moved by an exact time, as one of its input; `null` out of the accepted range. */
export function movedNeed(need: Need, us: number): Need | null {
  if (need.kind === 'current') return { ...need, at: clampInstant(need.at + us) }
  if (need.kind === 'point') {
    const at = clampInstant(need.at + us)
    return need.from === undefined ? { ...need, at } : { ...need, at, from: clampInstant(need.from + us) }
  }
  const [from, to] = [clampInstant(need.from + us), clampInstant(need.to + us)]
  if (need.kind === 'raw' || need.kind === 'chunks') return from < to ? { ...need, from, to } : null
  if (isInstant(need)) return instantNeed(from)
  return { ...need, from, to, key: keyOf(need.key, 'moved', us) }
}

/** What an operator with an offset on the calendar needs of its input. */
export function offsetNeeds(
  input: Operator,
  map: TimeMap,
  need: InputNeed | CurrentNeed,
  sink: NeedSink,
): void {
  switch (need.kind) {
    case 'values':
      valuesNeeds(input, map, need, sink)
      break
    case 'current':
    case 'point': {
      const { find } = need
      const { from: at } = map.hullOf({ from: need.at, to: need.at })
      const count = 'count' in need ? (need.count ?? 1) : 1
      if (need.kind === 'current') sink.need(input, { ...need, at })
      else {
        // The time that is found there, and the point.
        const isBack = goesBack(find)
        const first = isBack ? 'before-or-at' : 'after-or-at'
        sink.need(input, { kind: 'point', find: first, at, count, timeOnly: true })
        if (need.timeOnly) return
        const near = nearTo(at, isBack, count, timesOf(reachFrom(input, { ...need, find: first, at }), count))
        const point = { kind: 'point', find: 'before-or-at', at, count, key: keyOf(at, 'found') } as const
        nearSink(sink, near).need(input, point)
      }
      // The value at a break that is nearer.
      const beside = map.breakBeside(need.at, goesBack(find))
      if (beside !== null) sink.need(input, nearNeed({ find, at, count }))
      break
    }
    case 'raw':
    case 'chunks':
      rangeNeeds(input, map, need, sink)
      break
    default:
      never(need)
  }
}

function valuesNeeds(input: Operator, map: TimeMap, need: ValuesNeed, sink: NeedSink): void {
  const reach = map.reachOf(need)
  if (isInstant(need)) sink.need(input, instantNeed(reach.from))
  else {
    // Those of a span that stays at one instant are one.
    const spans = isFixed(map, need) ? map.countBreaks(need) + 2 : Number.POSITIVE_INFINITY
    sink.need(input, {
      ...need,
      ...reach,
      count: Math.min(need.count, spans),
      key: keyOf(need.key, 'map', map.key),
    })
  }
}

function rangeNeeds(input: Operator, map: TimeMap, need: RawNeed | ChunksNeed, sink: NeedSink): void {
  const { from, to } = need
  if (from >= to) return
  const spans = map.fewSpans(need)
  const beyond = need.kind === 'chunks' ? need.beyond : 0
  // Each break has a raw point, so that a page of them ends a search.
  const most = need.kind === 'raw' ? need.count + 2 : Number.POSITIVE_INFINITY
  const breaks = Math.min(most, map.countBreaks(need)) + (beyond > 0 ? 2 : 0)
  const reach = map.reachOf(need)
  if (isFixed(map, need)) {
    const count = 2 * (breaks + 2)
    sink.need(input, { kind: 'values', ...reach, count, key: keyOf(from, to, 'breaks', count) })
    return
  }
  if (spans !== null) {
    for (const { from, to, target } of spans) {
      if (target.kind !== 'moved') continue
      sink.need(input, { ...need, from: instantFromUs(from + target.us), to: instantFromUs(to + target.us) })
    }
  } else
    sink.need(
      input,
      need.kind === 'raw' ? { ...need, ...reach, count: 2 * need.count } : { ...need, ...reach },
    )
  if (breaks === 0) return
  // The limit from the left at each break, and what stands beside each span.
  const at = instantFromUs(Math.min(reach.from, END_INSTANT - 1))
  const reads = breaks * (spans === null || beyond > 0 ? 2 : 1)
  sink.need(input, { kind: 'chunks', from: at, to: instantFromUs(at + 1), beyond: 0, ranges: reads })
}

function isFixed(map: TimeMap, { from }: { readonly from: number }): boolean {
  return map.spanAt(Math.min(from, END_INSTANT - 1)).target.kind === 'fixed'
}

/** Whether a need is for one instant that is known. */
function isInstant({ from, to, count, key }: Pick<ValuesNeed, 'from' | 'to' | 'count' | 'key'>): boolean {
  return from === to && count === 1 && key === keyOf(from)
}
