import type { TagMetadata } from '../../historian/contract.ts'

/** Tags that are remembered at most; the oldest are forgotten first. */
const MOST_TAGS = 100_000

/**
 * Tags that were found a short while ago: without them each call would ask twice, once whether its tags are there and
 * once for their points. Tags that are missing are not remembered, so that a new one is there at once.
 */
export class TagMemory {
  readonly #lifeMs: number
  readonly #tags = new Map<string, { readonly metadata: TagMetadata; readonly until: number }>()
  /** Counts what was forgotten: an answer that was asked for before then may be of the past. */
  #forgotten = 0

  /** @param seconds how long a tag is remembered; 0 for never */
  constructor(seconds: number) {
    this.#lifeMs = seconds * 1_000
  }

  get(name: string): TagMetadata | null {
    const found = this.#tags.get(name)
    if (found === undefined) return null
    if (performance.now() < found.until) return found.metadata
    this.#tags.delete(name)
    return null
  }

  /** To be called before tags are asked for; what it gives takes their answer, unless it came too late. */
  asking(): (name: string, metadata: TagMetadata) => void {
    const before = this.#forgotten
    const until = performance.now() + this.#lifeMs
    return (name, metadata) => {
      if (this.#lifeMs === 0 || this.#forgotten !== before) return
      this.#tags.delete(name)
      this.#tags.set(name, { metadata, until })
      if (this.#tags.size > MOST_TAGS) this.#tags.delete(this.#tags.keys().next().value!)
    }
  }

  /** Forgets all tags: something about them was changed. */
  forget(): void {
    this.#forgotten++
    this.#tags.clear()
  }
}
