import type { CallContext, MetadataPut, TagMetadata } from '../../historian/contract.ts'
import { tagMetadata } from '../../historian/tag-metadata.ts'
import { decodeOptionalMetadata, encodeStates } from '../../series/optional-metadata.ts'
import type { Cell, SeriesChunk } from './answer-lines.ts'
import type { InfluxClient } from './client.ts'
import type { SeriesField } from './layout.ts'
import { lineKey, lineMeasurement, lineText } from './line-protocol.ts'
import { quoteIdentifier, quoteString } from './quote.ts'
import { fromClause } from './statements.ts'
import { NO_METADATA, type TagSource } from './tag-list.ts'

/** Names in one statement: its condition is looked through name by name. */
const NAMES_AT_ONCE = 100

/**
 * Which of `description` and `units` are given: InfluxDB cannot take a field away again, so null is an empty text whose
 * bit is not set. A point without the field has neither.
 */
const HAS_DESCRIPTION = 1
const HAS_UNITS = 2

/**
 * The mapping measurement that Tidemark keeps: one series for each tag, under the tag key `tag`, with one point at time
 * 0. Its field `present` makes the tag; it is all that a write of points writes, so that metadata of a tag that is
 * there already stays as it is without being read.
 */
export class OwnTags implements TagSource {
  readonly retentionPolicy: string | undefined
  readonly measurement: string
  readonly #client: InfluxClient

  constructor(client: InfluxClient, measurement: string, retentionPolicy: string | undefined) {
    this.measurement = measurement
    this.retentionPolicy = retentionPolicy
    this.#client = client
  }

  async find(names: readonly string[], context: CallContext): Promise<readonly (TagMetadata | null)[]> {
    const found = new Map<string, TagMetadata>()
    const statements = []
    for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
      const some = names.slice(at, at + NAMES_AT_ONCE)
      statements.push({
        text: `${this.#select()} WHERE ${some.map((name) => `"tag" = ${quoteString(name)}`).join(' OR ')}`,
        take: takeRows((name, metadata) => found.set(name, metadata)),
      })
    }
    await this.#client.query('metadata', statements, context)
    return names.map((name) => found.get(name) ?? null)
  }

  async list(take: (name: string, metadata: TagMetadata) => void, context: CallContext): Promise<void> {
    await this.#client.query('metadata', [{ text: this.#select(), take: takeRows(take) }], context)
  }

  /** The line that makes a tag, and leaves the metadata of one that is there. */
  presentLine(name: string): string {
    return `${this.#series(name)} present=true 0\n`
  }

  /**
   * The line that makes a tag with this metadata, or changes it. A field that is not in the line stays as it is; an
   * empty text stands for none.
   */
  metadataLine(name: string, { description, units, stepped, maxGap, states }: MetadataPut): string {
    const given = (description === null ? 0 : HAS_DESCRIPTION) + (units === null ? 0 : HAS_UNITS)
    const texts = `description=${lineText(description ?? '')},units=${lineText(units ?? '')}`
    const optional =
      (maxGap === undefined ? '' : `,maxGap=${lineText(maxGap ?? '')}`) +
      (states === undefined ? '' : `,states=${lineText(encodeStates(states))}`)
    return `${this.#series(name)} present=true,${texts},given=${given}i,stepped=${stepped}${optional} 0\n`
  }

  /** The series of a tag's entry. */
  seriesOf(name: string): SeriesField {
    return { measurement: this.measurement, tags: [['tag', name]], field: 'present' }
  }

  /** The statement that removes a tag's entry. */
  dropStatement(name: string): string {
    return `DROP SERIES FROM ${quoteIdentifier(this.measurement)} WHERE "tag" = ${quoteString(name)}`
  }

  #select(): string {
    const fields = 'SELECT "present", "tag", "description", "units", "given", "stepped", "maxGap", "states"'
    return `${fields} ${fromClause(this.measurement, this.retentionPolicy)}`
  }

  #series(name: string): string {
    return `${lineMeasurement(this.measurement)},tag=${lineKey(name)}`
  }
}

function takeRows(take: (name: string, metadata: TagMetadata) => void): (chunk: SeriesChunk) => void {
  return ({ values = [] }) => {
    for (const row of values) {
      const name = row[2]
      if (typeof name === 'string') take(name, metadataOf(row))
    }
  }
}

/** Row: time, present, tag, description, units, given, stepped, maxGap, states. */
function metadataOf(row: readonly Cell[]): TagMetadata {
  const given = Number(row[5] ?? 0)
  const [maxGap, states] = [String(row[7] ?? ''), String(row[8] ?? '')]
  if (given === 0 && row[6] !== true && maxGap === '' && states === '') return NO_METADATA
  return tagMetadata(
    {
      description: (given & HAS_DESCRIPTION) !== 0 ? String(row[3] ?? '') : null,
      units: (given & HAS_UNITS) !== 0 ? String(row[4] ?? '') : null,
      stepped: row[6] === true,
    },
    decodeOptionalMetadata(maxGap, states),
  )
}
