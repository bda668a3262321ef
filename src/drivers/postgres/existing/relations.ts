import type { NarrowConfig, TagsConfig, WideConfig } from '../config.ts'
import type { Relation } from '../relation.ts'
import { identifier, literal } from '../text.ts'
import {
  fractionalTime,
  integerTime,
  TIMESTAMP_UTC,
  TIMESTAMPTZ,
  type TimeColumn,
  type TimeUnit,
  zonedTimestamp,
} from '../time-column.ts'
import { type ColumnTypes, type Describer, fromOf, TYPE } from './describe.ts'

/** What both kinds of tables of points have. */
type PointsConfig = Pick<
  NarrowConfig | WideConfig,
  'schema' | 'table' | 'query' | 'time' | 'timeZone' | 'timeUnit' | 'version' | 'unique' | 'status'
>

/** A table with a row for each point. */
export async function narrowRelation(
  path: string,
  config: NarrowConfig,
  tags: TagsConfig | undefined,
  describer: Describer,
): Promise<Relation> {
  const types = await typesOf(path, config, [config.tag, config.value], describer)
  const shared = await sharedParts(path, config, [config.tag, config.time], types, describer)
  const tag = `p.${identifier(config.tag)}`
  const value = valueColumn(`${path}.value`, config.value, types, describer)
  const key =
    tags?.key === undefined ? null : await keyOf(path, config, { ...tags, key: tags.key }, describer)
  if (key === null) checkText(`${path}.tag`, config.tag, types, describer)
  return {
    ...shared.parts,
    ...valueParts(config, value, shared.isUnique),
    key,
    ofKey: (given) => `${tag} = ${given}`,
  }
}

/** A table with a column for each tag; one relation for each column. */
export async function wideRelations(
  path: string,
  config: WideConfig,
  describer: Describer,
): Promise<ReadonlyMap<string, Relation>> {
  const columns = Object.keys(config.values)
  const own = config.tag === undefined ? [] : [config.tag]
  const types = await typesOf(path, config, [...columns, ...own], describer)
  const shared = await sharedParts(path, config, [...own, config.time], types, describer)
  if (config.tag !== undefined) checkText(`${path}.tag`, config.tag, types, describer)
  const tag = config.tag === undefined ? null : `p.${identifier(config.tag)}`
  return new Map(
    columns.map((column) => {
      const value = valueColumn(`${path}.values`, column, types, describer)
      const relation: Relation = {
        ...shared.parts,
        ...valueParts(config, value, shared.isUnique),
        key: null,
        ofKey: tag === null ? null : (given) => `${tag} = ${given}`,
        // A row of another tag's point: this one has none at its time.
        where: [...shared.parts.where, `p.${identifier(column)} IS NOT NULL`],
      }
      return [column, relation]
    }),
  )
}

/** Refuses a column whose texts would not be compared as they are. */
export function checkText(path: string, column: string, types: ColumnTypes, describer: Describer): void {
  const type = types.get(column)
  if (type === TYPE.text || type === TYPE.varchar || type === TYPE.name) return
  throw describer.wrong(`${path} has to be a text or varchar column`)
}

function typesOf(path: string, config: PointsConfig, columns: readonly string[], describer: Describer) {
  const more = [config.time, config.version, config.status?.column].filter((column) => column !== undefined)
  return describer.types(path, config, [...new Set([...columns, ...more])])
}

async function sharedParts(
  path: string,
  config: PointsConfig,
  identity: readonly string[],
  types: ColumnTypes,
  describer: Describer,
) {
  const time = timeOf(path, config, types, describer)
  const timeColumn = `p.${identifier(config.time)}`
  const isUnique = config.unique || (await describer.isUnique(config, identity))
  const parts = { from: fromOf(config), time, timeColumn, where: time.accepted(timeColumn) }
  return { parts, isUnique }
}

/**
 * Of several rows with one time the one with the highest version is the point; without a version, or where it is the
 * same, a good one, and of those the one with the highest value: any rule will do that gives the same answer every
 * time.
 */
