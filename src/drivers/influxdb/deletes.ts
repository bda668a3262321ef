import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, TagRange } from '../../historian/contract.ts'
import type { Statement } from './client.ts'
import { notSupported } from './errors.ts'
import { countAll } from './estimates.ts'
import type { SeriesField } from './layout.ts'
import { BEGINNING, END } from './point-reads.ts'
import { quoteIdentifier } from './quote.ts'
import type { ScanSource } from './scan.ts'
import { tagConditions, whereClause } from './statements.ts'
import type { WriteTarget } from './writes.ts'

/** A stretch of a tag whose points go, and the range of the call that they count for. */
interface Stretch {
  readonly series: SeriesField
  readonly from: number
  readonly to: number
  readonly range: number
}

/** See Historian.deletePoints. Points are counted before; InfluxDB does not say how many it removed. */
export async function deletePoints(
  source: ScanSource,
  target: WriteTarget,
  ranges: readonly TagRange[],
  dryRun: boolean,
  context: CallContext,
): Promise<readonly number[]> {
  const stretches = distinctStretches(target, ranges)
  const counted = await countAll(source, stretches, context)
  const counts = ranges.map(() => 0)
  stretches.forEach(({ range }, index) => {
    counts[range]! += counted[index]!
  })
  if (dryRun) return counts
  const doomed = stretches.filter((_, index) => counted[index]! > 0)
  const keys = await seriesKeys(target, doomed, context)
  const statements = doomed.map(({ series, from, to }): Statement => {
    const where = whereClause(series, from, to, ...noOtherKeys(series, keys))
    return { text: `DELETE FROM ${quoteIdentifier(series.measurement)} ${where}` }
  })
  await target.client.query('delete', statements, context)
  return counts
}

/** See Historian.deleteTags. Points first: a tag whose removal was cut off is still there, and can be removed again. */
export async function deleteTags(
  source: ScanSource,
  target: WriteTarget,
  names: readonly string[],
  dryRun: boolean,
  context: CallContext,
): Promise<readonly number[]> {
  const { historian, layout, tags, own, client } = target
  const found = await tags.find(names, context)
  const missing = names.find((_, index) => found[index] === null)
  if (missing !== undefined) throw new TidemarkError('TAG_NOT_FOUND', { historian, tag: missing })
  // What exists has a name that stands for a series.
  const stretches = names.map((name, range) => ({
    series: layout.parse(name)!,
    from: BEGINNING,
    to: END,
    range,
  }))
  const counts = await countAll(source, stretches, context)
  if (dryRun) return counts
  const keys = await seriesKeys(target, stretches, context)
  const drops = stretches.map(({ series }): Statement => {
    const conditions = [...tagConditions(series), ...noOtherKeys(series, keys)].join(' AND ')
    const where = conditions === '' ? '' : ` WHERE ${conditions}`
    return { text: `DROP SERIES FROM ${quoteIdentifier(series.measurement)}${where}` }
  })
  await client.query('delete', drops, context)
  await client.query(
    'delete',
    names.map((name) => ({ text: own.dropStatement(name) })),
    context,
  )
  return counts
}

/** The ranges of each tag cut to stretches that do not overlap; what ranges share counts for the first. */
function distinctStretches({ layout }: WriteTarget, ranges: readonly TagRange[]): Stretch[] {
  const stretches: Stretch[] = []
  const taken = new Map<string, { readonly from: number; readonly to: number }[]>()
  for (const [range, { tag, from, to }] of ranges.entries()) {
    const series = layout.parse(tag)
    if (series === null || from >= to) continue
    const before = taken.getOrInsertComputed(tag, () => [])
    let rest = [{ from: Math.max(from, BEGINNING), to: Math.min(to, END) }]
    for (const other of before) {
      rest = rest.flatMap((piece) => [
        { from: piece.from, to: Math.min(piece.to, other.from) },
        { from: Math.max(piece.from, other.to), to: piece.to },
      ])
      rest = rest.filter((piece) => piece.from < piece.to)
    }
    before.push({ from, to })
    for (const piece of rest) stretches.push({ series, ...piece, range })
  }
  return stretches
}

/**
 * The tag keys of the measurements concerned. InfluxDB deletes points with all their fields, so a measurement that has
 * fields of others is left alone.
 */
async function seriesKeys(
  target: WriteTarget,
  stretches: readonly { readonly series: SeriesField }[],
  context: CallContext,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { client, historian, status } = target
  const keys = new Map<string, string[]>()
  const byMeasurement = Map.groupBy(stretches, ({ series }) => series.measurement)
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
function noOtherKeys(series: SeriesField, keys: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const own = new Set(series.tags.map(([key]) => key))
  const others = (keys.get(series.measurement) ?? []).filter((key) => !own.has(key))
  return others.map((key) => `${quoteIdentifier(key)} = ''`)
}
