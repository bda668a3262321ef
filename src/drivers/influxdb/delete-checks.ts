import type { CallContext } from '../../historian/contract.ts'
import type { InfluxClient, Statement } from './client.ts'
import { notSupported } from './errors.ts'
import type { SeriesField } from './layout.ts'
import { quoteIdentifier } from './quote.ts'
import { fromClause, whereClause } from './statements.ts'
import type { WriteTarget } from './writes.ts'

/*
 * What a delete would take besides the points that it is about: InfluxDB knows neither single fields nor retention
 * policies there.
 */

/** A range of a series whose points are to go. */
export interface Doomed {
  readonly series: SeriesField
  readonly from: number
  readonly to: number
}

/**
 * The tag keys of the measurements concerned. InfluxDB deletes points with all their fields, so a measurement that has
 * fields of others is left alone.
 */
export async function seriesKeys(
  target: WriteTarget,
  spans: readonly Doomed[],
  context: CallContext,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { client, historian, status } = target
  const keys = new Map<string, string[]>()
  const byMeasurement = Map.groupBy(spans, ({ series }) => series.measurement)
  const foreign = new Set<string>()
  const statements = Array.from(byMeasurement, ([measurement, some]): Statement[] => {
    const ours = new Set<unknown>([...some.map(({ series }) => series.field), status.field])
    const found: string[] = []
    keys.set(measurement, found)
    const from = `FROM ${quoteIdentifier(measurement)}`
    return [
      {
        text: `SHOW TAG KEYS ${from}`,
        take: ({ values = [] }) => {
          for (const [key] of values) found.push(String(key))
        },
      },
      {
        text: `SHOW FIELD KEYS ${from}`,
        take: ({ values = [] }) => {
          for (const [field] of values) if (!ours.has(field)) foreign.add(measurement)
        },
      },
    ]
  }).flat()
  await client.query('metadata', statements, context)
  const [first] = foreign
  if (first !== undefined)
    throw notSupported(historian, `delete from measurement ${first}, which has fields of others`)
  return keys
}

/** Conditions that no series with more tag keys meets. */
export function noOtherKeys(
  series: SeriesField,
  keys: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const own = new Set(series.tags.map(([key]) => key))
  const others = (keys.get(series.measurement) ?? []).filter((key) => !own.has(key))
  return others.map((key) => `${quoteIdentifier(key)} = ''`)
}

/**
 * InfluxDB deletes from all retention policies of a database at once: neither DELETE nor DROP SERIES takes the name of
 * one. Rejects with NOT_SUPPORTED where another policy than ours has points in one of the ranges.
 * @param ours `undefined` for the database's default
 */
export async function checkOtherPolicies(
  { client, historian }: WriteTarget,
  ours: string | undefined,
  spans: readonly Doomed[],
  keys: ReadonlyMap<string, readonly string[]>,
  context: CallContext,
): Promise<void> {
  if (spans.length === 0) return
  const others = await otherPolicies(client, ours, context)
  const held: { readonly policy: string; readonly measurement: string }[] = []
  const statements = others.flatMap((policy) =>
    spans.map(({ series, from, to }): Statement => {
      const { measurement } = series
      const where = whereClause(series, from, to, ...noOtherKeys(series, keys))
      return {
        text: `SELECT * ${fromClause(measurement, policy)} ${where} LIMIT 1`,
        take: ({ values = [] }) => {
          if (values.length > 0) held.push({ policy, measurement })
        },
      }
    }),
  )
  await client.query('metadata', statements, context)
  const [first] = held
  if (first === undefined) return
  const { policy, measurement } = first
  throw notSupported(
    historian,
    `delete from measurement ${measurement}: InfluxDB would delete points of retention policy ${policy} as well`,
  )
}

/** Retention policies of the database but ours. */
async function otherPolicies(
  client: InfluxClient,
  ours: string | undefined,
  context: CallContext,
): Promise<readonly string[]> {
  const names: string[] = []
  const take: Statement['take'] = ({ columns = [], values = [] }) => {
    const [name, isDefault] = [columns.indexOf('name'), columns.indexOf('default')]
    for (const row of values) {
      const isOurs = ours === undefined ? row[isDefault] === true : row[name] === ours
      if (!isOurs) names.push(String(row[name]))
    }
  }
  await client.query('metadata', [{ text: 'SHOW RETENTION POLICIES', take }], context)
  return names
}
