import { systemCode } from '../../errors/system-code.ts'
import { Damage, damageOf, damageOfPart } from '../damage.ts'
import type { Version } from '../manifest/version.ts'
import type { Part, PartInfo, Tombstone } from '../parts/part.ts'
import type { PartStore } from '../parts/part-store.ts'
import type { TombstoneList } from '../parts/tombstone-list.ts'
import { TombstonesOfTags } from '../parts/tombstones-of-tags.ts'

/** A part of a version. */
export interface LivePart {
  readonly info: PartInfo
  /** Of a damaged one what is intact; `null` for nothing. */
  readonly part: Part | null
  /** Why it cannot be opened as a whole. */
  readonly damage: Damage | null
}

/** What is known to be damaged of a part: as it was opened, or since a read has needed its table of pages. */
export function knownDamage({ part, damage }: LivePart): Damage | null {
  return damage ?? part?.damage ?? null
}

/**
 * What a missing file (ENOENT) of a part is: damage of that part for the owner, as what the newest manifest names is
 * dropped by nobody; an error for a reader that may be behind, and begins anew.
 */
export type MissingFile = 'damage' | 'error'

const NONE: readonly Tombstone[] = []

/** The parts of a version, open for as long as somebody holds the set. */
export class PartSet {
  readonly version: Version
  /** Sorted as in the version. */
  readonly parts: readonly LivePart[]
  /** Of the parts that have any. */
  readonly #tombstones: readonly TombstoneList[]
  readonly #ofTags = new TombstonesOfTags()
  /** The last part of which it is not known what it takes away from those before it. */
  readonly lostTombstones: LivePart | null
  /** Who holds it; the newest set is held by the engine itself. */
  holders = 0

  constructor(version: Version, parts: readonly LivePart[]) {
    this.version = version
    this.parts = parts
    this.#tombstones = tombstonesOf(parts)
    this.lostTombstones = parts.findLast(hasLostTombstones) ?? null
  }

  /** Tombstones of a tag, of all parts. */
  tombstones(tag: number): readonly Tombstone[] {
    return this.#tombstones.length === 0 ? NONE : this.#ofTags.of(tag, this.#collect)
  }

  readonly #collect = (tag: number): readonly Tombstone[] => {
    const lists = this.#tombstones.map((list) => list.of(tag)).filter(({ length }) => length > 0)
    return lists.length === 1 ? lists[0]! : lists.flat()
  }

  /** Those of each of the parts but some. */
  tombstonesWithout(names: ReadonlySet<string>): readonly TombstoneList[] {
    return tombstonesOf(this.parts.filter(({ info }) => !names.has(info.name)))
  }
}

const hasLostTombstones = ({ info, part, damage }: LivePart) =>
  damage !== null && (part?.tombstones.length ?? 0) < info.tombstones

function tombstonesOf(parts: readonly LivePart[]): readonly TombstoneList[] {
  return parts.flatMap(({ part }) => (part === null || part.tombstones.length === 0 ? [] : [part.tombstones]))
}

/**
 * Keeps the parts of the newest version open, and those of earlier ones for as long as a read is on them. A file that
 * no version has any more is handed to `dropped` when nobody of this process reads it.
 */
export class OpenParts {
  readonly #store: PartStore
  readonly #dropped: (name: string) => void
  /** Open parts by name, and in how many sets they are, or are to come. */
  readonly #open = new Map<string, OpenPart>()
  #current: PartSet
  #recovering: Promise<void> | null = null
  readonly #closing = new AbortController()

  /** A part that cannot be read is open as damaged. Throws the system's errors but EIO. */
  constructor(
    store: PartStore,
    version: Version,
    dropped: (name: string) => void,
    missing: MissingFile = 'error',
  ) {
    this.#store = store
    this.#dropped = dropped
    this.#current = this.#make(version, missing === 'damage' ? damageOfPart : damageOf)
  }