function valueParts(config: PointsConfig, value: string, isUnique: boolean) {
  const status =
    config.status === undefined
      ? ''
      : ` AND coalesce(p.${identifier(config.status.column)}::text IN (${config.status.good.map(literal).join(', ')}), false)`
  const good = `(coalesce(abs(${value}) < 'Infinity', false)${status})`
  const version = config.version === undefined ? '' : `p.${identifier(config.version)} DESC NULLS LAST, `
  return { value, good, newestFirst: isUnique ? null : `${version}${good} DESC, ${value} DESC NULLS LAST` }
}

function timeOf(path: string, config: PointsConfig, types: ColumnTypes, describer: Describer): TimeColumn {
  const { timeZone, timeUnit } = config
  const type = types.get(config.time)
  switch (type) {
    case TYPE.timestamptz:
      return TIMESTAMPTZ
    case TYPE.timestamp:
      if (timeZone === undefined) {
        throw describer.wrong(`${path}.timeZone is missing: the time column is a timestamp without time zone`)
      }
      return timeZone === 'UTC' ? TIMESTAMP_UTC : zonedTimestamp(timeZone)
    case TYPE.int2:
    case TYPE.int4:
    case TYPE.int8:
      return integerTime(needUnit(path, timeUnit, describer))
    case TYPE.float8:
      return fractionalTime(needUnit(path, timeUnit, describer), 'float8')
    case TYPE.numeric:
    case TYPE.unboundedNumeric:
      return fractionalTime(needUnit(path, timeUnit, describer), 'numeric')
    default:
      throw describer.wrong(`${path}.time has to be a timestamp, integer, double precision or numeric column`)
  }
}

function needUnit(path: string, unit: TimeUnit | undefined, describer: Describer): TimeUnit {
  if (unit === undefined) throw describer.wrong(`${path}.timeUnit is missing: the time column is a number`)
  return unit
}

const NUMBERS: readonly (number | undefined)[] = [
  TYPE.int2,
  TYPE.int4,
  TYPE.int8,
  TYPE.float4,
  TYPE.float8,
  TYPE.numeric,
]

function valueColumn(path: string, column: string, types: ColumnTypes, describer: Describer): string {
  const type = types.get(column)
  if (type === TYPE.bool) return `p.${identifier(column)}::integer::double precision`
  if (NUMBERS.includes(type)) return `p.${identifier(column)}::double precision`
  if (type === TYPE.unboundedNumeric) return doubleOf(`p.${identifier(column)}`)
  throw describer.wrong(`${path} has to be a column of numbers or booleans`)
}

/** Beyond these a cast to a double fails its whole statement: the one side is rounded to infinity, the other to 0. */
const TOO_LARGE = '1.797693134862315807e308'
const TOO_SMALL = '2.47032822920623273e-324'

/**
 * A `numeric` as a double: infinite, and so BAD, where it is too large for one, 0 where it is smaller than the
 * smallest.
 */
function doubleOf(column: string): string {
  return `(CASE WHEN abs(${column}) >= ${TOO_LARGE} THEN 'Infinity' WHEN abs(${column}) < ${TOO_SMALL} THEN 0
    ELSE ${column}::double precision END)`
}

/** The look-up of a tag's key in the table of tags. */
async function keyOf(
  path: string,
  config: NarrowConfig,
  tags: TagsConfig & { readonly key: string },
  describer: Describer,
): Promise<string> {
  const key = `t.${identifier(tags.key)}`
  const comparable = await describer.canCompare(
    `SELECT 1 FROM ${fromOf(config)} AS p, ${fromOf(tags)} AS t WHERE p.${identifier(config.tag)} = ${key} LIMIT 0`,
  )
  if (!comparable)
    throw describer.wrong(`${path}.tag cannot be compared with existing.tags.key: they have other types`)
  return `SELECT ${key} AS key FROM ${fromOf(tags)} AS t WHERE t.${identifier(tags.name)} = q.tag LIMIT 1`
}
