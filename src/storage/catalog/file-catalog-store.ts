import { join } from 'node:path'
import { systemCode } from '../../errors/system-code.ts'
import { Damage, damageOf } from '../damage.ts'
import { type FileHandle, type Files, removeQuietly } from '../files/files.ts'
import { tokenText } from '../ownership/ownership.ts'
import { blockOf, fileHeader, HEADER_BYTES, readBlocks } from './catalog-blocks.ts'
import { MemoryCatalog } from './memory-catalog.ts'
import type { CatalogRef, CatalogStore, TagCatalog, TagEntries } from './tag-catalog.ts'
import { ChangeWriter, verifyChanges } from './tag-changes.ts'

/** A block is ended when it has so many bytes. */
const BLOCK_BYTES = 1 << 18
/** Ids that are looked at before a block's length is. */
const IDS_AT_ONCE = 64
/** A file may hold so much of the past whatever it holds of the present. */
const FREE_PAST_BYTES = 1 << 16
/** What a tag takes in a file beside its entry. */
const TAG_BYTES = 5
/** Of a file until it is whole. */
const UNFINISHED = '.new'
const FILE = /^[0-9a-f]{8}-[0-9a-f]{8}\.tags$/
/** Sentences of a check. */
const MOST_PROBLEMS = 20

/**
 * The files of a catalog in a folder.
 * @param namePrefix  the owner's token as text, whose files these are; '' for who only reads
 */
export function openCatalogStore(files: Files, folder: string, namePrefix: string): CatalogStore {
  return new FileCatalogStore(files, folder, namePrefix)
}

class FileCatalogStore implements CatalogStore {
  readonly #files: Files
  readonly #folder: string
  readonly #namePrefix: string
  #number = 0
  /** The file of which nobody knows what reached the disk, because its sync failed. */
  #unknown = ''

  constructor(files: Files, folder: string, namePrefix: string) {
    this.#files = files
    this.#folder = folder
    this.#namePrefix = namePrefix
  }

