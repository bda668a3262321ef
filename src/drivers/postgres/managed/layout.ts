import { Places } from '../places.ts'
import type { Relation } from '../relation.ts'
import { NO_OPTIONAL_COLUMNS, type TagTable } from '../tag-table.ts'
import { identifier } from '../text.ts'
import { MICROSECONDS } from '../time-column.ts'

/** Names of Tidemark's own tables, quoted, with their schema. */
export interface ManagedTables {
  /** As configured, not quoted. */
  readonly schemaName: string
  readonly schema: string
  readonly version: string
  readonly tags: string
  readonly points: string
}

export function managedTables(schemaName: string): ManagedTables {
  const schema = identifier(schemaName)
  return {
    schemaName,
    schema,
    version: `${schema}.tidemark_schema`,
    tags: `${schema}.tags`,
    points: `${schema}.points`,
  }
}

/** The first version of the tables with columns for `maxGap` and `states`. */
const OPTIONAL_COLUMNS_VERSION = 3

/** Tidemark's own tables as reads see them. */
export function managedPlaces({ tags, points }: ManagedTables): Places {
  const relation: Relation = {
    from: points,
    key: `SELECT id AS key FROM ${tags} WHERE name = q.tag LIMIT 1`,
    ofKey: (key) => `p.tag_id = ${key}`,
    timeColumn: 'p.time',
    time: MICROSECONDS,
    value: 'p.value',
    good: '(p.status = 0)',
    where: [],
    newestFirst: null,
  }
  return new Places((tag) => ({ relation, tag }))
}

/** @param version  of the tables, which need not be the newest where nothing may be changed */
export function managedTagTable({ tags }: ManagedTables, version: number): TagTable {
  return {
    from: tags,
    name: 't.name',
    description: 't.description',
    units: 't.units',
    stepped: 't.stepped',
    ...(version < OPTIONAL_COLUMNS_VERSION
      ? NO_OPTIONAL_COLUMNS
      : { maxGap: 't.max_gap', states: 't.states' }),
  }
}
