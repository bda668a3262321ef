import { lowerBound } from '../../../series/columns.ts'
import { instantFromUs } from '../../../time/instant.ts'
import type { ChunkRange } from '../../graph/chunk.ts'
import { type AlignedChunks, type AlignedStream, breaksOf, joinedChunk, within } from '../union.ts'

/**
 * Cuts aligned chunks anew, at raw points alone: what bends between two of these is then seen as a whole, wherever
 * pages end. Holds what was read after the last raw point, or before the first one of a range that is read backwards;
 * as long as more is wanted the last chunk, which mostly turns out to end at a raw point.
 * @param wanted so many raw points may be all that is wanted; infinite for a range that is read whole
 */
export async function* wholeSegments(
  union: AlignedStream,
  range: Pick<ChunkRange, 'from' | 'to' | 'order'>,
  wanted: number,
): AlignedStream {
  /** Read and not given yet, ascending; they join. */
  let held: readonly AlignedChunks[] = []
  let count = 0
  /** What lies before the last raw point of what is held; nothing where that begins with it. */
  const upToLastPoint = function* () {
    const last = held.at(-1)
    const cut = last?.times.at(-1)
    if (last === undefined || cut === undefined || cut <= held[0]!.from) return
    const given = joined(held.with(-1, part(last, last.from, cut)))
    held = [part(last, cut, last.to)]
    yield given
  }
  for await (const read of union) {
    if (range.order === 'desc') {
      const cut = read.from === range.from ? read.from : read.times[0]
      if (cut === undefined) held = [read, ...held]
      else {
        yield joined([part(read, cut, read.to), ...held])
        held = cut > read.from ? [part(read, read.from, cut)] : []
      }
      continue
    }
    // All that is held is given where it ends at a raw point, and no chunk is made of two then, which comparisons
    // inside each other would all look values up in. Where enough was read, it is given up to its last raw point
    // instead.
    if (held.length > 0 && read.times[0] === read.from) {
      yield joined(held)
      held = []
    } else {
      yield* upToLastPoint()
    }
    held = [...held, read]
    count += read.times.length
    if (read.to === range.to) yield joined(held)
    else if (count >= wanted) {
      yield* upToLastPoint()
    }
  }
}

function part(aligned: AlignedChunks, start: number, end: number): AlignedChunks {
  const { from, to, chunks, raws, times } = aligned
  if (start === from && end === to) return aligned
  return {
    from: instantFromUs(start),
    to: instantFromUs(end),
    chunks,
    raws: raws.map((raw) => within(raw, start, end)),
    times: times.subarray(lowerBound(times, start), lowerBound(times, end)),
    ...breaksOf([aligned], start, end),
  }
}

/** Aligned chunks that join, ascending, as one. @param all may hold empty ones */
function joined(all: readonly AlignedChunks[]): AlignedChunks {
  const parts = all.filter(({ from, to }) => from < to)
  const [first] = parts
  if (parts.length === 1) return first!
  const [from, to] = [first!.from, parts.at(-1)!.to]
  const chunks = first!.chunks.map((_, i) => {
    return joinedChunk(
      parts.map(({ from, to, chunks, raws }) => ({ ...chunks[i]!, from, to, raw: raws[i]! })),
    )
  })
  const times = new Float64Array(parts.reduce((count, part) => count + part.times.length, 0))
  let count = 0
  for (const part of parts) {
    times.set(part.times, count)
    count += part.times.length
  }
  return { from, to, chunks, raws: chunks.map(({ raw }) => raw), times, ...breaksOf(parts, from, to) }
}
