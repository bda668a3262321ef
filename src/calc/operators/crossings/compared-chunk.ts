import { type PointColumns, STATUS_BAD, STATUS_OK } from '../../../series/columns.ts'
import type { Instant } from '../../../time/instant.ts'
import type { Chunk, Limit } from '../../graph/chunk.ts'
import type { Evaluation } from '../../graph/evaluation.ts'
import { contentKey } from '../../graph/need.ts'
import type { Traits } from '../../graph/operator.ts'
import { alignRaw } from '../map/map.ts'
import { type AlignedChunks, breaksOf } from '../union.ts'
import { answer, type Comparison } from './comparison.ts'
import { answeredSegments, findChanges, isEarly, type Pair, type PairSegments } from './find-changes.ts'

/** Both values at one instant of aligned chunks. */
export function pairAt({ chunks }: AlignedChunks, time: number): Pair {
  const times = Float64Array.of(time)
  return { a: chunks[0]!.valuesAt(times, 'at'), b: chunks[1]!.valuesAt(times, 'at') }
}

/**
 * The answers to a comparison of two inputs over aligned chunks.
 * @param before both values one microsecond before the chunk; `null` where that does not matter
 * @param traits of the comparison: the segments of the inputs are cut where holds end, and linear ones cross only once
 *               in each
 */
export async function comparedChunk(
  comparison: Comparison,
  aligned: AlignedChunks,
  before: Pair | null,
  traits: Pick<Traits, 'extrapolationLimits' | 'linear'>,
  evaluation: Evaluation,
): Promise<Chunk> {
  const { extrapolationLimits, linear } = traits
  evaluation.charge(aligned.times.length)
  const compared = new ComparedChunk(comparison, aligned, before ?? NO_VALUES, evaluation)
  const { from, to } = aligned
  const raw = await compared.withCrossings(extrapolationLimits, linear)
  const valuesAt: Chunk['valuesAt'] = (times, limit) => compared.valuesAt(times, limit)
  return { from, to, raw, isTrueToRaw: true, valuesAt, ...breaksOf([aligned], from, to) }
}

const NO_VALUES: Pair = { a: Float64Array.of(Number.NaN), b: Float64Array.of(Number.NaN) }

/** Columns that a chunk caches: comparisons of comparisons read the same times many times over. */
const KEPT_COLUMNS = 6

class ComparedChunk {
  readonly #from: Instant
  readonly #to: Instant
  /** Without crossings. */
  readonly #raw: PointColumns
  readonly #comparison: Comparison
  readonly #aligned: AlignedChunks
  readonly #before: Pair
  readonly #evaluation: Evaluation
  readonly #kept = new Map<string, Float64Array>()

  constructor(comparison: Comparison, aligned: AlignedChunks, before: Pair, evaluation: Evaluation) {
    this.#from = aligned.from
    this.#to = aligned.to
    this.#comparison = comparison
    this.#aligned = aligned
    this.#before = before
    this.#evaluation = evaluation
    this.#raw = this.#rawPoints()
  }

