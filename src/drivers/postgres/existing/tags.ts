import type { TagEntry, TagMetadata, TagPage, TagQuery } from '../../../historian/contract.ts'
import { compareNames } from '../../../series/tag-names.ts'
import { Parameters, texts } from '../parameters.ts'
import type { Relation } from '../relation.ts'
import type { Session } from '../session.ts'
import { findInTable, NO_OPTIONAL_COLUMNS, searchTable, type TagTable } from '../tag-table.ts'
import { canHold } from '../text.ts'

/** Where some of a historian's tags are listed. */
export interface TagSource {
  /** Metadata of those names that are in here. */
  find(session: Session, names: readonly string[]): Promise<ReadonlyMap<string, TagMetadata>>
  search(session: Session, query: TagQuery): Promise<TagPage>
}

/** Tags of a table that lists them. */
export function listedTags(table: TagTable): TagSource {
  return {
    find: async (session, names) => withMetadata(names, await findInTable(session, table, names)),
    search: (session, query) => searchTable(session, table, query),
  }
}

/** Tags that are known only from their points: the different texts in a column, by skipping through its index. */
export function tagsOfPoints(relation: Relation, column: string, metadata: TagMetadata): TagSource {
  const table: TagTable = {
    from: distinctTexts(relation, column),
    name: 't.name',
    description: 'NULL::text',
    units: 'NULL::text',
    stepped: String(metadata.stepped),
    ...NO_OPTIONAL_COLUMNS,
  }
  return {
    find: async (session, names) => {
      const there = await keysThatExist(session, relation, names)
      return new Map(names.filter((name) => there.has(name)).map((name) => [name, metadata]))
    },
    search: (session, query) => searchTable(session, table, query),
  }
}

/** Tags that the configuration names. */
export function configuredTags(tags: ReadonlyMap<string, TagMetadata>): TagSource {
  const entries = Array.from(tags, ([name, metadata]) => ({ name, metadata }))
  return {
    find: async (_session, names) =>
      new Map(names.flatMap((name) => (tags.has(name) ? [[name, tags.get(name)!]] : []))),
    search: async (_session, query) => pageOf(entries, query),
  }
}

/** Tags of a wide table with a column that says whose row it is: each of its texts has every one of the endings. */
export function tagsOfRows(
  relation: Relation,
  column: string,
  endings: ReadonlyMap<string, TagMetadata>,
): TagSource {
  return {
    find: async (session, names) => {
      const asked = names.flatMap((name) => {
        const ending = endingOf(name, endings)
        return ending === null ? [] : [{ name, ending, key: name.slice(0, -ending.length) }]
      })
      const keys = asked.map(({ key }) => key)
      const there = await keysThatExist(session, relation, keys)
      return new Map(
        asked.filter(({ key }) => there.has(key)).map(({ name, ending }) => [name, endings.get(ending)!]),
      )
    },
    search: async (session, query) => {
      const keys = await session.query(`SELECT t.name FROM ${distinctTexts(relation, column)} AS t`)
      const entries = keys.flatMap(([key]) =>
        Array.from(endings, ([ending, metadata]) => ({ name: key! + ending, metadata })),
      )
      return pageOf(entries, query)
    },
  }
}

/** The longest of the endings that a name has with something before it; `null` without one. */
export function endingOf(name: string, endings: ReadonlyMap<string, unknown>): string | null {
  let longest: string | null = null
  for (const ending of endings.keys()) {
    if (name.length > ending.length && name.endsWith(ending) && ending.length > (longest?.length ?? 0)) {
      longest = ending
    }
  }
  return longest
}

/** Finds in several sources; the first that has a name counts. */
export async function findInAll(
  session: Session,
  sources: readonly TagSource[],
  names: readonly string[],
): Promise<readonly (TagMetadata | null)[]> {
  const found = new Map<string, TagMetadata>()
  for (const source of sources) {
    const left = names.filter((name) => !found.has(name))
    if (left.length === 0) break
    for (const [name, metadata] of await source.find(session, left)) found.set(name, metadata)
  }
  return names.map((name) => found.get(name) ?? null)
}

/** A page over several sources, each of which gives its first ones after `query.after`. */
export async function searchAll(
  session: Session,
  sources: readonly TagSource[],
  query: TagQuery,
): Promise<TagPage> {
  const entries = new Map<string, TagEntry>()
  let more = false
  for (const source of sources) {
    const page = await source.search(session, query)
    more ||= page.more
    for (const entry of page.tags) if (!entries.has(entry.name)) entries.set(entry.name, entry)
  }
  const sorted = [...entries.values()].sort((a, b) => compareNames(a.name, b.name))
  return { tags: sorted.slice(0, query.limit), more: more || sorted.length > query.limit }
}

function pageOf(entries: readonly TagEntry[], { pattern, after, limit }: TagQuery): TagPage {
  const found = entries
    .filter(({ name }) => after === null || compareNames(name, after) > 0)
    .filter(({ name, metadata }) => pattern === null || pattern.matches(name, metadata.description))
    .sort((a, b) => compareNames(a.name, b.name))
  return { tags: found.slice(0, limit), more: found.length > limit }
}

function withMetadata(names: readonly string[], found: readonly (TagMetadata | null)[]) {
  return new Map(
    names.flatMap((name, index) => (found[index] === null ? [] : [[name, found[index]!] as const])),
  )
}

/** The keys that have a row. */
async function keysThatExist(
  session: Session,
  relation: Relation,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const asked = [...new Set(keys)].filter(canHold)
  if (asked.length === 0) return new Set()
  const parameters = new Parameters()
  const rows = await session.query(
    `SELECT q.tag FROM unnest(${parameters.add(texts(asked), 'text[]')}) AS q(tag)
      CROSS JOIN LATERAL (SELECT FROM ${relation.from} AS p WHERE ${relation.ofKey!('q.tag')} LIMIT 1) AS k`,
    parameters.values,
  )
  return new Set(rows.map(([key]) => key!))
}

/** SQL of the different texts in a column: each step looks up the next one, however many rows are between them. */
function distinctTexts({ from }: Relation, column: string): string {
  const next = (condition: string) =>
    `SELECT p.${column} FROM ${from} AS p WHERE p.${column} ${condition} ORDER BY p.${column} LIMIT 1`
  return `(
    WITH RECURSIVE d(name) AS (
      (${next('IS NOT NULL')}) UNION ALL SELECT (${next('> d.name')}) FROM d WHERE d.name IS NOT NULL
    ) SELECT d.name::text AS name FROM d WHERE d.name IS NOT NULL
  )`
}
