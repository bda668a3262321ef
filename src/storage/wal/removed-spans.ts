/** A span of points that a request removed: [from, to) of a tag, in microseconds; infinite for all that it had. */
export interface RemovedSpan {
  readonly tag: number
  readonly from: number
  readonly to: number
}

/**
 * Spans in columns, in an order of their own. One request may remove points of very many tags: an object for each would
 * keep the garbage collector busy for longer than all else of it.
 */
export class RemovedSpans implements Iterable<RemovedSpan> {
  static readonly none = new RemovedSpans(new Uint32Array(0), new Float64Array(0), new Float64Array(0))
  readonly tags: Uint32Array
  readonly from: Float64Array
  readonly to: Float64Array

  /** @param tags, from, to  of the same length; not to be changed any more */
  constructor(tags: Uint32Array, from: Float64Array, to: Float64Array) {
    this.tags = tags
    this.from = from
    this.to = to
  }

  static of(spans: Iterable<RemovedSpan>): RemovedSpans {
    const builder = new RemovedSpansBuilder()
    for (const { tag, from, to } of spans) builder.add(tag, from, to)
    return builder.take()
  }

  get length(): number {
    return this.tags.length
  }

  *[Symbol.iterator](): Generator<RemovedSpan, void> {
    for (const [index, tag] of this.tags.entries()) {
      yield { tag, from: this.from[index]!, to: this.to[index]! }
    }
  }
}

/** Collects spans in the order in which they come. */
export class RemovedSpansBuilder {
  length = 0
  #tags = new Uint32Array(8)
  #from = new Float64Array(8)
  #to = new Float64Array(8)

  add(tag: number, from: number, to: number): void {
    if (this.length === this.#tags.length) this.#grow()
    const place = this.length++
    this.#tags[place] = tag
    this.#from[place] = from
    this.#to[place] = to
  }

  /** All of them; nothing is added any more. */
  take(): RemovedSpans {
    const { length } = this
    if (length === 0) return RemovedSpans.none
    return new RemovedSpans(
      this.#tags.subarray(0, length),
      this.#from.subarray(0, length),
      this.#to.subarray(0, length),
    )
  }

  #grow(): void {
    const capacity = 2 * this.length
    this.#tags = new Uint32Array(this.#tags.buffer.transfer(4 * capacity))
    this.#from = new Float64Array(this.#from.buffer.transfer(8 * capacity))
    this.#to = new Float64Array(this.#to.buffer.transfer(8 * capacity))
  }
}
