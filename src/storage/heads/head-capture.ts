import type { PointColumns } from '../../series/columns.ts'
import type { Snapshot } from '../snapshot.ts'
import type { Heads } from './heads.ts'

/**
 * The points in memory as they were when a read began. A read that goes on for several turns of the event loop holds on to the
 * blocks of its state, and before it lets others in for the first time it takes what it needs from memory, too.
 */
export class HeadCapture {
  readonly #heads: Heads
  #captured: Map<number, PointColumns | null> | null = null

  /** @param tags  gives all tags that the read may ask for; called at most once */
  constructor(heads: Heads, snapshot: Snapshot, tags: () => Iterable<number>) {
    this.#heads = heads
    snapshot.beforeRest = () => {
      const captured = new Map<number, PointColumns | null>()
      for (const tag of tags()) captured.set(tag, heads.columns(tag))
      this.#captured = captured
    }
  }

  /** The points in memory of a tag; `null` without any. */
  columns(tag: number): PointColumns | null {
    return this.#captured === null ? this.#heads.columns(tag) : (this.#captured.get(tag) ?? null)
  }
}
