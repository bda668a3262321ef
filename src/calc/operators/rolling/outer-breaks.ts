import { lowerBound, upperBound } from '../../../series/columns.ts'
import { END_INSTANT, type Instant, instantFromUs } from '../../../time/instant.ts'
import type { Chunk } from '../../graph/chunk.ts'
import type { Operator } from '../../graph/operator.ts'
import type { BufferedPart } from './buffered-input.ts'
import type { RollingWindow } from './window.ts'

/** A chunk of windows, by its raw times. */
interface Around {
  readonly from: number
  readonly to: number
  readonly times: Float64Array
}

/**
 * Where rolling windows bend before the first raw point of a chunk and behind its last: at each t whose window begins
 * or ends where the input has a vertex. Each follows from that vertex alone, whatever the chunk.
 * @param held             the input over all windows of the chunk
 * @param extrapolationLimits of the input
 * @param isFollowed       whether what bends in the input beside its raw points has this bend, too
 */
export function outerBreaksOf(
  window: RollingWindow,
  held: BufferedPart,
  extrapolationLimits: readonly number[],
  { from, to, times }: Around,
  isFollowed: boolean,
): Pick<Chunk, 'outerBreaks'> {
  // Without raw points all of it lies before the first.
  const [first, last] = [times[0] ?? to, times.at(-1) ?? to]
  const found = new Set<number>()
  const add = (t: number): void => {
    if (t >= from && t < to && (t < first || t > last)) found.add(t)
  }
  const raw = held.raw.times
  const others = othersOf(held, extrapolationLimits, isFollowed)
  for (const [start, end] of [
    [from, first],
    [last, to],
  ] as const) {
    if (end <= start) continue
    for (const vertex of within(raw, ...window.startsWithin(start, end))) add(window.startingAt(vertex))
    // Windows that end at their t end at raw points where these stand.
    if (window.isTrailing) continue
    for (const vertex of within(raw, ...window.endsWithin(start, end))) add(window.endingAt(vertex))
  }
  for (const vertex of others) {
    add(window.startingAt(vertex))
    add(window.endingAt(vertex))
  }
  return found.size === 0 ? {} : { outerBreaks: Float64Array.from(found).sort() }
}

/**
 * The first instant at or after another, behind all raw points, up to which integrals over windows bend in a curve:
 * they do where a sloping signal leaves the window, until a vertex of the input begins or ends one. `null` for none.
 * @param isFollowed  as above
 */
export async function nextOuterBreak(
  window: RollingWindow,
  input: Operator,
  at: Instant,
  isFollowed: boolean,
): Promise<Instant | null> {
  const [start, end] = [window.startFor(at), window.endFor(at)]
  const vertices = await Promise.all([
    input.rawTime('after-or-at', start),
    isFollowed ? input.outerBreak(start) : null,
    isFollowed ? input.outerBreak(end) : null,
    end > at ? input.rawTime('after-or-at', end) : null,
  ])
  const bends = [...vertices.filter((time) => time !== null), ...input.extrapolationLimits]
    .flatMap((time) => [window.startingAt(time), window.endingAt(time)])
    .filter((bend) => bend >= at && bend < END_INSTANT)
  return bends.length === 0 ? null : instantFromUs(Math.min(...bends))
}

/** Vertices of the input that are no raw points. */
function othersOf(
  { chunks, raw: { times } }: BufferedPart,
  limits: readonly number[],
  isFollowed: boolean,
): readonly number[] {
  const others = [...limits]
  const [first, last] = [times[0] ?? Number.POSITIVE_INFINITY, times.at(-1) ?? Number.NEGATIVE_INFINITY]
  for (const { breaks = [], outerBreaks = [] } of chunks) {
    others.push(...breaks)
    if (isFollowed) for (const time of outerBreaks) if (time < first || time > last) others.push(time)
  }
  return others
}

function within(times: Float64Array, from: number, to: number): Float64Array {
  return times.subarray(lowerBound(times, from), upperBound(times, to))
}
