import { TidemarkError } from '../../errors/tidemark-error.ts'
import type { CallContext, TagRange } from '../../historian/contract.ts'
import { makeChange } from '../../historian/remote/change.ts'
import type { Statement } from './client.ts'
import { checkOtherPolicies, noOtherKeys, seriesKeys } from './delete-checks.ts'
import { countAll } from './estimates.ts'
import type { SeriesField } from './layout.ts'
import { BEGINNING, END } from './point-reads.ts'
import { quoteIdentifier } from './quote.ts'
import type { ScanSource } from './scan.ts'
import { tagConditions, whereClause } from './statements.ts'
import type { WriteTarget } from './writes.ts'

/** A range of a tag whose points are deleted, and the range of the call that they count for. */
interface Span {
  readonly series: SeriesField
  readonly from: number
  readonly to: number
  readonly range: number
}

/**
 * See Historian.deletePoints. Points are counted before; InfluxDB does not say how many it removed. What cannot be
 * deleted alone is refused, when it is only tried out (`dryRun`) too.
 */
export async function deletePoints(
  source: ScanSource,
  target: WriteTarget,
  ranges: readonly TagRange[],
  dryRun: boolean,
  context: CallContext,
): Promise<readonly number[]> {
  const spans = distinctSpans(target, ranges)
  const counted = await countAll(source, spans, context)
  const counts = ranges.map(() => 0)
  spans.forEach(({ range }, index) => {
    counts[range]! += counted[index]!
  })
  const doomed = spans.filter((_, index) => counted[index]! > 0)
  const keys = await seriesKeys(target, doomed, context)
  await checkOtherPolicies(target, target.retentionPolicy, doomed, keys, context)
  if (dryRun) return counts
  const statements = doomed.map(({ series, from, to }): Statement => {
    const where = whereClause(series, from, to, ...noOtherKeys(series, keys))
    return { text: `DELETE FROM ${quoteIdentifier(series.measurement)} ${where}` }
  })
  const { historian, client } = target
  await makeChange({ historian, signal: context.signal }, (change) =>
    client.changeAll('delete', statements, change),
  )
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
  const spans = names.map((name, range) => ({
    series: layout.parse(name)!,
    from: BEGINNING,
    to: END,
    range,
  }))
  const counts = await countAll(source, spans, context)
  const keys = await seriesKeys(target, spans, context)
  await checkOtherPolicies(target, target.retentionPolicy, spans, keys, context)
  const entries = names.map((name) => ({ series: own.seriesOf(name), from: BEGINNING, to: END }))
  await checkOtherPolicies(target, own.retentionPolicy, entries, new Map(), context)
  if (dryRun) return counts
  const drops = spans.map(({ series }): Statement => {
    const conditions = [...tagConditions(series), ...noOtherKeys(series, keys)].join(' AND ')
    const where = conditions === '' ? '' : ` WHERE ${conditions}`
    return { text: `DROP SERIES FROM ${quoteIdentifier(series.measurement)}${where}` }
  })
  const dropsOfEntries = names.map((name): Statement => ({ text: own.dropStatement(name) }))
  await makeChange({ historian, signal: context.signal }, async (change) => {
    await client.changeAll('delete', drops, change)
    await client.changeAll('delete', dropsOfEntries, change)
  })
  return counts
}

/** The ranges of each tag, cut so that they do not overlap; what ranges share counts for the first. */
function distinctSpans({ layout }: WriteTarget, ranges: readonly TagRange[]): Span[] {
  const spans: Span[] = []
  const taken = new Map<string, { readonly from: number; readonly to: number }[]>()
  for (const [range, { tag, from, to }] of ranges.entries()) {
    const series = layout.parse(tag)
    if (series === null || from >= to) continue
    const before = taken.getOrInsertComputed(tag, () => [])
    let rest = [{ from: Math.max(from, BEGINNING), to: Math.min(to, END) }]
    for (const other of before) {
      rest = rest.flatMap((chunk) => [
        { from: chunk.from, to: Math.min(chunk.to, other.from) },
        { from: Math.max(chunk.from, other.to), to: chunk.to },
      ])
      rest = rest.filter((chunk) => chunk.from < chunk.to)
    }
    before.push({ from, to })
    for (const chunk of rest) spans.push({ series, ...chunk, range })
  }
  return spans
}
