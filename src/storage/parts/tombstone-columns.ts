/**
 * Points of a tag in [from, to) are gone, as far as they came with a WAL record before `sequence`: those of a part
 * whose `lastSequence` is below it. Of a part that begins before it and ends at or after it they are gone already.
 */
export interface Tombstone {
  readonly tag: number
  /** Microseconds; infinite for all that the tag had. */
  readonly from: number
  readonly to: number
  readonly sequence: number
}

/** Tombstones in columns: as data that threads send to each other. */
export interface TombstoneColumns {
  readonly tags: Uint32Array
  readonly from: Float64Array
  readonly to: Float64Array
  readonly sequences: Float64Array
}

const DIGIT_BITS = 11
const DIGITS = 1 << DIGIT_BITS

/**
 * Collects tombstones in columns. As objects, those of some deletions of very many tags would fill the heap of a thread
 * that merges.
 */
export class TombstoneBuilder {
  length = 0
  #tags = new Uint32Array(16)
  #from = new Float64Array(16)
  #to = new Float64Array(16)
  #sequences = new Float64Array(16)

  add(tag: number, from: number, to: number, sequence: number): void {
    if (this.length === this.#tags.length) this.#grow()
    const place = this.length++
    this.#tags[place] = tag
    this.#from[place] = from
    this.#to[place] = to
    this.#sequences[place] = sequence
  }

  /** Bytes of memory that the columns take. */
  get bytes(): number {
    return this.#tags.byteLength + 3 * this.#from.byteLength
  }

  /** The one that came as the nth, from 0 on. */
  at(place: number): Tombstone {
    return {
      tag: this.#tags[place]!,
      from: this.#from[place]!,
      to: this.#to[place]!,
      sequence: this.#sequences[place]!,
    }
  }

  /** All of them, sorted by tag and then by sequence; equal ones as they came. Nothing is added any more. */
  sorted(): TombstoneColumns {
    const { length } = this
    const columns = {
      tags: this.#tags.subarray(0, length),
      from: this.#from.subarray(0, length),
      to: this.#to.subarray(0, length),
      sequences: this.#sequences.subarray(0, length),
    }
    return areInOrder(columns) ? columns : inOrder(columns)
  }

  #grow(): void {
    const capacity = 2 * this.length
    this.#tags = new Uint32Array(this.#tags.buffer.transfer(4 * capacity))
    this.#from = new Float64Array(this.#from.buffer.transfer(8 * capacity))
    this.#to = new Float64Array(this.#to.buffer.transfer(8 * capacity))
    this.#sequences = new Float64Array(this.#sequences.buffer.transfer(8 * capacity))
  }
}

/** Whether they are sorted by tag and then by sequence. */
export function areInOrder({ tags, sequences }: TombstoneColumns): boolean {
  for (let i = 1; i < tags.length; i++) {
    if (tags[i - 1]! > tags[i]! || (tags[i - 1] === tags[i] && sequences[i - 1]! > sequences[i]!))
      return false
  }
  return true
}

function inOrder({ tags, from, to, sequences }: TombstoneColumns): TombstoneColumns {
  const order = orderByTag(tags)
  for (let start = 0; start < order.length; ) {
    let end = start + 1
    let isSorted = true
    for (; end < order.length && tags[order[end]!] === tags[order[start]!]; end++) {
      if (sequences[order[end - 1]!]! > sequences[order[end]!]!) isSorted = false
    }
    if (!isSorted) order.subarray(start, end).sort((a, b) => sequences[a]! - sequences[b]! || a - b)
    start = end
  }
  const sorted = {
    tags: new Uint32Array(order.length),
    from: new Float64Array(order.length),
    to: new Float64Array(order.length),
    sequences: new Float64Array(order.length),
  }
  for (let i = 0; i < order.length; i++) {
    const place = order[i]!
    sorted.tags[i] = tags[place]!
    sorted.from[i] = from[place]!
    sorted.to[i] = to[place]!
    sorted.sequences[i] = sequences[place]!
  }
  return sorted
}

/** Places in ascending order of tags, equal ones as they are: radix sort, without a function that compares. */
function orderByTag(tags: Uint32Array): Uint32Array {
  let order = new Uint32Array(tags.length)
  let other = new Uint32Array(tags.length)
  let all = 0
  for (let i = 0; i < tags.length; i++) {
    order[i] = i
    all |= tags[i]!
  }
  for (let shift = 0; shift < 32 && all >>> shift !== 0; shift += DIGIT_BITS) {
    const starts = new Uint32Array(DIGITS + 1)
    for (let i = 0; i < tags.length; i++) starts[((tags[i]! >>> shift) & (DIGITS - 1)) + 1]!++
    for (let digit = 0; digit < DIGITS; digit++) starts[digit + 1]! += starts[digit]!
    for (let i = 0; i < order.length; i++) {
      const place = order[i]!
      other[starts[(tags[place]! >>> shift) & (DIGITS - 1)]!++] = place
    }
    ;[order, other] = [other, order]
  }
  return order
}
