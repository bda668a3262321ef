import { showInput, TidemarkError } from '../../errors/tidemark-error.ts'
import type {
  CallContext,
  PutMode,
  PutOutcome,
  TagEntry,
  TagMetadata,
  TagPage,
  TagQuery,
} from '../../historian/contract.ts'
import { withTimeLimit } from '../../historian/remote/time-limit.ts'
import { outcomeUnknown } from '../../historian/remote/unavailable.ts'
import { isUntouched } from './errors.ts'
import { GroupedInserts } from './grouped-inserts.ts'
import { bytesOf, encodeBlock, encodeTexts } from './native.ts'
import { INSERT_ATTEMPTS, type InsertOptions } from './point-writer.ts'
import { quoteText } from './quote.ts'
import { literalPart } from './search-literal.ts'
import type { Servers } from './servers.ts'
import type { Tables } from './tables.ts'
import { type TagId, tagId } from './tag-id.ts'
import { STEP, type VersionClock } from './version-clock.ts'

/** The state of a tag that the table tells, deleted ones too. */
interface TagState {
  readonly metadata: TagMetadata
  readonly deleted: boolean
  readonly version: bigint
}

interface TagRow extends TagEntry {
  readonly deleted: boolean
  readonly version: bigint
}

const NO_METADATA: TagMetadata = { description: null, units: null, stepped: false }

/** Ids in one query: some 20 bytes each. */
const MAX_IDS = 20_000

/** Rows of one page of a search at the server; further pages grow. */
const FIRST_PAGE = 1_000
const LARGEST_PAGE = 50_000

/**
 * The table of tags: one row per change, of which the one with the largest version counts. A row of a deleted tag stays, so that
 * it outweighs those before it wherever they are.
 */
export class TagTable {
  readonly #historian: string
  readonly #servers: Servers
  readonly #tables: Tables
  readonly #clock: VersionClock
  readonly #options: InsertOptions
  readonly #inserts: GroupedInserts<readonly TagRow[]>
  /** Names that were there when the deleted tags were last the same; see `ensure`. */
  readonly #known = new Set<string>()
  #deletions = ''

  constructor(
    historian: string,
    servers: Servers,
    tables: Tables,
    clock: VersionClock,
    options: InsertOptions,
  ) {
    this.#historian = historian
    this.#servers = servers
    this.#tables = tables
    this.#clock = clock
    this.#options = options
    this.#inserts = new GroupedInserts(historian, (groups) => this.#send(groups))
  }

  /** Resolves when nothing is under way any more. */
  close(): Promise<void> {
    return this.#inserts.close()
  }

  async find(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    const states = await this.#states(names, context)
    return names.map((name) => {
      const state = states.get(name)
      return state === undefined || state.deleted ? null : state.metadata
    })
  }

