import type { Span } from '../blocks/spans.ts'

/**
 * What retention has removed of the tags of merged parts: of each tag all points before `good`, and those between it
 * and `newest`, at its times. Can be sent to another thread.
 */
export interface Expired {
  /** Ascending. */
  readonly tags: Uint32Array
  /** Of the point that is kept as the last good one; that of the newest where it is good, or none is. */
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
    if (this.#expired === null) return NONE
    const { tags, good, newest } = this.#expired
    while (this.#at < tags.length && tags[this.#at]! < tag) this.#at++
    if (tags[this.#at] !== tag) return NONE
    const first = good[this.#at]!
    const last = newest[this.#at]!
    const before = { from: Number.NEGATIVE_INFINITY, to: first }
    return first === last ? [before] : [before, { from: first + 1, to: last }]
  }
}
