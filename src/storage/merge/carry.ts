import { Damage } from '../damage.ts'
import { systemCode } from '../files/files.ts'
import type { Part, PartInfo, Tombstone } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'

/** A tombstone is compared with so many newer ones of its tag. */
const COMPARED = 16

/**
 * The tombstones of merged parts that are needed still: those under which some other, older part may have points. Of
 * those that a newer one covers, most go too.
 */
export function neededTombstones(
  tombstones: readonly Tombstone[],
  others: readonly PartInfo[],
  store: PartStore,
): readonly Tombstone[] {
  const older = new OlderParts(others, store)
  const needed = tombstones.filter((tombstone) => older.mayHave(tombstone))
  older.close()
  return withoutCovered(needed)
}

/** Parts whose sets of tags are asked; opened when they are needed. */
class OlderParts {
  readonly #others: readonly PartInfo[]
  readonly #store: PartStore
  /** `null` for one that cannot be read. */
  readonly #open = new Map<PartInfo, Part | null>()

  constructor(others: readonly PartInfo[], store: PartStore) {
    this.#others = others.filter(({ points }) => points > 0)
    this.#store = store
  }

  mayHave({ tag, from, to, sequence }: Tombstone): boolean {
    return this.#others.some((info) => {
      if (info.lastSequence >= sequence || info.firstTime >= to || info.lastTime < from) return false
      const part = this.#part(info)
      return part === null || part.has(tag)
    })
  }

  #part(info: PartInfo): Part | null {
    const known = this.#open.get(info)
    if (known !== undefined) return known
    const part = this.#openPart(info)
    this.#open.set(info, part)
    return part
  }

  /** What cannot be read may have points of any tag. */
  #openPart(info: PartInfo): Part | null {
    try {
      return this.#store.open(info)
    } catch (error) {
      if (error instanceof Damage || systemCode(error) !== '') return null
      throw error
    }
  }

  close(): void {
    for (const part of this.#open.values()) part?.close()
  }
}

function withoutCovered(tombstones: readonly Tombstone[]): readonly Tombstone[] {
  const sorted = tombstones.toSorted((a, b) => a.tag - b.tag || b.sequence - a.sequence)
  const kept: Tombstone[] = []
  let first = 0
  for (const tombstone of sorted) {
    if (kept.length === 0 || kept.at(-1)!.tag !== tombstone.tag) first = kept.length
    const newer = kept.slice(Math.max(first, kept.length - COMPARED))
    if (!newer.some(({ from, to }) => from <= tombstone.from && to >= tombstone.to)) kept.push(tombstone)
  }
  return kept
}
