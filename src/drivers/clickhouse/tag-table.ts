import { showInput, TidemarkError } from '../../errors/tidemark-error.ts'
import type {
  CallContext,
  PutMode,
  PutOutcome,
  TagEntry,
  TagMetadata,
  TagPage,
  TagPut,
  TagQuery,
} from '../../historian/contract.ts'
import { makeChange, type RemoteChange } from '../../historian/remote/change.ts'
import { tagMetadata } from '../../historian/tag-metadata.ts'
import {
  changeOptionalMetadata,
  decodeOptionalMetadata,
  encodeStates,
} from '../../series/optional-metadata.ts'
import { GroupedInserts } from './grouped-inserts.ts'
import { bytesOf, encodeBlock, encodeTexts } from './native.ts'
import { INSERT_ATTEMPTS, type InsertOptions } from './point-writer.ts'
import { quoteText } from './quote.ts'
import { literalParts } from './search-literal.ts'
import type { Servers } from './servers.ts'
import type { Tables } from './tables.ts'
import { type TagId, tagId } from './tag-id.ts'
import type { VersionClock } from './version-clock.ts'
import type { OtherProcesses } from './version-marks.ts'

/** The state of a tag that the table tells, deleted ones too. */
interface TagState {
  readonly metadata: TagMetadata
  readonly deleted: boolean
  readonly version: bigint
}

