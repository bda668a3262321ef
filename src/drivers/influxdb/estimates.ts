import type { CallContext, TagRange } from '../../historian/contract.ts'
import { US_PER_DAY } from '../../time/instant.ts'
import type { SeriesChunk } from './answer-lines.ts'
import type { Statement } from './client.ts'
import type { Layout, SeriesField } from './layout.ts'
import { BEGINNING, END } from './point-reads.ts'
import { quoteIdentifier } from './quote.ts'
import { isOfSeries, type ScanSource } from './scan.ts'
import { fromClause, whereClause } from './statements.ts'

/**
 * Counting is 0.3 microseconds a point at the server and cannot stop at a cap by itself, so longer ranges are counted
 * in chunks.
 */
const FIRST_CHUNK_US = 32 * US_PER_DAY
const GROWTH = 4
/** Ranges whose statements are made at a time, so that an aborted call is noticed. */
const RANGES_AT_ONCE = 1_000

/**
 * Counts of points, of each range until it reaches the cap; see Historian.estimatePoints. Exact unless points share a
 * microsecond.
 */
export async function countPoints(
  source: ScanSource,
  layout: Layout,
  ranges: readonly TagRange[],
  cap: number,
  context: CallContext,
): Promise<readonly number[]> {
  const counts: number[] = []
  for (let at = 0; at < ranges.length; at += RANGES_AT_ONCE) {
    const counters = ranges.slice(at, at + RANGES_AT_ONCE).map(({ tag, from, to }) => ({
      series: layout.parse(tag),
      from: Math.max(from, BEGINNING),
      to: Math.min(to, END),
      chunk: FIRST_CHUNK_US,
      count: 0,
    }))
    for (let open = counters.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
      const statements = open.map((counter) => {
        // Backwards: the newest points are the densest, as a rule.
        const from = Math.max(counter.from, counter.to - counter.chunk)
        const statement = countStatement(source, counter.series!, from, counter.to, (count) => {
          counter.count += count
        })
        counter.to = from
        counter.chunk *= GROWTH
        return statement
      })
      await source.client.query('read', statements, context)
      for (const counter of open) if (counter.count >= cap) counter.to = counter.from
    }
    for (const { count } of counters) counts.push(Math.min(count, cap))
  }
  return counts
}

/** Counts exactly, however many there are; for deletes. */
export async function countAll(
  source: ScanSource,
  ranges: readonly { readonly series: SeriesField; readonly from: number; readonly to: number }[],
  context: CallContext,
): Promise<number[]> {
  const counts = ranges.map(() => 0)
  const statements = ranges.flatMap(({ series, from, to }, index) =>
    from < to
      ? [
          countStatement(source, series, from, to, (count) => {
            counts[index] = count
          }),
        ]
      : [],
  )
  await source.client.query('read', statements, context)
  return counts
}

function isOpen({ series, from, to }: { series: SeriesField | null; from: number; to: number }): boolean {
  return series !== null && from < to
}

function countStatement(
  { retentionPolicy }: ScanSource,
  series: SeriesField,
  from: number,
  to: number,
  found: (count: number) => void,
): Statement {
  return {
    text:
      `SELECT count(${quoteIdentifier(series.field)}) ${fromClause(series.measurement, retentionPolicy)} ` +
      `${whereClause(series, from, to)} GROUP BY *`,
    take: (chunk: SeriesChunk) => {
      if (isOfSeries(chunk, series)) found(Number(chunk.values?.[0]?.[1] ?? 0))
    },
  }
}
