import { Damage } from './damage.ts'
import { HeadCapture } from './heads/head-capture.ts'
import type { HistorianParts } from './historian-parts.ts'
import { countPoints } from './point-reads.ts'
import type { Snapshot } from './snapshot.ts'
import { type BlockAccess, StoredBlocks, TagBlocks } from './tag-blocks.ts'

/** The points of the journal that stand in no block, in the state of a read. To be made before the read lets others in. */
export class BesideBlocks {
  readonly #access: BlockAccess
  readonly #snapshot: Snapshot
  readonly #tags: readonly number[]
  readonly #heads: HeadCapture

  constructor({ access, heads }: HistorianParts, snapshot: Snapshot) {
    this.#access = access
    this.#snapshot = snapshot
    this.#tags = [...heads.foldingTags.union(heads.activeTags)]
    this.#heads = new HeadCapture(heads, snapshot, () => this.#tags)
  }

  async count(): Promise<number> {
    let points = 0
    for (const tag of this.#tags) points += await this.#countOf(tag)
    return points
  }

  /** 0 when the blocks of the tag cannot be read, which the check of the blocks says. */
  async #countOf(tag: number): Promise<number> {
    const stored = () => new StoredBlocks(this.#access, this.#snapshot, tag)
    try {
      const all = await this.#countAll(new TagBlocks(stored(), this.#heads.columns(tag)))
      return all - (await this.#countAll(new TagBlocks(stored(), null)))
    } catch (error) {
      if (error instanceof Damage) return 0
      throw error
    }
  }

  #countAll(blocks: TagBlocks): Promise<number> {
    const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER, POSITIVE_INFINITY } = Number
    return countPoints(blocks, MIN_SAFE_INTEGER, MAX_SAFE_INTEGER, POSITIVE_INFINITY, this.#snapshot)
  }
}
