import type { MergePlan } from '../merge/merge.ts'

/** What merges that are due find no room for. */
export class NoRoomToMerge extends Error {
  readonly code = 'NO_ROOM_TO_MERGE'

  constructor(needed: number, room: number) {
    super(`a merge takes up to ${Math.ceil(needed)} bytes of disk, and ${Math.max(0, room)} may be written`)
    this.name = 'NoRoomToMerge'
  }
}

/**
 * Chooses merges that the disk has room for: until its end a merge takes as much as its inputs, and one that fills the
 * disk fails all writes meanwhile, and then itself.
 */
export class MergeRoom {
  readonly #bytes: () => number
  readonly #makeRoom: () => Promise<boolean>
  #lacking: { readonly error: NoRoomToMerge; readonly isIdle: boolean } | null = null

  /**
   * @param bytes     that may be written, with the reserve. What it throws is as much as there is
   * @param makeRoom  waits for what is being removed; whether there was any
   */
  constructor(bytes: () => number, makeRoom: () => Promise<boolean>) {
    this.#bytes = bytes
    this.#makeRoom = makeRoom
  }

  /** What is due and was not chosen for want of room, in the last look at what is due; `null` for nothing. */
  get lacking(): NoRoomToMerge | null {
    return this.#lacking?.error ?? null
  }

  /**
   * The first plan that there is room for; `null` where there is none. Without the largest part of one that there is no
   * room for others are found, which take less.
   * @param plan    gives what to merge of all parts but some
   * @param isIdle  whether it is what a rest merges, too: else it is not known whether that has room now
   */
  async choose(
    plan: (without: ReadonlySet<string>) => MergePlan | null,
    excluded: ReadonlySet<string>,
    isIdle: boolean,
  ): Promise<MergePlan | null> {
    if (isIdle || this.#lacking?.isIdle === false) this.#lacking = null
    const without = new Set(excluded)
    for (;;) {
      const chosen = plan(without)
      if (chosen === null) return null
      const needed = chosen.inputs.reduce((sum, { bytes }) => sum + bytes, 0)
      const room = this.#room()
      if (needed <= room) return chosen
      if (await this.#makeRoom()) continue
      this.#lacking ??= { error: new NoRoomToMerge(needed, room), isIdle }
      without.add(chosen.inputs.reduce((a, b) => (b.bytes > a.bytes ? b : a)).name)
    }
  }

  /**
   * Whether there is room for a merge of a part by itself, which then takes less.
   * @param bytes  that the part has about when the merge has ended
   */
  fits(bytes: number): boolean {
    const room = this.#room()
    if (bytes <= room) return true
    this.#lacking ??= { error: new NoRoomToMerge(bytes, room), isIdle: true }
    return false
  }

  #room(): number {
    try {
      return this.#bytes()
    } catch {
      return Number.POSITIVE_INFINITY
    }
  }
}