  valuesAt(times: Float64Array, limit: Limit): Float64Array {
    const key = `${limit} ${contentKey(times)}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    this.#evaluation.charge(times.length)
    const values = this.#valuesAt(times, limit)
    if (this.#kept.size >= KEPT_COLUMNS) this.#kept.delete(this.#kept.keys().next().value!)
    this.#kept.set(key, values)
    return values
  }

  /** Raw points, also where the answer has changed, and one microsecond before where it changes right after that. */
  async withCrossings(extrapolationLimits: readonly Instant[], linear: boolean): Promise<PointColumns> {
    const [from, to, raw] = [this.#from, this.#to, this.#raw]
    const read = this.#read.bind(this)
    const all = this.#segments(extrapolationLimits)
    await this.#evaluation.pause()
    const segments = linear ? all : await answeredSegments(this.#comparison, all, read, this.#evaluation)
    const changes = await findChanges(this.#comparison, segments, read, this.#evaluation)
    const inside = Float64Array.from(changes).subarray(changes[0] === from ? 1 : 0)
    const first = this.#read(
      inside.map((time) => time - 1),
      'at',
    )
    const last = this.#read(inside, 'before')
    const wanted = new Float64Array(2 * changes.length)
    let count = 0
    let next = 0
    const want = (time: number): void => {
      while (next < raw.times.length && raw.times[next]! < time) next++
      if (raw.times[next] !== time && time !== wanted[count - 1] && time < to) wanted[count++] = time
    }
    if (inside.length < changes.length) want(from)
    for (let i = 0; i < inside.length; i++) {
      const early = isEarly(this.#comparison, first.a[i]!, first.b[i]!, last.a[i]!, last.b[i]!)
      if (early) want(inside[i]! - 1)
      want(inside[i]!)
    }
    if (count === 0) return raw
    const times = wanted.subarray(0, count)
    return merge(raw, times, this.#answers(this.#read(times, 'at')))
  }

  #valuesAt(times: Float64Array, limit: Limit): Float64Array {
    switch (limit) {
      case 'at':
        return this.#answers(this.#read(times, 'at'))
      case 'before':
        return this.#limitsBefore(times)
      case 'after':
        return this.#limitsAfter(times)
    }
  }

  #read(times: Float64Array, limit: 'at' | 'before'): Pair {
    const [a, b] = this.#aligned.chunks
    return { a: a!.valuesAt(times, limit), b: b!.valuesAt(times, limit) }
  }

  #answers({ a, b }: Pair): Float64Array {
    return a.map((value, i) => answer(this.#comparison, value, b[i]!))
  }

  #rawPoints(): PointColumns {
    const { raws, times, chunks } = this.#aligned
    const [a, b] = raws.map((raw, i) => alignRaw(raw, times, chunks[i]!))
    const values = this.#answers({ a: a!.values, b: b!.values })
    const statuses = Uint8Array.from(values, (value, i) =>
      Number.isNaN(value) || a!.isBad[i] === 1 || b!.isBad[i] === 1 ? STATUS_BAD : STATUS_OK,
    )
    return { times, values, statuses }
  }

  /** From each raw point to the next, cut where holds may end; and the microsecond before the chunk. */
  #segments(extrapolationLimits: readonly Instant[]): PairSegments {
    const vertices = this.#vertices(extrapolationLimits)
    const at = this.#read(vertices, 'at')
    const last = this.#read(vertices, 'before')
    const { a, b } = this.#before
    const first = { a: behind(a[0]!, at.a), b: behind(b[0]!, at.b) }
    return { starts: behind(this.#from - 1, vertices), ends: vertices, first, last }
  }

  #vertices(extrapolationLimits: readonly Instant[]): Float64Array {
    const [from, to, raw] = [this.#from, this.#to, this.#raw]
    const { breaks = [] } = this.#aligned
    const inside = [...extrapolationLimits, ...breaks].filter((end) => from < end && end < to)
    if (inside.length > 0) return Float64Array.from(new Set([from, ...raw.times, ...inside, to])).sort()
    const opens = raw.times[0] !== from
    const vertices = new Float64Array(raw.times.length + (opens ? 2 : 1))
    vertices.set(raw.times, opens ? 1 : 0)
    vertices[0] = from
    vertices[vertices.length - 1] = to
    return vertices
  }

  #limitsBefore(times: Float64Array): Float64Array {
    const from = this.#from
    const last = this.#read(times, 'before')
    const first = this.#read(
      times.map((time) => Math.max(time - 1, from)),
      'at',
    )
    const { a, b } = this.#before
    return times.map((time, i) => {
      const [lastA, lastB] = [last.a[i]!, last.b[i]!]
      const limit = answer(this.#comparison, lastA, lastB)
      const firstA = time > from ? first.a[i]! : a[0]!
      const firstB = time > from ? first.b[i]! : b[0]!
      const earlier = answer(this.#comparison, firstA, firstB)
      if (limit === earlier || Number.isNaN(limit) || Number.isNaN(earlier)) return limit
      return isEarly(this.#comparison, firstA, firstB, lastA, lastB) ? limit : earlier
    })
  }

  #limitsAfter(times: Float64Array): Float64Array {
    const to = this.#to
    const first = this.#read(times, 'at')
    const last = this.#read(
      times.map((time) => Math.min(time + 1, to)),
      'before',
    )
    return times.map((time, i) => {
      const [a, b, nextA, nextB] = [first.a[i]!, first.b[i]!, last.a[i]!, last.b[i]!]
      const own = answer(this.#comparison, a, b)
      const next = answer(this.#comparison, nextA, nextB)
      if (time < to && Number.isNaN(next)) return Number.NaN
      if (time >= to || Number.isNaN(own) || own === next) return own
      return isEarly(this.#comparison, a, b, nextA, nextB) ? next : own
    })
  }
}

/** A value, then all of some others but the last. */
function behind(first: number, others: Float64Array): Float64Array {
  const values = new Float64Array(others.length)
  values[0] = first
  values.set(others.subarray(0, -1), 1)
  return values
}

/** Raw points with good ones at times that they do not have. */
function merge(raw: PointColumns, times: Float64Array, values: Float64Array): PointColumns {
  const length = raw.times.length + times.length
  const merged = {
    times: new Float64Array(length),
    values: new Float64Array(length),
    statuses: new Uint8Array(length),
  }
  let own = 0
  let extra = 0
  for (let i = 0; i < length; i++) {
    const isExtra = own === raw.times.length || times[extra]! < raw.times[own]!
    const [from, index] = isExtra ? [{ times, values }, extra++] : [raw, own++]
    merged.times[i] = from.times[index]!
    merged.values[i] = from.values[index]!
    if (!isExtra) merged.statuses[i] = raw.statuses[index]!
  }
  return merged
}
