import type { EngineState } from './engine-state.ts'
import type { LayeredBlocks } from './layered-blocks.ts'
import type { LivePart, PartSet } from './part-set.ts'
import { blocksOf, type TagMemory } from './tag-sources.ts'

/**
 * What is stored of a tag at one moment, in the newest parts and in memory, whatever becomes of both while others are
 * let in: a flush moves points and tombstones from memory to a part that earlier parts have beside them. For what looks
 * at all tags, one after the other: to take all that is in memory at once, or to hold it, costs too much.
 * Must be made where `catchingUp` of the state gives nothing to wait for, and ended with `release`.
 */
export class TagNow {
  readonly #state: EngineState
  readonly #tag: number
  readonly #set: PartSet
  readonly #memory: Pick<TagMemory, 'layers' | 'tombstones'>

  constructor(state: EngineState, tag: number) {
    const { parts, memtable } = state
    this.#state = state
    this.#tag = tag
    this.#set = parts.current
    this.#memory = { layers: memtable.layers(tag), tombstones: memtable.tombstones(tag) }
    parts.hold(this.#set)
  }

  /** Whether it has points in memory, or in one of the parts that are asked for. */
  isIn(isAsked: (part: LivePart) => boolean): boolean {
    if (this.#memory.layers.length > 0) return true
    return this.#set.parts.some((live) => live.part?.has(this.#tag) === true && isAsked(live))
  }

  blocks(watermark: number): LayeredBlocks {
    return blocksOf(this.#tag, this.#set, { ...this.#memory, watermark })
  }

  release(): void {
    this.#state.parts.release(this.#set)
  }
}

const IDS_AT_ONCE = 256

/** Ids of all tags, ascending, as far as they are there when they are come to. */
export function* idsNow(state: EngineState): Generator<number, void> {
  const ids: number[] = []
  for (let from = 1, last = 0; from > last; ) {
    last = from
    from = state.catalog.entries.each(from, IDS_AT_ONCE, (id) => ids.push(id))
    yield* ids.splice(0)
  }
}
