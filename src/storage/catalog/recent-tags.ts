import type { TagCatalog } from './tag-catalog.ts'
import type { TagRecord } from './tag-record.ts'

/** Records of a generation; at most twice as many are held. */
const GENERATION = 8_192
/** Records with longer texts, in UTF-16 units, or more states are not held: a description alone may take 200 kB. */
const LONGEST_TEXTS = 512
const MOST_STATES = 16

/**
 * Cache of the records of tags that were looked up lately, in two generations: when the young one is full it becomes
 * the old one, and what was not used since is forgotten. Making a record from the catalog's bytes takes several times
 * as long, and each is garbage right after.
 */
export class RecentTags {
  readonly #state: { readonly catalog: TagCatalog }
  #catalog: TagCatalog | null = null
  #version = -1
  #young = new Map<string, TagRecord>()
  #old = new Map<string, TagRecord>()

  /** @param state  has the catalog, which may become another one */
  constructor(state: { readonly catalog: TagCatalog }) {
    this.#state = state
  }

  /** As the catalog's. The record is shared. */
  find(name: string): TagRecord | null {
    const catalog = this.#current()
    const known = this.#known(name)
    if (known !== undefined) return known
    const record = catalog.find(name)
    if (record !== null && isShort(record)) this.#keep(record)
    return record
  }

  /** As the catalog's. */
  idOf(name: string): number {
    const catalog = this.#current()
    return this.#known(name)?.id ?? catalog.idOf(name)
  }

  #known(name: string): TagRecord | undefined {
    const young = this.#young.get(name)
    if (young !== undefined) return young
    const old = this.#old.get(name)
    if (old !== undefined) this.#keep(old)
    return old
  }

  #keep(record: TagRecord): void {
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(record.name, record)
  }

  /** Forgets all when a tag was changed or removed, or got another name; new tags leave the others as they are. */
  #current(): TagCatalog {
    const { catalog } = this.#state
    if (catalog !== this.#catalog || catalog.version !== this.#version) {
      this.#catalog = catalog
      this.#version = catalog.version
      this.#young.clear()
      this.#old.clear()
    }
    return catalog
  }
}

function isShort({ name, description, units, states }: TagRecord): boolean {
  const texts = name.length + (description?.length ?? 0) + (units?.length ?? 0)
  return texts <= LONGEST_TEXTS && (states === undefined || Object.keys(states).length <= MOST_STATES)
}
