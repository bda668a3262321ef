import type { TagCatalog } from '../catalog/tag-catalog.ts'
import { ChangeWriter, readChanges, verifyChanges } from '../catalog/tag-changes.ts'
import type { TagRecord } from '../catalog/tag-record.ts'
import type { RemovedSpan } from '../wal/removed-spans.ts'
import type { WalRecord } from '../wal/wal-record.ts'

/** Names that a log without some of its records gives to two tags. */
interface SameName {
  readonly name: string
  readonly ids: readonly [number, number]
}

/** What a repair has to change of tags. */
export interface TagRepair {
  /** As CatalogDraft.take gives them. */
  readonly changes: Uint8Array
  /** One sentence for each tag that got a name. */
  readonly named: readonly string[]
}

/**
 * The tags of a log of which records are lost, as a start would see them. A lost record may have made a tag that later
 * ones wrote points of: it gets a name, so that they can be read. One may have deleted a tag or given it another name
 * before a later record gave that name to another tag: of two with one name the tag that got it later keeps it. Ids
 * that any record has are given to no new tag.
 */
export class RepairedTags {
  readonly #catalog: TagCatalog
  #highest: number
  /** Ids of tags with points in the log. */
  readonly #withPoints = new Set<number>()
  readonly #sameNames: SameName[] = []
  /** Of tags that may have a name together with others: when they got it, as a number that grows. */
  readonly #putAt = new Map<number, number>()
  #puts = 0

  /**
   * @param catalog  of the version behind which the log is read; it takes what the records say
   * @param highest  the highest id of a tag that parts have points of
   */
  constructor(catalog: TagCatalog, highest: number) {
    this.#catalog = catalog
    this.#highest = highest
  }

  /** Takes the next intact record. Throws Damage for changes of tags that cannot be read. */
  take({ catalog, removed, points }: WalRecord): void {
    if (catalog !== null) this.#change(catalog)
    for (const span of removed) this.#remove(span)
    for (const tag of points?.tags ?? []) {
      this.#highest = Math.max(this.#highest, tag)
      this.#withPoints.add(tag)
    }
  }

  /** To be made by a record behind all others. */
  finish(): TagRepair {
    const writer = new ChangeWriter()
    const named: string[] = []
    const rename = (id: number, before: TagRecord | null) => {
      const name = this.#freeName(id)
      const fields = before ?? { description: null, units: null, stepped: false }
      writer.put(id, { ...fields, name })
      this.#catalog.apply(putOf(id, { ...fields, name }))
      named.push(
        before === null
          ? `the name of a tag that has points: it is ${name} now`
          : `what became of a tag ${before.name}, before another one got its name: it is ${name} now`,
      )
    }
    for (const id of this.#losers()) rename(id, this.#catalog.get(id))
    for (const id of [...this.#withPoints].sort((a, b) => a - b)) {
      if (this.#catalog.get(id) === null) rename(id, null)
    }
    writer.nextId(Math.max(this.#highest + 1, this.#catalog.entries.nextId))
    return { changes: writer.take()!, named }
  }

  #change(changes: Uint8Array): void {
    readChanges(changes, verifyChanges(changes), {
      put: (id, entry) => {
        const name = entry.nameText()
        const other = this.#catalog.idOf(name)
        if (other !== 0 && other !== id) this.#sameNames.push({ name, ids: [other, id] })
        this.#putAt.set(id, ++this.#puts)
      },
      remove: (id) => {
        this.#highest = Math.max(this.#highest, id)
        this.#withPoints.delete(id)
      },
      nextId() {},
    })
    this.#catalog.apply(changes)
  }

  #remove({ tag, from, to }: RemovedSpan): void {
    this.#highest = Math.max(this.#highest, tag)
    if (from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY) this.#withPoints.delete(tag)
  }

  /** Tags whose names others have, and got later; most that once had the same have another one by now. */
  #losers(): readonly number[] {
    const byName = new Map<string, Set<number>>()
    for (const { name, ids } of this.#sameNames) {
      const tags = ids.filter((id) => this.#catalog.get(id)?.name === name)
      if (tags.length === 0) continue
      const all = byName.get(name) ?? new Set()
      for (const id of tags) all.add(id)
      byName.set(name, all)
    }
    const putAt = (id: number) => this.#putAt.get(id) ?? 0
    return [...byName.values()]
      .flatMap((ids) => [...ids].sort((a, b) => putAt(b) - putAt(a)).slice(1))
      .sort((a, b) => a - b)
  }

  #freeName(id: number): string {
    for (let number = 1; ; number++) {
      const name = number === 1 ? `recovered-${id}` : `recovered-${id}-${number}`
      if (this.#catalog.idOf(name) === 0) return name
    }
  }
}

function putOf(id: number, fields: Omit<TagRecord, 'id'>): Uint8Array {
  const writer = new ChangeWriter()
  writer.put(id, fields)
  return writer.take()!
}
