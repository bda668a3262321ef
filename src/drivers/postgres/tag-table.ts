import type { TagEntry, TagMetadata, TagPage, TagQuery } from '../../historian/contract.ts'
import { tagMetadata } from '../../historian/tag-metadata.ts'
import { decodeOptionalMetadata } from '../../series/optional-metadata.ts'
import { compareNames } from '../../series/tag-names.ts'
import { likePatterns } from './like.ts'
import { Parameters, texts } from './parameters.ts'
import type { Row, Session } from './session.ts'
import { canHold } from './text.ts'

/** A table of tags as SQL: expressions over `t`, the table. */
export interface TagTable {
  /** Table or sub-query, to stand before `AS t`. */
  readonly from: string
  /** `text`; rows where it is NULL are no tags. */
  readonly name: string
  readonly description: string
  readonly units: string
  /** Boolean, never NULL. */
  readonly stepped: string
  /** `text`; NULL where the table has none. */
  readonly maxGap: string
  /** `text`, a JSON object of names by number; NULL where the table has none. */
  readonly states: string
}

/** Of a table that has neither `maxGap` nor `states`. */
export const NO_OPTIONAL_COLUMNS = { maxGap: 'NULL::text', states: 'NULL::text' } as const

/** Rows that a search looks at in one statement. */
const LEAST_ROWS = 1_000
const MOST_ROWS = 10_000

/** Metadata of each named tag, `null` for one that does not exist, in one statement. */
export async function findInTable(
  session: Session,
  table: TagTable,
  names: readonly string[],
): Promise<(TagMetadata | null)[]> {
  const found = new Map<string, TagMetadata>()
  const asked = [...new Set(names)].filter(canHold)
  const parameters = new Parameters()
  const rows = await session.query(
    `SELECT t.* FROM unnest(${parameters.add(texts(asked), 'text[]')}) AS q(tag)
      CROSS JOIN LATERAL (SELECT ${columnsOf(table)} FROM ${table.from} AS t WHERE ${table.name} = q.tag LIMIT 1) AS t`,
    parameters.values,
  )
  for (const row of rows) {
    const { name, metadata } = entryOf(row)
    found.set(name, metadata)
  }
  return names.map((name) => found.get(name) ?? null)
}

/**
 * A page of the tags that match, in the order of code points; the table is walked by name from where the last page
 * ended.
 */
export async function searchTable(session: Session, table: TagTable, query: TagQuery): Promise<TagPage> {
  const { pattern, limit } = query
  const likes = pattern === null ? [] : likePatterns(pattern)
  const found: TagEntry[] = []
  // A text that cannot be stored lies between others: everything after its storable beginning is looked at.
  let after = query.after === null ? null : storableBeginning(query.after)
  let rowLimit = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, limit + 1))
  for (;;) {
    const parameters = new Parameters()
    const name = `(${table.name} COLLATE "C")`
    const conditions = [`${table.name} IS NOT NULL`]
    if (after !== null) conditions.push(`${name} > ${parameters.add(after, 'text')}`)
    for (const like of likes) {
      const place = parameters.add(like, 'text')
      const matches = (text: string) => `upper(${text} COLLATE "C") LIKE ${place}`
      conditions.push(`(${matches(table.name)} OR ${matches(table.description)})`)
    }
    const rows = await session.query(
      `SELECT ${columnsOf(table)} FROM ${table.from} AS t WHERE ${conditions.join(' AND ')}
        ORDER BY ${name} LIMIT ${parameters.add(rowLimit, 'bigint')}`,
      parameters.values,
    )
    for (const row of rows) {
      const entry = entryOf(row)
      if (query.after !== null && compareNames(entry.name, query.after) <= 0) continue
      if (pattern !== null && !pattern.matches(entry.name, entry.metadata.description)) continue
      if (found.length === limit) return { tags: found, more: true }
      found.push(entry)
    }
    if (rows.length < rowLimit) return { tags: found, more: false }
    after = rows.at(-1)![0]!
    rowLimit = MOST_ROWS
  }
}

function storableBeginning(text: string): string {
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!
    if (code === 0 || (code >= 0xd800 && code <= 0xdfff)) return text.slice(0, at)
    if (code > 0xffff) at++
  }
  return text
}

function columnsOf({ name, description, units, stepped, maxGap, states }: TagTable): string {
  const optional = `${maxGap} AS max_gap, ${states} AS states`
  return `${name} AS name, ${description} AS description, ${units} AS units, ${stepped} AS stepped, ${optional}`
}

function entryOf([name, description, units, stepped, maxGap, states]: Row): TagEntry {
  return {
    name: name!,
    metadata: tagMetadata(
      { description: description ?? null, units: units ?? null, stepped: stepped === 't' },
      decodeOptionalMetadata(maxGap ?? null, states ?? null),
    ),
  }
}
