import { lowerBound } from '../../../series/columns.ts'
import { instantFromUs } from '../../../time/instant.ts'
import type { ChunkRange } from '../../graph/chunk.ts'
import { type AlignedChunks, type AlignedStream, breaksOf, joinedChunk, within } from '../union.ts'

/**
 * Cuts aligned chunks anew, at raw points alone: what bends between two of these is then seen as a whole, wherever
 * pages end. Holds what was read after the last raw point, or before the first one of a range that is read backwards.
 */
export async function* wholeSegments(
  union: AlignedStream,
  range: Pick<ChunkRange, 'from' | 'to' | 'order'>,
): AlignedStream {
  const isAscending = range.order === 'asc'
  /** Read and not given yet, ascending; they join. */
  let held: readonly AlignedChunks[] = []
  for await (const read of union) {
    const { from, to, times } = read
    const isLast = isAscending ? to === range.to : from === range.from
    const cut = isLast ? (isAscending ? to : from) : isAscending ? times.at(-1) : times[0]
    if (cut === undefined) held = isAscending ? [...held, read] : [read, ...held]
    else {
      const [early, late] = [part(read, from, cut), part(read, cut, to)]
      const given = isAscending ? [...held, early] : [late, ...held]
      if (given.some(({ from, to }) => from < to)) yield joined(given)
      held = [isAscending ? late : early]
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