  async load(ref: CatalogRef | null): Promise<TagCatalog> {
    const catalog = new MemoryCatalog()
    if (ref === null) return catalog
    await this.#read(
      ref,
      (changes) => catalog.apply(changes),
      (damage) => {
        throw damage
      },
    )
    return catalog
  }

  async append(
    catalog: TagCatalog,
    changes: readonly Uint8Array[],
    ref: CatalogRef | null,
  ): Promise<CatalogRef> {
    if (this.#namePrefix === '') throw new Error('who only reads changes no file of the catalog')
    // What an earlier owner has is its own: it may go on writing there, if it is none any more and does not know.
    const isOwn = ref?.name.startsWith(`${this.#namePrefix}-`) === true && ref.name !== this.#unknown
    const added = changes.reduce((sum, { length }) => sum + length, 0)
    const present = catalog.entries.bytes + TAG_BYTES * catalog.size
    if (!isOwn || ref.bytes + added > 2 * present + FREE_PAST_BYTES) return this.#writeNew(catalog)
    return this.#appendTo(ref, changes)
  }

  async intactBytes(ref: CatalogRef): Promise<{ readonly bytes: number; readonly left: number }> {
    const file = this.#open(ref.name)
    try {
      const size = file.size()
      const counted = ref.bytes < Number.POSITIVE_INFINITY ? ref.bytes : size
      let bytes = HEADER_BYTES
      let isIntact = true
      await readBlocks(
        file,
        Math.min(counted, size),
        (changes, end) => {
          verifyChanges(changes)
          if (isIntact) bytes = end
        },
        () => {
          isIntact = false
        },
      )
      return { bytes, left: Math.max(0, counted - bytes) }
    } finally {
      file.close()
    }
  }

  async check(ref: CatalogRef): Promise<readonly string[]> {
    const problems: string[] = []
    const tell = ({ message }: Damage) => {
      if (problems.length < MOST_PROBLEMS) problems.push(message)
    }
    try {
      await this.#read(ref, verifyChanges, tell)
    } catch (error) {
      tell(damageOf(error))
    }
    return problems
  }

  close(): void {}

  async #read(
    { name, bytes }: CatalogRef,
    take: (changes: Uint8Array) => void,
    damaged: (damage: Damage) => void,
  ): Promise<void> {
    if (!FILE.test(name)) throw new Damage('the name of the catalog is none')
    const file = this.#open(name)
    try {
      await readBlocks(file, bytes, take, damaged)
    } finally {
      file.close()
    }
  }

  #open(name: string): FileHandle {
    try {
      return this.#files.open(join(this.#folder, name))
    } catch (error) {
      throw systemCode(error) === 'ENOENT' ? new Damage('the file of the catalog is missing') : error
    }
  }

  async #appendTo(ref: CatalogRef, changes: readonly Uint8Array[]): Promise<CatalogRef> {
    const file = this.#files.edit(join(this.#folder, ref.name))
    try {
      const target = new BlockTarget(file, ref.bytes)
      for (const one of changes) {
        target.writer.putChanges(one)
        await target.writeWhenFull()
      }
      await target.write()
      await this.#sync(file, ref.name)
      return { name: ref.name, bytes: target.at }
    } finally {
      file.close()
    }
  }

  /**
   * Writes all tags to a file of their own, which comes to its name when it is durable: one with a name is always
   * whole. What is changed meanwhile is in it or not: the log says it again.
   */
  async #writeNew({ entries }: TagCatalog): Promise<CatalogRef> {
    const name = `${this.#namePrefix}-${tokenText(this.#nextNumber())}.tags`
    const path = join(this.#folder, name)
    try {
      const bytes = await this.#fill(this.#files.create(path + UNFINISHED), name, entries)
      this.#files.rename(path + UNFINISHED, path)
      await this.#files.syncFolderAside(this.#folder)
      return { name, bytes }
    } catch (error) {
      removeQuietly(this.#files, path + UNFINISHED)
      removeQuietly(this.#files, path)
      throw error
    }
  }

  /** Above all of this owner, also above those of another store of it. */
  #nextNumber(): number {
    for (const found of this.#files.list(this.#folder)) {
      const name = found.endsWith(UNFINISHED) ? found.slice(0, -UNFINISHED.length) : found
      if (!FILE.test(name) || !name.startsWith(this.#namePrefix)) continue
      this.#number = Math.max(this.#number, Number.parseInt(name.slice(9, 17), 16))
    }
    return ++this.#number
  }

  async #fill(file: FileHandle, name: string, entries: TagEntries): Promise<number> {
    try {
      const header = fileHeader()
      await file.write(header, 0)
      const target = new BlockTarget(file, header.length)
      target.writer.nextId(entries.nextId)
      const end = entries.nextId
      const put = (id: number, entry: Uint8Array) => target.writer.putEntry(id, entry)
      // Tags that are made meanwhile are in the log.
      for (let id = 1, last = 0; id < end && id > last; ) {
        last = id
        id = entries.each(id, IDS_AT_ONCE, put)
        await target.writeWhenFull()
      }
      await target.write()
      await this.#sync(file, name)
      return target.at
    } finally {
      file.close()
    }
  }

  /** A sync that failed is not tried again: what is written next goes to another file. */
  async #sync(file: FileHandle, name: string): Promise<void> {
    try {
      await file.sync()
    } catch (error) {
      this.#unknown = name
      throw error
    }
  }
}

/** Removes what is left of files that came to no name, as who wrote them was killed. No owner may write one. */
export function removeUnfinishedCatalogs(files: Files, folder: string): void {
  for (const name of files.list(folder)) {
    if (name.endsWith(`.tags${UNFINISHED}`)) files.remove(join(folder, name))
  }
}

/** Writes changes as blocks from a place of a file on. */
class BlockTarget {
  readonly #file: FileHandle
  readonly writer = new ChangeWriter()
  /** Where the next block begins. */
  at: number

  constructor(file: FileHandle, at: number) {
    this.#file = file
    this.at = at
  }

  /** Yields to the event loop whenever a block is written. */
  async writeWhenFull(): Promise<void> {
    if (this.writer.length >= BLOCK_BYTES) await this.write()
  }

  async write(): Promise<void> {
    const changes = this.writer.take()
    if (changes === null) return
    const block = blockOf(changes, this.at)
    await this.#file.write(block, this.at)
    this.at += block.length
  }
}
