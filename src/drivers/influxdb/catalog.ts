import type { CallContext, TagEntry, TagMetadata, TagPage, TagQuery } from '../../historian/contract.ts'
import { CooperativeScheduler } from '../../scheduling/cooperative-scheduler.ts'
import { compareNames } from '../../series/tag-names.ts'

/** Names that are checked before the event loop is checked for other work. */
const NAMES_AT_ONCE = 256

type Load = (take: (name: string, metadata: TagMetadata) => void, context: CallContext) => Promise<void>

/**
 * All tags in memory, for searches: InfluxDB can neither order by name nor match as the interface does. It is read
 * again when it is too old; changes made through this process are in it at once.
 */
export class Catalog {
  readonly #load: Load
  readonly #maxAgeMs: number
  #tags = new Map<string, TagMetadata>()
  #sorted: string[] | null = null
  #loadedAt = Number.NEGATIVE_INFINITY
  #loading: Promise<void> | null = null
  /** Changes since a reading began, which may or may not have seen them; `null` when none is under way. */
  #changes: (() => void)[] | null = null

  constructor(load: Load, maxAgeSeconds: number) {
    this.#load = load
    this.#maxAgeMs = maxAgeSeconds * 1_000
  }

  /** A page of the tags; see Historian.searchTags. */
  async search({ pattern, after, limit }: TagQuery, context: CallContext): Promise<TagPage> {
    await this.#refresh(context)
    const tags = this.#tags
    this.#sorted ??= [...tags.keys()].sort(compareNames)
    const names = this.#sorted
    const found: TagEntry[] = []
    const scheduler = new CooperativeScheduler(context.signal)
    for (let at = after === null ? 0 : placeAfter(names, after); at < names.length; at++) {
      if (at % NAMES_AT_ONCE === 0) await scheduler.yieldIfDue()
      const name = names[at]!
      const metadata = tags.get(name)
      if (metadata === undefined || pattern?.matches(name, metadata.description) === false) continue
      if (found.length === limit) return { tags: found, more: true }
      found.push({ name, metadata })
    }
    return { tags: found, more: false }
  }

  /**
   * A tag was made or changed. @param change what it is now of what it was, `null` for a new one; may be called again
   */
  update(name: string, change: (before: TagMetadata | null) => TagMetadata): void {
    this.#change(() => {
      const before = this.#tags.get(name) ?? null
      if (before === null) this.#sorted = null
      this.#tags.set(name, change(before))
    })
  }

  /** A tag was removed. */
  remove(name: string): void {
    this.#change(() => {
      if (this.#tags.delete(name)) this.#sorted = null
    })
  }

  #change(change: () => void): void {
    this.#changes?.push(change)
    change()
  }

  async #refresh(context: CallContext): Promise<void> {
    context.signal.throwIfAborted()
    while (performance.now() - this.#loadedAt > this.#maxAgeMs) {
      if (this.#loading === null) {
        const loading = this.#reload(context)
        this.#loading = loading
        loading
          .catch(() => {})
          .finally(() => {
            this.#loading = null
          })
        await loading
        return
      }
      // Another call's reading; when that call ends early, this one reads itself.
      await this.#loading.catch(() => {})
      context.signal.throwIfAborted()
    }
  }

  async #reload(context: CallContext): Promise<void> {
    this.#changes = []
    const began = performance.now()
    const tags = new Map<string, TagMetadata>()
    try {
      await this.#load((name, metadata) => tags.set(name, metadata), context)
      this.#tags = tags
      this.#sorted = null
      for (const change of this.#changes) change()
      this.#loadedAt = began
    } finally {
      this.#changes = null
    }
  }
}

/** Index of the first name behind another. */
function placeAfter(names: readonly string[], after: string): number {
  let low = 0
  let high = names.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareNames(names[middle]!, after) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
