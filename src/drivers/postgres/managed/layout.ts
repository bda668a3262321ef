import { Places } from '../places.ts'
import type { Relation } from '../relation.ts'
import type { TagTable } from '../tag-table.ts'
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

export function managedTagTable({ tags }: ManagedTables): TagTable {
  return {
    from: tags,
    name: 't.name',
    description: 't.description',
    units: 't.units',
    stepped: 't.stepped',
  }
}
