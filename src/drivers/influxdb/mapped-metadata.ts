import { readFile, stat } from 'node:fs/promises'
import { parse as parseCsv } from 'csv-parse/sync'
import type { CallContext, TagMetadata } from '../../historian/contract.ts'
import { isMetadataText, MAX_DESCRIPTION, MAX_UNITS } from '../../historian/metadata-text.ts'
import { unavailable } from '../../historian/remote/unavailable.ts'
import type { Cell, SeriesChunk } from './answer-lines.ts'
import type { InfluxClient } from './client.ts'
import type { MetadataSettings } from './config.ts'
import { quoteIdentifier, quoteString } from './quote.ts'
import { fromClause } from './statements.ts'
import type { TagSource } from './tag-list.ts'

const NAMES_AT_ONCE = 100
const MAX_FILE_BYTES = 256 * 1024 ** 2

/** Metadata in a measurement that somebody else keeps: the newest value of each field counts. */
export class MeasurementMetadata implements TagSource {
  readonly #client: InfluxClient
  readonly #settings: Extract<MetadataSettings, { kind: 'measurement' }>
  readonly #retentionPolicy: string | undefined

  constructor(
    client: InfluxClient,
    settings: Extract<MetadataSettings, { kind: 'measurement' }>,
    retentionPolicy: string | undefined,
  ) {
    this.#client = client
    this.#settings = settings
    this.#retentionPolicy = retentionPolicy
  }

  async find(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    const found = new Map<string, TagMetadata>()
    const key = quoteIdentifier(this.#settings.tagKey)
    const conditions: string[] = []
    for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
      const some = names.slice(at, at + NAMES_AT_ONCE)
      conditions.push(` WHERE ${some.map((name) => `${key} = ${quoteString(name)}`).join(' OR ')}`)
    }
    await this.#read(conditions, (name, metadata) => found.set(name, metadata), context)
    return names.map((name) => found.get(name) ?? null)
  }

  async list(take: (name: string, metadata: TagMetadata) => void, context: CallContext): Promise<void> {
    await this.#read([''], take, context)
  }

  async #read(
    conditions: readonly string[],
    take: (name: string, metadata: TagMetadata) => void,
    context: CallContext,
  ): Promise<void> {
    const { tagKey, measurement, description, units, stepped } = this.#settings
    const fields = Object.entries({ description, units, stepped }).flatMap(([as, field]) =>
      field === undefined ? [] : [`last(${quoteIdentifier(field)}) AS ${quoteIdentifier(as)}`],
    )
    if (fields.length === 0) return
    const select = `SELECT ${fields.join(', ')} ${fromClause(measurement, this.#retentionPolicy)}`
    const takePiece = ({ tags, columns, values = [] }: SeriesChunk) => {
      const name = tags?.[tagKey]
      const row = values[0]
      if (name === undefined || name === '' || row === undefined) return
      const cell = (as: string) => row[columns.indexOf(as)] ?? null
      take(name, metadataOf(cell('description'), cell('units'), cell('stepped')))
    }
    await this.#client.query(
      'metadata',
      conditions.map((condition) => ({
        text: `${select}${condition} GROUP BY ${quoteIdentifier(tagKey)}`,
        take: takePiece,
      })),
      context,
    )
  }
}

/** Metadata in a CSV file with the columns tag, description, units and stepped; read again when it was changed. */
export class FileMetadata implements TagSource {
  readonly #path: string
  readonly #historian: string
  #version = ''
  #tags: ReadonlyMap<string, TagMetadata> = new Map()

  constructor(path: string, historian: string) {
    this.#path = path
    this.#historian = historian
  }

  async find(names: readonly string[], { signal }: CallContext): Promise<readonly (TagMetadata | null)[]> {
    const tags = await this.#read()
    signal.throwIfAborted()
    return names.map((name) => tags.get(name) ?? null)
  }

  async list(take: (name: string, metadata: TagMetadata) => void, { signal }: CallContext): Promise<void> {
    const tags = await this.#read()
    signal.throwIfAborted()
    for (const [name, metadata] of tags) take(name, metadata)
  }

  async #read(): Promise<ReadonlyMap<string, TagMetadata>> {
    try {
      const { mtimeMs, size } = await stat(this.#path)
      const version = `${mtimeMs} ${size}`
      if (version === this.#version) return this.#tags
      if (size > MAX_FILE_BYTES) throw new Error('the file is too large')
      this.#tags = tagsOf(await readFile(this.#path))
      this.#version = version
      return this.#tags
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code
      const why = code === 'ENOENT' ? 'is not there' : 'cannot be read as CSV with a column tag'
      // The path stands in the cause alone, which the log shows: the sentence reaches clients.
      const error = new Error(`${this.#path} ${why}`, { cause })
      throw unavailable(this.#historian, `the file with its metadata ${why}`, error)
    }
  }
}

function tagsOf(bytes: Buffer): Map<string, TagMetadata> {
  const [header = [], ...rows] = parseCsv(bytes, {
    bom: true,
    relaxColumnCount: true,
    skipEmptyLines: true,
  }) as string[][]
  const place = (name: string) => header.findIndex((title) => title.trim().toLowerCase() === name)
  const [tag, description, units, stepped] = ['tag', 'description', 'units', 'stepped'].map(place)
  if (tag! < 0) throw new Error('there is no column tag')
  const cell = (row: readonly string[], at: number) => (at < 0 ? null : row[at] || null)
  const tags = new Map<string, TagMetadata>()
  for (const row of rows) {
    const name = row[tag!]
    if (name) tags.set(name, metadataOf(cell(row, description!), cell(row, units!), cell(row, stepped!)))
  }
  return tags
}

function metadataOf(description: Cell, units: Cell, stepped: Cell): TagMetadata {
  return {
    description: textOf(description, MAX_DESCRIPTION),
    units: textOf(units, MAX_UNITS),
    stepped: stepped === true || (typeof stepped === 'number' && stepped !== 0) || isYes(stepped),
  }
}

function textOf(cell: Cell, max: number): string | null {
  const text = cell === null ? null : String(cell)
  return isMetadataText(text, max) ? text : null
}

function isYes(cell: Cell): boolean {
  return typeof cell === 'string' && /^(true|t|yes|y|1)$/i.test(cell.trim())
}