  /**
   * Makes sure that the tags of a write are there: makes the missing ones, or rejects with TAG_NOT_FOUND. Names that were seen
   * before cost no look-up but one question: whether any tag was deleted since, here or through another process.
   */
  async ensure(names: readonly string[], create: boolean, context: CallContext): Promise<void> {
    // Asked before the look-up: a deletion in between is then seen by the look-up or by the next question.
    const deletions = await this.#readDeletions(context)
    if (deletions !== this.#deletions) {
      this.#known.clear()
      this.#deletions = deletions
    }
    const unknown = [...new Set(names.filter((name) => !this.#known.has(name)))]
    if (unknown.length === 0) return
    const states = await this.#states(unknown, context)
    const missing = unknown.filter((name) => states.get(name)?.deleted ?? true)
    if (missing.length > 0 && !create) throw tagNotFound(this.#historian, missing[0]!)
    if (missing.length > 0) {
      await this.#checkIds(missing, context)
      // The smallest version that counts: metadata that somebody stores at the same time is not overwritten by it.
      const rows = missing.map((name) => ({
        name,
        metadata: NO_METADATA,
        deleted: false,
        version: (states.get(name)?.version ?? 0n) + 1n,
      }))
      await this.#insert(rows, context)
    }
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
    for (const name of unknown) this.#known.add(name)
  }

  async put(
    entries: readonly TagEntry[],
    mode: PutMode,
    context: CallContext,
  ): Promise<readonly PutOutcome[]> {
    const names = entries.map(({ name }) => name)
    const states = new Map(await this.#states([...new Set(names)], context))
    const rows = new Map<string, TagRow>()
    let made = false
    const outcomes = entries.map(({ name, metadata }): PutOutcome => {
      const state = states.get(name)
      const isThere = state !== undefined && !state.deleted
      if (mode === 'create' && isThere) return 'exists'
      if (mode === 'update' && !isThere) return 'missing'
      made ||= !isThere
      const row = { name, metadata, deleted: false, version: this.#versionAfter(state) }
      rows.set(name, row)
      states.set(name, row)
      return 'stored'
    })
    if (rows.size === 0) return outcomes
    if (made) await this.#checkIds([...rows.keys()], context)
    await this.#insert([...rows.values()], context)
    return outcomes
  }

  /** Rejects with TAG_NOT_FOUND for the first name that is no tag. */
  async checkExist(names: readonly string[], context: CallContext): Promise<void> {
    const found = await this.find(names, context)
    const missing = found.indexOf(null)
    if (missing >= 0) throw tagNotFound(this.#historian, names[missing]!)
  }

  async delete(names: readonly string[], context: CallContext): Promise<void> {
    const states = await this.#states(names, context)
    const rows = [...states].map(([name, state]) => ({
      name,
      metadata: NO_METADATA,
      deleted: true,
      version: this.#versionAfter(state),
    }))
    for (const name of names) this.#known.delete(name)
    await this.#insert(rows, context)
  }

  async search({ pattern, after, limit }: TagQuery, context: CallContext): Promise<TagPage> {
    const literal = pattern === null ? null : literalPart(pattern.text)
    const found: TagEntry[] = []
    let last = after
    for (
      let page = Math.max(FIRST_PAGE, Math.min(limit + 1, LARGEST_PAGE));
      ;
      page = Math.min(page * 4, LARGEST_PAGE)
    ) {
      const entries = await this.#page(last, literal, page, context)
      for (const entry of entries) {
        if (pattern !== null && !pattern.matches(entry.name, entry.metadata.description)) continue
        if (found.length === limit) return { tags: found, more: true }
        found.push(entry)
      }
      if (entries.length < page) return { tags: found, more: false }
      last = entries.at(-1)!.name
    }
  }

  async #page(
    after: string | null,
    literal: string | null,
    limit: number,
    context: CallContext,
  ): Promise<readonly TagEntry[]> {
    const conditions = ['deleted_ = 0']
    if (literal !== null) {
      const part = quoteText(literal)
      conditions.push(
        `(positionCaseInsensitive(name, ${part}) > 0 OR positionCaseInsensitive(description_, ${part}) > 0)`,
      )
    }
    // Names are unique over the shards, and the order of texts here is that of their UTF-8 bytes.
    const rows = await this.#servers.read(
      'metadata',
      `SELECT name, ${LATEST} FROM ${this.#tables.tags} ` +
        `${after === null ? '' : `WHERE name > ${quoteText(after)} `}GROUP BY name ` +
        `HAVING ${conditions.join(' AND ')} ORDER BY name LIMIT ${limit}`,
      KINDS,
      context,
    )
    return rows.name.map((name, i) => ({ name, metadata: metadataAt(rows, i) }))
  }

  async #states(names: readonly string[], context: CallContext): Promise<ReadonlyMap<string, TagState>> {
    const wanted = new Set(names)
    const states = new Map<string, TagState>()
    for (let from = 0; from < names.length; from += MAX_IDS) {
      const ids = idList(names.slice(from, from + MAX_IDS).map(tagId))
      const rows = await this.#servers.read(
        'metadata',
        `SELECT name, ${LATEST} FROM ${this.#tables.tags} WHERE id IN (${ids}) GROUP BY name`,
        KINDS,
        context,
      )
      rows.name.forEach((name, i) => {
        if (!wanted.has(name)) return
        states.set(name, {
          metadata: metadataAt(rows, i),
          deleted: rows.deleted_[i] === 1,
          version: rows.version_[i]!,
        })
      })
    }
    return states
  }

  /** Two names with the same id would share their points; of 10 million tags the chance is 1 to 400,000. */
  async #checkIds(names: readonly string[], context: CallContext): Promise<void> {
    const owners = new Map<string, string>()
    const clash = (name: string, other: string) =>
      new TidemarkError('HISTORIAN_REFUSED', {
        historian: this.#historian,
        reason: `a tag ${showInput(name)} cannot be kept beside ${showInput(other)}`,
      })
    for (const name of names) {
      const { text } = tagId(name)
      const other = owners.get(text)
      if (other !== undefined && other !== name) throw clash(name, other)
      owners.set(text, name)
    }
    for (let from = 0; from < names.length; from += MAX_IDS) {
      const rows = await this.#servers.read(
        'metadata',
        `SELECT id, name FROM ${this.#tables.tags} WHERE id IN (${idList(names.slice(from, from + MAX_IDS).map(tagId))})`,
        { id: 'bigint', name: 'text' },
        context,
      )
      rows.name.forEach((name, i) => {
        const owner = owners.get(String(rows.id[i]))
        if (owner !== undefined && owner !== name) throw clash(owner, name)
      })
    }
  }

  async #readDeletions(context: CallContext): Promise<string> {
    const rows = await this.#servers.read(
      'metadata',
      `SELECT count() AS deleted_, groupBitXor(cityHash64(id, version)) AS hash_ FROM ${this.#tables.tags} WHERE deleted = 1`,
      { deleted_: 'number', hash_: 'bigint' },
      context,
    )
    return `${rows.deleted_[0]} ${rows.hash_[0]}`
  }

  /** The clock's version, or a later one where a clock elsewhere is ahead: a change that saw a row outweighs it. */
  #versionAfter(state: TagState | undefined): bigint {
    const version = this.#clock.take(1)
    return state !== undefined && state.version >= version ? state.version + STEP : version
  }

  async #insert(rows: readonly TagRow[], context: CallContext): Promise<void> {
    if (rows.length > 0) await this.#inserts.add(rows, rows.length, context)
  }

  async #send(groups: readonly (readonly TagRow[])[]): Promise<void> {
    const rows = groups.flat()
    const texts = (pick: (row: TagRow) => string) => encodeTexts(rows.map(pick))
    const flags = (pick: (row: TagRow) => boolean) => Uint8Array.from(rows, (row) => (pick(row) ? 1 : 0))
    const ids = new Uint32Array(rows.length * 2)
    rows.forEach(({ name }, i) => {
      const { low, high } = tagId(name)
      ids[2 * i] = low
      ids[2 * i + 1] = high
    })
    const versions = BigUint64Array.from(rows, ({ version }) => version)
    const body = Buffer.concat(
      encodeBlock(rows.length, [
        { name: 'id', type: 'UInt64', bytes: bytesOf(ids) },
        { name: 'name', type: 'String', bytes: texts(({ name }) => name) },
        { name: 'description', type: 'String', bytes: texts(({ metadata }) => metadata.description ?? '') },
        {
          name: 'hasDescription',
          type: 'UInt8',
          bytes: flags(({ metadata }) => metadata.description !== null),
        },
        { name: 'units', type: 'String', bytes: texts(({ metadata }) => metadata.units ?? '') },
        { name: 'hasUnits', type: 'UInt8', bytes: flags(({ metadata }) => metadata.units !== null) },
        { name: 'stepped', type: 'UInt8', bytes: flags(({ metadata }) => metadata.stepped) },
        { name: 'deleted', type: 'UInt8', bytes: flags(({ deleted }) => deleted) },
        { name: 'version', type: 'UInt64', bytes: bytesOf(versions) },
      ]),
    )
    const { settings, isWhole, timeoutSeconds } = this.#options
    try {
      await withTimeLimit(this.#historian, timeoutSeconds, new AbortController(), (context) =>
        this.#servers.change(
          'metadata',
          `INSERT INTO ${this.#tables.tags} (${COLUMNS}) FORMAT Native`,
          context,
          { settings, body, attempts: INSERT_ATTEMPTS },
        ),
      )
    } catch (error) {
      if (!(error instanceof TidemarkError) || isUntouched(error, isWhole)) throw error
      throw outcomeUnknown(this.#historian, error)
    }
  }
}

