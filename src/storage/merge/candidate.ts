import type { PartInfo } from '../parts/part.ts'
import { MOST_SMALL } from '../parts/small-run.ts'
import { cellOf, isOneMonth } from './cells.ts'
import type { MergeLimits, MergePlan } from './merge.ts'

/** About what a large run has beside its points: header of a block, its summary, and its entry in the index. */
const RUN_BYTES = 400

/** Of so many layers at most, in multiples of `fanIn`; parts of the same layer do not overlap. */
const MOST_FAN_INS = 4

/**
 * Of all that can be merged what costs least; `null` for nothing.
 * @param costOf  Infinity for what is not worth it
 */
export function cheapest(
  parts: readonly PartInfo[],
  limits: MergeLimits,
  excluded: ReadonlySet<string>,
  costOf: (candidate: Candidate) => number,
): MergePlan | null {
  const usable = parts.map(({ name, bytes }) => !excluded.has(name) && bytes < limits.largestBytes)
  const barriers = parts.filter(({ name, tombstones }) => excluded.has(name) && tombstones > 0)
  const cells = parts.map((part) => filledCell(part, limits))
  let best: { readonly cost: number; readonly members: readonly number[] } | null = null
  for (let start = 0; start < parts.length; start++) {
    if (!usable[start]) continue
    const candidate = new Candidate(parts, usable, cells, barriers, limits, start)
    for (let next = start + 1; next < parts.length; next++) {
      const step = candidate.step(next)
      if (step === 'stop') break
      if (step === 'left') continue
      const cost = costOf(candidate)
      if (cost < (best?.cost ?? Number.POSITIVE_INFINITY)) best = { cost, members: candidate.members.slice() }
    }
  }
  if (best === null) return null
  return { inputs: best.members.toSorted((a, b) => a - b).map((index) => parts[index]!) }
}

/** What a candidate covers. */
interface Extent {
  readonly count: number
  readonly firstTime: number
  readonly lastTime: number
  readonly firstSequence: number
  readonly lastSequence: number
  /** The lowest `lastSequence` of a member: tombstones with higher numbers cover points of it. */
  readonly lowestLast: number
  readonly bytes: number
  /** The cell whose parts are too large to be merged with those beside it; `null` while there is none. */
  readonly cell: string | null
}