interface TagRow {
  readonly name: string
  readonly metadata: TagMetadata
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
 * The table of tags: one row per change, of which the one with the largest version counts. A row of a deleted tag
 * stays, so that it outweighs those before it wherever they are.
 */
export class TagTable {
  readonly #historian: string
  readonly #servers: Servers
  readonly #tables: Tables
  readonly #others: OtherProcesses
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
    others: OtherProcesses,
    clock: VersionClock,
    options: InsertOptions,
  ) {
    this.#historian = historian
    this.#servers = servers
    this.#tables = tables
    this.#others = others
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
   * Makes sure that the tags of a write are there: makes the missing ones, or rejects with TAG_NOT_FOUND. Names that
   * were seen before cost no look-up but one question: whether any tag was deleted since, here or through another
   * process.
   */
  async ensure(names: readonly string[], create: boolean, change: RemoteChange): Promise<void> {
    // Asked before the look-up: a deletion in between is then seen by the look-up or by the next question.
    const deletions = await this.#others.look(change)
    if (deletions !== this.#deletions) {
      this.#known.clear()
      this.#deletions = deletions
    }
    const unknown = [...new Set(names.filter((name) => !this.#known.has(name)))]
    if (unknown.length === 0) return
    const states = await this.#states(unknown, change)
    const missing = unknown.filter((name) => states.get(name)?.deleted ?? true)
    if (missing.length > 0 && !create) throw tagNotFound(this.#historian, missing[0]!)
    if (missing.length > 0) {
      await this.#checkIds(missing, change)
      // The smallest version that counts: metadata that somebody stores at the same time is not overwritten by it.
      const rows = missing.map((name) => ({
        name,
        metadata: NO_METADATA,
        deleted: false,
        version: (states.get(name)?.version ?? 0n) + 1n,
      }))
      await this.#insert(rows, change)
    }
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
    for (const name of unknown) this.#known.add(name)
  }

  async put(entries: readonly TagPut[], mode: PutMode, change: RemoteChange): Promise<readonly PutOutcome[]> {
    const names = entries.map(({ name }) => name)
    const states = new Map(await this.#states([...new Set(names)], change))
    const rows = new Map<string, TagRow>()
    let made = false
    const outcomes = entries.map(({ name, metadata: put }): PutOutcome => {
      const state = states.get(name)
      const isThere = state !== undefined && !state.deleted
      if (mode === 'create' && isThere) return 'exists'
      if (mode === 'update' && !isThere) return 'missing'
      made ||= !isThere
      const optional = changeOptionalMetadata(isThere ? state.metadata : {}, put)
      // `stepped` as it was put: what is read of a tag with states says that it is stepped.
      const { description, units, stepped } = put
      const metadata = { description, units, stepped, ...optional }
      const row = { name, metadata, deleted: false, version: this.#versionAfter(state) }
      rows.set(name, row)
      states.set(name, row)
      return 'stored'
    })
    if (rows.size === 0) return outcomes
    if (made) await this.#checkIds([...rows.keys()], change)
    await this.#insert([...rows.values()], change)
    return outcomes
  }

  /** Rejects with TAG_NOT_FOUND for the first name that is no tag. */
  async checkExist(names: readonly string[], context: CallContext): Promise<void> {
    const found = await this.find(names, context)
    const missing = found.indexOf(null)
    if (missing >= 0) throw tagNotFound(this.#historian, names[missing]!)
  }

  async delete(names: readonly string[], change: RemoteChange): Promise<void> {
    const states = await this.#states(names, change)
    const rows = [...states].map(([name, state]) => ({
      name,
      metadata: NO_METADATA,
      deleted: true,
      version: this.#versionAfter(state),
    }))
    for (const name of names) this.#known.delete(name)
    await this.#insert(rows, change)
  }

  async search({ pattern, after, limit }: TagQuery, context: CallContext): Promise<TagPage> {
    const literals = pattern === null ? [] : literalParts(pattern)
    const found: TagEntry[] = []
    let last = after
    for (
      let page = Math.max(FIRST_PAGE, Math.min(limit + 1, LARGEST_PAGE));
      ;
      page = Math.min(page * 4, LARGEST_PAGE)
    ) {
      const entries = await this.#page(last, literals, page, context)
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
    literals: readonly string[],
    limit: number,
    context: CallContext,
  ): Promise<readonly TagEntry[]> {
    const conditions = ['deleted_ = 0']
    for (const literal of literals) {
      const part = quoteText(literal)
      conditions.push(
        `(positionCaseInsensitive(name, ${part}) > 0 OR positionCaseInsensitive(description_, ${part}) > 0)`,
      )
    }
    // Names are unique over the shards, and the order of texts here is that of their UTF-8 bytes.
    const rows = await this.#servers.read(
      'metadata',
      `SELECT name, ${this.#latest()} FROM ${this.#tables.tags} ` +
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
        `SELECT name, ${this.#latest()} FROM ${this.#tables.tags} WHERE id IN (${ids}) GROUP BY name`,
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

  /** SQL of the row of a tag that counts. */
  #latest(): string {
    const columns = LATEST.map((column) =>
      this.#tables.lacks(column) ? `'' AS ${column}_` : `argMax(${column}, version) AS ${column}_`,
    )
    return [...columns, 'max(version) AS version_'].join(', ')
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

  /** A change that saw a row outweighs it. */
  #versionAfter(state: TagState | undefined): bigint {
    if (state !== undefined) this.#clock.meet(state.version)
    return this.#clock.take()
  }

  async #insert(rows: readonly TagRow[], change: RemoteChange): Promise<void> {
    if (rows.length > 0) await this.#inserts.request(change, rows, rows.length)
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
        { name: 'maxGap', type: 'String', bytes: texts(({ metadata }) => metadata.maxGap ?? '') },
        { name: 'states', type: 'String', bytes: texts(({ metadata }) => encodeStates(metadata.states)) },
        { name: 'deleted', type: 'UInt8', bytes: flags(({ deleted }) => deleted) },
        { name: 'version', type: 'UInt64', bytes: bytesOf(versions) },
      ]),
    )
    const { settings, isWhole, timeoutSeconds } = this.#options
    const { signal } = new AbortController()
    await makeChange({ historian: this.#historian, seconds: timeoutSeconds, signal }, (change) =>
      this.#servers.insert(
        change,
        'metadata',
        `INSERT INTO ${this.#tables.tags} (${COLUMNS}) FORMAT Native`,
        { settings, body, isWhole, attempts: INSERT_ATTEMPTS },
      ),
    )
  }
}

const COLUMNS =
  'id, name, description, hasDescription, units, hasUnits, stepped, maxGap, states, deleted, version'

const MAX_KNOWN = 2_000_000

const KINDS = {
  name: 'text',
  description_: 'text',
  hasDescription_: 'number',
  units_: 'text',
  hasUnits_: 'number',
  stepped_: 'number',
  maxGap_: 'text',
  states_: 'text',
  deleted_: 'number',
  version_: 'bigint',
} as const

const LATEST = [
  'description',
  'hasDescription',
  'units',
  'hasUnits',
  'stepped',
  'maxGap',
  'states',
  'deleted',
]

interface MetadataRows {
  readonly description_: readonly string[]
  readonly hasDescription_: Float64Array
  readonly units_: readonly string[]
  readonly hasUnits_: Float64Array
  readonly stepped_: Float64Array
  readonly maxGap_: readonly string[]
  readonly states_: readonly string[]
}

function metadataAt(rows: MetadataRows, index: number): TagMetadata {
  return tagMetadata(
    {
      description: rows.hasDescription_[index] === 1 ? rows.description_[index]! : null,
      units: rows.hasUnits_[index] === 1 ? rows.units_[index]! : null,
      stepped: rows.stepped_[index] === 1,
    },
    decodeOptionalMetadata(rows.maxGap_[index]!, rows.states_[index]!),
  )
}

export function idList(ids: readonly TagId[]): string {
  return ids.map(({ text }) => text).join(', ')
}

function tagNotFound(historian: string, tag: string): TidemarkError {
  return new TidemarkError('TAG_NOT_FOUND', { historian, tag }, { place: { tag: `${historian}/${tag}` } })
}
