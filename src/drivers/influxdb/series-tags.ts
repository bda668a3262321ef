import type { CallContext } from '../../historian/contract.ts'
import type { SeriesChunk } from './answer-lines.ts'
import type { InfluxClient, Statement } from './client.ts'
import { isSameSeriesField, type Layout, type SeriesField } from './layout.ts'
import { parseSeriesKey } from './series-key.ts'
import { fromClause, tagConditions } from './statements.ts'

/** Series in one statement's condition. */
const SERIES_AT_ONCE = 50

/**
 * The series that are in the database, whichever client wrote them: a tag is a series whose measurement has the field.
 * Which series has points in which field only a look at all points would tell.
 */
export class SeriesTags {
  readonly #client: InfluxClient
  readonly #layout: Layout
  readonly #retentionPolicy: string | undefined
  readonly #measurement: string
  /** Fields that are no tags: the status. */
  readonly #notTags: ReadonlySet<string>
  readonly #ownMeasurement: string | null

  constructor(
    client: InfluxClient,
    layout: Layout,
    settings: {
      readonly retentionPolicy: string | undefined
      readonly measurement: string
      readonly notTags: readonly (string | null)[]
      /** Where Tidemark keeps its own metadata. */
      readonly ownMeasurement: string | null
    },
  ) {
    this.#client = client
    this.#layout = layout
    this.#retentionPolicy = settings.retentionPolicy
    this.#measurement = settings.measurement
    this.#ownMeasurement = settings.ownMeasurement
    this.#notTags = new Set(settings.notTags.filter((field) => field !== null))
  }

  /** Which of the named tags are there. */
  async find(names: readonly string[], context: CallContext): Promise<ReadonlySet<string>> {
    const wanted = new Map<string, SeriesField>()
    for (const name of names) {
      const series = this.#layout.parse(name)
      if (series !== null) wanted.set(name, series)
    }
    const byMeasurement = Map.groupBy(wanted.values(), ({ measurement }) => measurement)
    const collected = new Collected()
    const statements: Statement[] = []
    for (const [measurement, series] of byMeasurement) {
      statements.push(this.#fieldKeys(collected, measurement))
      for (let at = 0; at < series.length; at += SERIES_AT_ONCE) {
        const some = series.slice(at, at + SERIES_AT_ONCE).map((one) => tagConditions(one).join(' AND '))
        // There is no condition for a series without tags: then all of the measurement are listed.
        const where = some.includes('') ? '' : ` WHERE ${some.map((one) => `(${one})`).join(' OR ')}`
        statements.push(this.#seriesKeys(collected, measurement, where))
      }
    }
    await this.#client.query('metadata', statements, context)
    const found = new Set<string>()
    for (const [name, series] of wanted) {
      if (this.#isTag(series, collected)) found.add(name)
    }
    return found
  }

  /** Gives every tag's name to `take`. */
  async list(take: (name: string) => void, context: CallContext): Promise<void> {
    const collected = new Collected()
    const measurement = this.#layout.namesMeasurement ? null : this.#measurement
    const statements = [this.#fieldKeys(collected, measurement), this.#seriesKeys(collected, measurement, '')]
    await this.#client.query('metadata', statements, context)
    for (const { measurement: from, tags } of collected.series.values()) {
      if (from === this.#ownMeasurement) continue
      for (const field of collected.fields.get(from) ?? []) {
        if (this.#notTags.has(field)) continue
        const name = this.#layout.format({ measurement: from, tags, field })
        if (name !== null) take(name)
      }
    }
  }

  #isTag(series: SeriesField, { fields, series: all }: Collected): boolean {
    if (this.#notTags.has(series.field) || !fields.get(series.measurement)?.has(series.field)) return false
    const found = all.get(keyOf(series))
    return found !== undefined && isSameSeriesField({ ...found, field: series.field }, series)
  }

  #fieldKeys(collected: Collected, measurement: string | null): Statement {
    return {
      text: `SHOW FIELD KEYS${this.#from(measurement)}`,
      take: ({ name = '', values = [] }) => {
        const fields = collected.fields.getOrInsertComputed(name, () => new Set())
        for (const [field] of values) fields.add(String(field))
      },
    }
  }

  #seriesKeys(collected: Collected, measurement: string | null, condition: string): Statement {
    return {
      text: `SHOW SERIES${this.#from(measurement)}${condition}`,
      take: ({ values = [] }: SeriesChunk) => {
        for (const [key] of values) {
          const series = parseSeriesKey(String(key))
          if (series !== null) collected.series.set(keyOf(series), series)
        }
      },
    }
  }

  #from(measurement: string | null): string {
    return measurement === null ? '' : ` ${fromClause(measurement, this.#retentionPolicy)}`
  }
}

class Collected {
  readonly fields = new Map<string, Set<string>>()
  readonly series = new Map<string, Pick<SeriesField, 'measurement' | 'tags'>>()
}

function keyOf({ measurement, tags }: Pick<SeriesField, 'measurement' | 'tags'>): string {
  return JSON.stringify([measurement, tags])
}
