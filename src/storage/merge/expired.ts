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
