import { lowerBound, upperBound } from '../../../series/columns.ts'
import type { Chunk } from '../../graph/chunk.ts'
import type { BufferedPart } from './buffered-input.ts'
import type { RollingWindow } from './window.ts'

/** A chunk of windows, by its raw times. */
interface Around {
  readonly from: number
  readonly to: number
  readonly times: Float64Array
}

/**
 * Where rolling windows bend before the first raw point of a chunk and behind its last: at each t whose window begins or
 * ends where the input has a vertex. Each follows from that vertex alone, whatever the chunk.
 * @param held             the input over all windows of the chunk
 * @param extrapolationLimits of the input
 */
export function outerBreaksOf(
  window: RollingWindow,
  held: BufferedPart,
  extrapolationLimits: readonly number[],
  { from, to, times }: Around,
): Pick<Chunk, 'outerBreaks'> {
  const [first, last] = [times[0] ?? to, times.at(-1) ?? from]
  const found = new Set<number>()
  const add = (t: number): void => {
    if (t > from && t < to && (t < first || t > last)) found.add(t)
  }
  const raw = held.raw.times
  const others = othersOf(held, extrapolationLimits)
  for (const [start, end] of times.length === 0
    ? [[from, to]]
    : [
        [from, first],
        [last, to],
      ]) {
    if (end! - start! < 2) continue
    for (const vertex of within(raw, ...window.startsWithin(start!, end!))) add(window.startingAt(vertex))
    // Windows that end at their t end at raw points where these stand.
    if (window.isTrailing) continue
    for (const vertex of within(raw, ...window.endsWithin(start!, end!))) add(window.endingAt(vertex))
  }
  for (const vertex of others) {
    add(window.startingAt(vertex))
    add(window.endingAt(vertex))
  }
  return found.size === 0 ? {} : { outerBreaks: Float64Array.from(found).sort() }
}

/** Vertices of the input that are no raw points. */
function othersOf({ chunks, raw: { times } }: BufferedPart, limits: readonly number[]): readonly number[] {
  const others = [...limits]
  const [first, last] = [times[0] ?? Number.POSITIVE_INFINITY, times.at(-1) ?? Number.NEGATIVE_INFINITY]
  for (const { breaks = [], outerBreaks = [] } of chunks) {
    others.push(...breaks)
    for (const time of outerBreaks) if (time < first || time > last) others.push(time)
  }
  return others
}

function within(times: Float64Array, from: number, to: number): Float64Array {
  return times.subarray(lowerBound(times, from), upperBound(times, to))
}
