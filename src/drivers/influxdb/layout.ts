import { keyProblem, measurementProblem, valueProblem } from './line-protocol.ts'
import { isQuotable } from './quote.ts'

/** A series and one of its fields: what a tag is in InfluxDB. */
export interface SeriesField {
  readonly measurement: string
  /** All of the series' tag keys with their values, none empty; sorted by key. */
  readonly tags: readonly (readonly [key: string, value: string])[]
  readonly field: string
}

/** What the configuration says about names. */
export interface LayoutSettings {
  /** `{measurement}/{device}/{field}`: text, and in braces `measurement`, `field` or a tag key. */
  readonly tagName: string
  /** Used where the template has no `{measurement}`. */
  readonly measurement: string
  /** Used where the template has no `{field}`. */
  readonly field: string
  /** Tag keys that every series has with the same value, beside those of the template. */
  readonly tags: Readonly<Record<string, string>>
}

const MEASUREMENT = 'measurement'
const FIELD = 'field'

/**
 * How the name of a tag and a field of a series become each other. A name is cut at the template's texts: each
 * placeholder takes as little as it can and the last one the rest. A series whose name would be cut elsewhere than
 * where it was put together has no name, so that two series never share one.
 */
export class Layout {
  /** Whether measurement or field are part of the name. */
  readonly namesMeasurement: boolean
  readonly namesField: boolean
  readonly #settings: LayoutSettings
  /** Text before the first placeholder. */
  readonly #start: string
  /** Placeholders in order, each with the text that follows. */
  readonly #parts: readonly { readonly key: string; readonly end: string }[]
  readonly #fixed: readonly (readonly [string, string])[]

  /** Throws RangeError in words for a template that does not name series; see layoutProblem. */
  constructor(settings: LayoutSettings) {
    const problem = layoutProblem(settings)
    if (problem !== null) throw new RangeError(problem)
    const chunks = chunksOf(settings.tagName)
    this.#settings = settings
    this.#start = chunks[0]!
    this.#parts = Array.from({ length: (chunks.length - 1) / 2 }, (_, index) => ({
      key: chunks[2 * index + 1]!,
      end: chunks[2 * index + 2]!,
    }))
    this.#fixed = Object.entries(settings.tags)
    this.namesMeasurement = this.#parts.some(({ key }) => key === MEASUREMENT)
    this.namesField = this.#parts.some(({ key }) => key === FIELD)
  }

  /** What a name stands for; `null` for one that is not made like this. */
  parse(name: string): SeriesField | null {
    if (!name.startsWith(this.#start)) return null
    const tags: (readonly [string, string])[] = [...this.#fixed]
    let { measurement, field } = this.#settings
    let at = this.#start.length
    for (const [index, { key, end }] of this.#parts.entries()) {
      const isLast = index === this.#parts.length - 1
      // From the second character on: no part is empty.
      const until = isLast ? name.length - end.length : name.indexOf(end, at + 1)
      if (until <= at || !name.startsWith(end, until)) return null
      const value = name.slice(at, until)
      at = until + end.length
      if (key === MEASUREMENT) measurement = value
      else if (key === FIELD) field = value
      else tags.push([key, value])
    }
    return { measurement, field, tags: tags.sort(byKey) }
  }

  /** The name of a field of a series; `null` when its tag keys are others, or the name would not lead back to it. */
  format({ measurement, tags, field }: SeriesField): string | null {
    const values = new Map(tags)
    if (values.size !== this.#fixed.length + this.#parts.length - this.#ownParts) return null
    if (!this.namesMeasurement && measurement !== this.#settings.measurement) return null
    if (!this.namesField && field !== this.#settings.field) return null
    for (const [key, value] of this.#fixed) if (values.get(key) !== value) return null
    let name = this.#start
    for (const { key, end } of this.#parts) {
      const value = key === MEASUREMENT ? measurement : key === FIELD ? field : values.get(key)
      if (value === undefined) return null
      name += value + end
    }
    const back = this.parse(name)
    return back !== null && isSameSeriesField(back, { measurement, tags, field }) ? name : null
  }

  get #ownParts(): number {
    return Number(this.namesMeasurement) + Number(this.namesField)
  }
}

/**
 * Why a field of a series can be no tag, in words; `null` when it can.
 * @param kept the measurement where Tidemark keeps its metadata and the field of the status; `null` where there is none
 */
export function seriesProblem(
  { measurement, tags, field }: SeriesField,
  kept: { readonly measurement: string | null; readonly statusField: string | null },
): string | null {
  if (field === 'time') return 'InfluxDB keeps the name time to itself'
  if (field === kept.statusField) return `${field} is the field of the status`
  if (measurement === kept.measurement) return `${measurement} is where Tidemark keeps the metadata`
  const values = tags.map(([, value]) => value)
  if (![measurement, field, ...values].every(isQuotable))
    return 'InfluxDB takes no name with control characters'
  const problems = [measurementProblem(measurement), keyProblem(field), ...values.map(valueProblem)]
  return problems.find((problem) => problem !== null) ?? null
}

/** What is wrong with the settings, in words; `null` when nothing is. */
export function layoutProblem({ tagName, measurement, field, tags }: LayoutSettings): string | null {
  const chunks = chunksOf(tagName)
  const keys = chunks.filter((_, index) => index % 2 === 1)
  const texts = chunks.filter((_, index) => index % 2 === 0)
  if (keys.length === 0) return 'a template with at least one placeholder, such as {tag},'
  if (texts.some((text) => /[{}]/.test(text)))
    return 'a template whose braces hold placeholders, such as {tag},'
  if (texts.slice(1, -1).includes('')) return 'a template with text between its placeholders'
  if (new Set(keys).size !== keys.length) return 'a template that has each placeholder once'
  const twice = Object.keys(tags).find((key) => keys.includes(key))
  if (twice !== undefined) return `a template without {${twice}}, which tags has already,`
  if ('measurement' in tags || 'field' in tags) return 'tags without measurement and field'
  const given = [...keys, ...Object.keys(tags), ...(keys.includes(FIELD) ? [] : [field])]
  const problems = [
    measurementProblem(measurement),
    ...given.map(keyProblem),
    ...Object.values(tags).map(valueProblem),
  ]
  const problem = problems.find((found) => found !== null)
  return problem ? `names that InfluxDB takes (${problem})` : null
}

export function isSameSeriesField(a: SeriesField, b: SeriesField): boolean {
  return a.measurement === b.measurement && a.field === b.field && hasTags(a, new Map(b.tags))
}

/** Whether the series has exactly these tags. */
export function hasTags({ tags }: SeriesField, others: ReadonlyMap<string, string>): boolean {
  return tags.length === others.size && tags.every(([key, value]) => others.get(key) === value)
}

/** Texts and placeholders in turn, beginning and ending with a text that may be empty. */
function chunksOf(template: string): string[] {
  return template.split(/\{([^{}]+)\}/)
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1
}