/** Parts from one on, in the order of their sequence numbers. What it holds can be merged. */
export class Candidate {
  /** Indexes. */
  readonly members: number[] = []
  readonly #isMember: Uint8Array
  /** Bytes of each layer by its last sequence number. */
  readonly #layers = new Map<number, number>()
  readonly #parts: readonly PartInfo[]
  readonly #usable: readonly boolean[]
  /** The cell that each part fills. */
  readonly #cells: readonly (string | null)[]
  /** Parts whose tombstones a merge may not know. */
  readonly #barriers: readonly PartInfo[]
  readonly #limits: MergeLimits
  #extent: Extent = {
    count: 0,
    firstTime: Number.POSITIVE_INFINITY,
    lastTime: Number.NEGATIVE_INFINITY,
    firstSequence: Number.POSITIVE_INFINITY,
    lastSequence: Number.NEGATIVE_INFINITY,
    lowestLast: Number.POSITIVE_INFINITY,
    bytes: 0,
    cell: null,
  }

  constructor(
    parts: readonly PartInfo[],
    usable: readonly boolean[],
    cells: readonly (string | null)[],
    barriers: readonly PartInfo[],
    limits: MergeLimits,
    start: number,
  ) {
    this.#parts = parts
    this.#usable = usable
    this.#cells = cells
    this.#barriers = barriers
    this.#limits = limits
    this.#isMember = new Uint8Array(parts.length)
    this.#add(start)
  }

  get bytes(): number {
    return this.#extent.bytes
  }

  /** Bytes of each layer by its last sequence number: what came out of the same merge. */
  layers(): ReadonlyMap<number, number> {
    return this.#layers
  }

  /**
   * Bytes of all layers but the largest, as far as they lie within its times; taken as spread evenly over their own.
   */
  overlappingBytes(): number {
    const layers = this.layers()
    let largest = -1
    for (const [layer, bytes] of layers) if (bytes > (layers.get(largest) ?? 0)) largest = layer
    const members = this.members.map((index) => this.#parts[index]!).filter(({ points }) => points > 0)
    const base = members.filter(({ lastSequence }) => lastSequence === largest)
    let sum = 0
    for (const { lastSequence, firstTime, lastTime, bytes } of members) {
      if (lastSequence === largest) continue
      let common = 0
      for (const other of base) {
        common += Math.max(0, Math.min(lastTime, other.lastTime) - Math.max(firstTime, other.firstTime) + 1)
      }
      sum += (bytes * common) / (lastTime - firstTime + 1)
    }
    return sum
  }

  /** Whether merging makes one part, whatever its tags. */
  get isOneOutput(): boolean {
    const { bytes, firstTime, lastTime } = this.#extent
    return bytes <= this.#limits.partitionBytes || isOneMonth(firstTime, lastTime)
  }

  /**
   * About the bytes around the points of large runs in all parts but the one that has most of them: merged, they are
   * there once. Small runs have next to none.
   */
  runBytes(): number {
    let sum = 0
    let most = 0
    for (const index of this.members) {
      const { tags, points } = this.#parts[index]!
      const runs = points > MOST_SMALL * tags ? tags : 0
      sum += runs
      most = Math.max(most, runs)
    }
    return RUN_BYTES * (sum - most)
  }

  /** Takes the next part in order, leaves it out, or finds that nothing after it may be taken. */
  step(index: number): 'taken' | 'left' | 'stop' {
    if (this.#isMember[index] === 1) return 'left'
    if (this.#layers.size >= MOST_FAN_INS * this.#limits.fanIn) return 'stop'
    const part = this.#parts[index]!
    const overlaps = this.#overlaps(part)
    if (this.#usable[index] && (overlaps || this.#belongs(index)) && this.#take(index)) return 'taken'
    return overlaps ? 'stop' : 'left'
  }

  /** Takes a part and all that then lies between; takes nothing where that cannot be. */
  #take(index: number): boolean {
    const before = this.#extent
    for (let next = index; next >= 0; next = this.#between()) {
      if (this.#usable[next] && this.#add(next)) continue
      this.#extent = before
      this.#drop(before.count)
      return false
    }
    return true
  }

  /** Leaves the members out that came last, all but so many. */
  #drop(count: number): void {
    for (const index of this.members.splice(count)) this.#isMember[index] = 0
    this.#layers.clear()
    for (const index of this.members) this.#addToLayer(this.#parts[index]!)
  }

  #addToLayer({ lastSequence, bytes }: PartInfo): void {
    this.#layers.set(lastSequence, (this.#layers.get(lastSequence) ?? 0) + bytes)
  }

  #add(index: number): boolean {
    const part = this.#parts[index]!
    const { count, firstTime, lastTime, firstSequence, lastSequence, lowestLast, bytes, cell } = this.#extent
    this.members.push(index)
    this.#isMember[index] = 1
    this.#addToLayer(part)
    this.#extent = {
      count: count + 1,
      // Infinite times of a part without points change nothing.
      firstTime: Math.min(firstTime, part.firstTime),
      lastTime: Math.max(lastTime, part.lastTime),
      firstSequence: Math.min(firstSequence, part.firstSequence),
      lastSequence: Math.max(lastSequence, part.lastSequence),
      lowestLast: Math.min(lowestLast, part.lastSequence),
      bytes: bytes + part.bytes,
      cell: cell ?? this.#cells[index]!,
    }
    return this.#extent.bytes <= this.#limits.largestBytes && !this.#isAcrossBarrier
  }

  /**
   * Whether a tombstone of a part that is left alone may have a number between those of members. The points of the
   * older ones would be out of its reach when they are in a part with the newer ones, and come back.
   */
  get #isAcrossBarrier(): boolean {
    const { lowestLast, lastSequence } = this.#extent
    return this.#barriers.some(
      (part) => Math.max(part.firstSequence, lowestLast + 1) <= Math.min(part.lastSequence, lastSequence),
    )
  }

  /** A part that overlaps the members' times and has numbers among theirs; -1 without one. */
  #between(): number {
    const { firstSequence, lastSequence } = this.#extent
    return this.#parts.findIndex(
      (part, index) =>
        part.lastSequence >= firstSequence &&
        part.firstSequence <= lastSequence &&
        this.#overlaps(part) &&
        this.#isMember[index] === 0,
    )
  }

  #overlaps({ points, firstTime, lastTime }: PartInfo): boolean {
    return points > 0 && firstTime <= this.#extent.lastTime && lastTime >= this.#extent.firstTime
  }

  /** Whether a part that overlaps nothing of this would stay together with it. */
  #belongs(index: number): boolean {
    const part = this.#parts[index]!
    const { firstTime, lastTime, cell: own } = this.#extent
    const hasPoints = part.points > 0 && firstTime <= lastTime
    const cell = this.#cells[index]!
    if (!hasPoints || (cell === null && own === null)) return true
    if (cell !== null && own !== null && cell !== own) return false
    const both = cellOf(Math.min(part.firstTime, firstTime), Math.max(part.lastTime, lastTime))
    return (cell ?? both) === both && (own ?? both) === both
  }
}

/** The cell that a part fills: that of all its points, when there is enough of them to be cut out. */
function filledCell(
  { points, bytes, firstTime, lastTime }: PartInfo,
  { partitionBytes }: MergeLimits,
): string | null {
  return points === 0 || bytes <= partitionBytes ? null : cellOf(firstTime, lastTime)
}