  /**
   * Opens what is intact of damaged parts, which may take a search through a file: at the beginning, and when a read
   * has found that one cannot be read. One of which nothing can be opened, whatever the reason, stays damaged.
   */
  recover(): Promise<void> {
    this.#recovering ??= this.#recoverAll().finally(() => {
      this.#recovering = null
    })
    return this.#recovering
  }

  async #recoverAll(): Promise<void> {
    const { signal } = this.#closing
    let isAny = false
    for (const live of this.#current.parts) {
      const { info, damage } = live
      const found = knownDamage(live)
      if (found === null || this.#open.get(info.name)?.hasTried !== false) continue
      let intact: Part | null
      try {
        intact = await this.#store.recover(info, found, signal)
      } catch {
        if (signal.aborted) return
        // It stays as it is until a read meets it again.
        continue
      }
      const open = this.#open.get(info.name)
      // It may be gone by now, or be readable again after all.
      const isFound = open !== undefined && (damage !== null || intact?.damage != null)
      if (open !== undefined) open.hasTried = isFound || intact === null
      if (!isFound) intact?.close()
      else {
        open.live = { info, part: intact, damage: found }
        open.opened.push(intact)
        isAny = true
      }
    }
    if (isAny && !signal.aborted) this.moveTo(this.#current.version)
  }

  /** As the constructor, with what is intact of damaged parts. Rejects with the system's errors but EIO. */
  static async open(...args: ConstructorParameters<typeof OpenParts>): Promise<OpenParts> {
    const parts = new OpenParts(...args)
    try {
      await parts.recover()
      return parts
    } catch (error) {
      parts.close()
      throw error
    }
  }

  /** Of the newest version. */
  get current(): PartSet {
    return this.#current
  }

  /**
   * Goes on to another version. Throws the system's errors, and then the version before stays; also EIO of a new part,
   * whose points are in memory or in its inputs still.
   */
  moveTo(version: Version, missing: MissingFile = 'error'): void {
    const next = this.#make(version, missing === 'damage' ? damageOrMissing : damageOnly)
    const before = this.#current
    this.#current = next
    this.release(before)
  }

  /** Has the parts of a set that is held, as the newest one is, stay open until `release`. */
  hold(set: PartSet): void {
    checkIsHeld(set)
    set.holders++
  }

  release(set: PartSet): void {
    checkIsHeld(set)
    if (--set.holders > 0) return
    for (const { info } of set.parts) {
      if (this.#giveBack(info) && !this.#isNamed(info.name)) this.#dropped(info.name)
    }
  }

  /**
   * Opens parts that are to come into the next version, so that `moveTo` cannot fail by them. Throws Damage and the
   * system's errors, and then none of them is open.
   * @returns  to be called when that version is there, or is not to come
   */
  openAhead(infos: readonly PartInfo[]): () => void {
    const taken = this.#take(infos, thrown)
    return () => {
      for (const { info } of taken) this.#giveBack(info)
    }
  }

  /**
   * Goes on to no other version: parts are closed when nobody holds a set any more. What is looked for in damaged ones
   * is given up. To be called once; nothing else than `release` and `close` is afterwards.
   */
  end(): void {
    this.#closing.abort(new Error('the parts are given up'))
    this.release(this.#current)
  }

  close(): void {
    this.#closing.abort(new Error('the parts are closed'))
    for (const { opened } of this.#open.values()) closeAll(opened)
    this.#open.clear()
  }

  #isNamed(name: string): boolean {
    return this.#current.parts.some(({ info }) => info.name === name)
  }

  /** @param damage  of a part that is not open yet, from what it failed with; throws what is none */
  #make(version: Version, damage: (error: unknown) => Damage): PartSet {
    const set = new PartSet(version, this.#take(version.parts, damage))
    set.holders = 1
    return set
  }

  /** Opens parts that are not open yet; `#giveBack` each. */
  #take(infos: readonly PartInfo[], damage: (error: unknown) => Damage): readonly LivePart[] {
    const taken: LivePart[] = []
    try {
      for (const info of infos) {
        const known = this.#open.get(info.name)
        const live = known?.live ?? this.#openPart(info, damage)
        if (known === undefined) {
          this.#open.set(info.name, { live, sets: 1, opened: [live.part], hasTried: false })
        } else known.sets++
        taken.push(live)
      }
    } catch (error) {
      for (const { info } of taken) this.#giveBack(info)
      throw error
    }
    return taken
  }

  /** Closes a part that nobody has any more, and gives whether that is so. */
  #giveBack({ name }: PartInfo): boolean {
    const open = this.#open.get(name)
    // All of them are closed when the historian is.
    if (open === undefined || --open.sets > 0) return false
    this.#open.delete(name)
    closeAll(open.opened)
    return true
  }

  #openPart(info: PartInfo, damage: (error: unknown) => Damage): LivePart {
    try {
      return { info, part: this.#store.open(info), damage: null }
    } catch (error) {
      return { info, part: null, damage: damage(error) }
    }
  }
}

/** A part as it stands in the newest sets. */
interface OpenPart {
  live: LivePart
  sets: number
  /** What is closed with it: earlier sets may have it as it was before it was recovered. */
  readonly opened: (Part | null)[]
  /** Whether what is intact of it was looked for. */
  hasTried: boolean
}

function closeAll(parts: readonly (Part | null)[]): void {
  for (const part of parts) part?.close()
}

/** What was given up once would be given up again, with parts that other sets have, too. */
function checkIsHeld({ holders, version }: PartSet): void {
  if (holders === 0) throw new Error(`the parts of version ${version.number} were given up before (a bug)`)
}

function damageOnly(error: unknown): Damage {
  if (error instanceof Damage) return error
  throw error
}

function damageOrMissing(error: unknown): Damage {
  return systemCode(error) === 'ENOENT' ? damageOfPart(error) : damageOnly(error)
}

function thrown(error: unknown): never {
  throw error
}