const COLUMNS = 'id, name, description, hasDescription, units, hasUnits, stepped, deleted, version'

const MAX_KNOWN = 2_000_000

const KINDS = {
  name: 'text',
  description_: 'text',
  hasDescription_: 'number',
  units_: 'text',
  hasUnits_: 'number',
  stepped_: 'number',
  deleted_: 'number',
  version_: 'bigint',
} as const

/** The row of a tag that counts. */
const LATEST = [
  ...['description', 'hasDescription', 'units', 'hasUnits', 'stepped', 'deleted'].map(
    (column) => `argMax(${column}, version) AS ${column}_`,
  ),
  'max(version) AS version_',
].join(', ')

interface MetadataRows {
  readonly description_: readonly string[]
  readonly hasDescription_: Float64Array
  readonly units_: readonly string[]
  readonly hasUnits_: Float64Array
  readonly stepped_: Float64Array
}

function metadataAt(rows: MetadataRows, index: number): TagMetadata {
  return {
    description: rows.hasDescription_[index] === 1 ? rows.description_[index]! : null,
    units: rows.hasUnits_[index] === 1 ? rows.units_[index]! : null,
    stepped: rows.stepped_[index] === 1,
  }
}

export function idList(ids: readonly TagId[]): string {
  return ids.map(({ text }) => text).join(', ')
}

function tagNotFound(historian: string, tag: string): TidemarkError {
  return new TidemarkError('TAG_NOT_FOUND', { historian, tag }, { place: { tag: `${historian}/${tag}` } })
}
