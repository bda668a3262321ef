import { systemCode } from '../../errors/system-code.ts'
import type { Span } from '../blocks/spans.ts'
import { Damage } from '../damage.ts'
import type { Part, PartInfo } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import { TombstoneBuilder, type TombstoneColumns } from '../parts/tombstone-columns.ts'
import { TombstoneList } from '../parts/tombstone-list.ts'

/** A tombstone is compared with so many newer ones of its tag. */
const COMPARED = 16

/**
 * The tombstones of merged parts that are needed still: those under which some other, older part may have points. Of
 * those that a newer one covers, most go too.
 */
export function neededTombstones(
  lists: readonly TombstoneColumns[],
  others: readonly PartInfo[],
  store: PartStore,
): TombstoneList {
  const older = new OlderParts(others, store)
  const needed = new TombstoneBuilder()
  for (const { tags, from, to, sequences } of lists) {
    for (let i = 0; i < tags.length; i++) {
      if (older.mayHave(tags[i]!, from[i]!, to[i]!, sequences[i]!))
        needed.add(tags[i]!, from[i]!, to[i]!, sequences[i]!)
    }
  }
  older.close()
  return new TombstoneList(withoutCovered(needed.sorted()))
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

  mayHave(tag: number, from: number, to: number, sequence: number): boolean {
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

function withoutCovered({ tags, from, to, sequences }: TombstoneColumns): TombstoneColumns {
  const kept = new TombstoneBuilder()
  for (let start = 0; start < tags.length; ) {
    let end = start + 1
    while (tags[end] === tags[start]) end++
    // From the newest on.
    const newer: Span[] = []
    for (let i = end - 1; i >= start; i--) {
      const isCovered = newer.some((span) => span.from <= from[i]! && span.to >= to[i]!)
      if (isCovered) continue
      kept.add(tags[i]!, from[i]!, to[i]!, sequences[i]!)
      if (i > start) newer.push({ from: from[i]!, to: to[i]! })
      if (newer.length > COMPARED) newer.shift()
    }
    start = end
  }
  return kept.sorted()
}
