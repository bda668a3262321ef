import type { Span } from '../blocks/spans.ts'

/**
 * What retention has removed of the tags of merged parts: of each tag all points before `good`, and those between it
 * and `newest`, at its times. Can be sent to another thread.
 *
 * What lies between the two is BAD. There a point of an older part that is not merged may be good, and be replaced by
 * one that the merge leaves out: a tombstone takes it away then, as otherwise it would be the last good one.
 */
export interface Expired {
  /** Ascending. */
  readonly tags: Uint32Array
  /** Of the point that is kept as the last good one, which may be the newest; -Infinity where none is good. */
  readonly good: Float64Array
  /** Of the point that is kept as the newest one. */
  readonly newest: Float64Array
}

/** Takes what has expired of tags that come in ascending order; its memory grows with them. */
export class ExpiredColumns {
  #tags = new Uint32Array(1_024)
  #good = new Float64Array(1_024)
  #newest = new Float64Array(1_024)
  #count = 0

  add(tag: number, good: number, newest: number): void {
    if (this.#count === this.#tags.length) this.#resize(2 * this.#count)
    this.#tags[this.#count] = tag
    this.#good[this.#count] = good
    this.#newest[this.#count] = newest
    this.#count++
  }

  /** Nothing is to be added afterwards. */
  take(): Expired {
    this.#resize(this.#count)
    return { tags: this.#tags, good: this.#good, newest: this.#newest }
  }

  #resize(length: number): void {
    const [tags, good, newest] = [this.#tags, this.#good, this.#newest]
    this.#tags = new Uint32Array(length)
    this.#good = new Float64Array(length)
    this.#newest = new Float64Array(length)
    this.#tags.set(tags.subarray(0, length))
    this.#good.set(good.subarray(0, length))
    this.#newest.set(newest.subarray(0, length))
  }
}

const NONE: readonly Span[] = []

/** Spans of tags that come in ascending order. */
export class ExpiredSpans {
  readonly #expired: Expired | null
  #at = 0

  constructor(expired: Expired | null) {
    this.#expired = expired
  }

  /** @param tag  not below the one that was asked about before */
  of(tag: number): readonly Span[] {
    if (!this.#seek(tag)) return NONE
    const between = this.between(tag)
    const good = this.#expired!.good[this.#at]!
    const before = { from: Number.NEGATIVE_INFINITY, to: good }
    if (between === null) return [before]
    return good === Number.NEGATIVE_INFINITY ? [between] : [before, between]
  }

  /** Of it what lies behind the last good point; `null` for nothing. */
  between(tag: number): Span | null {
    if (!this.#seek(tag)) return null
    const good = this.#expired!.good[this.#at]!
    const newest = this.#expired!.newest[this.#at]!
    return good + 1 >= newest ? null : { from: good + 1, to: newest }
  }

  /** Whether something of the tag has expired. */
  #seek(tag: number): boolean {
    if (this.#expired === null) return false
    const { tags } = this.#expired
    while (this.#at < tags.length && tags[this.#at]! < tag) this.#at++
    return tags[this.#at] === tag
  }
}
