import assert from 'node:assert/strict'
import type { Historian } from '../../src/historian/contract.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import {
  concatColumns,
  lowerBound,
  type PointColumns,
  STATUS_BAD,
  sliceColumns,
} from '../../src/series/columns.ts'
import { goodPoints } from '../../src/series/interpolate.ts'
import type { Comparisons } from '../../src/series/reads.ts'
import { at, ramp } from './points.ts'
import { type Bench, gapsOf, type Promised } from './subject.ts'

/** A tag that crosses its middle now and then, with gaps, BAD points and a time at which it stands still. */
async function plant(bench: Bench): Promise<{ readonly tag: string; readonly raw: PointColumns }> {
  const wave = concatColumns([ramp(9_000, 1_000, 100), ramp(2_000, 2_000_000, 50), ramp(3, 9_000_000, 1)])
  for (let i = 0; i < wave.values.length; i++) {
    wave.values[i] = i > 5_100 && i < 6_000 ? 3 : Math.round(Math.sin(i / 300) * 500) / 100
    if (i % 2_711 < 3 || (i > 5_000 && i < 5_040)) wave.statuses[i] = STATUS_BAD
  }
  const tag = bench.tag()
  await bench.historian.write(writeBatch([{ tag, points: wave }], true), bench.context)
  await bench.flush?.()
  return { tag, raw: wave }
}

/** All pages of a range. */
async function pagesOf(
  historian: Historian,
  query: { readonly tag: string; readonly from: number; readonly to: number; readonly limit: number },
  compared: Comparisons,
  context: Bench['context'],
): Promise<PointColumns> {
  const pages: PointColumns[] = []
  let { from } = query
  for (let more = true; more; ) {
    const range = { ...query, from: at(from), to: at(query.to), order: 'asc', compared } as const
    const [page] = await historian.readRanges([range], context)
    assert.ok(page!.points.times.length <= query.limit)
    pages.push(page!.points)
    more = page!.more && page!.points.times.length > 0
    from = (page!.points.times.at(-1) ?? from) + 1
  }
  return concatColumns(pages)
}

/** On which side of a threshold a signal is at each time, by a plain loop; `null` where it has no value. */
function sidesOf(
  all: PointColumns,
  times: readonly number[],
  threshold: number,
  { stepped, maxGapUs = Number.POSITIVE_INFINITY }: { stepped: boolean; maxGapUs?: number | undefined },
): readonly (number | null)[] {
  const good = goodPoints(all)
  return times.map((time) => {
    const next = lowerBound(good.times, time)
    const isAt = good.times[next] === time
    const before = isAt ? next : next - 1
    if (before < 0) return null
    const value = good.values[before]!
    const length = (good.times[next] ?? Number.POSITIVE_INFINITY) - good.times[before]!
    if (isAt || length === 0) return Math.sign(value - threshold)
    if (stepped || length === Number.POSITIVE_INFINITY)
      return length > maxGapUs && time >= good.times[before]! + maxGapUs ? null : Math.sign(value - threshold)
    if (length > maxGapUs) return null
    const share = (time - good.times[before]!) / length
    return Math.sign(value + (good.values[next]! - value) * share - threshold)
  })
}

export function declareComparisonPromises(promised: Promised): void {
  promised('what a range leaves out makes no difference to its comparisons', async (bench) => {
    const { historian, context } = bench
    if (!historian.capabilities.comparisons) return
    const { tag, raw } = await plant(bench)
    const times = [...raw.times].flatMap((time, i) => [time, time + 1 + ((i * 7) % 49), time + 3_000])
    for (const thresholds of [[0], [3], [-4.995, 2.001], [100], [-1, 0, 1, 3]]) {
      for (const maxGapUs of [undefined, ...gapsOf(50, 100, 3_000, 1_500_000)]) {
        const compared = { thresholds, ...(maxGapUs !== undefined && { maxGapUs }) }
        for (const [from, to, limit] of [
          [0, 20_000_000, 100_000],
          [0, 20_000_000, 700],
          [400_050, 700_001, 100_000],
        ] as const) {
          const what = `${thresholds} with a gap of ${maxGapUs} from ${from}`
          const given = await pagesOf(historian, { tag, from, to, limit }, compared, context)
          assert.ok(given.times.every((time, i) => i === 0 || given.times[i - 1]! < time))
          const count = { tag, from: at(from), to: at(to), compared }
          const [most] = await historian.estimatePoints([count], 1_000_000, context)
          assert.ok(most! >= given.times.length, `${most} estimated, ${given.times.length} given: ${what}`)
          const inside = sliceColumns(raw, lowerBound(raw.times, from), lowerBound(raw.times, to))
          const first = inside.times[0]!
          const last = inside.times.at(-1)!
          const asked = times.filter((time) => first <= time && time <= last)
          for (const threshold of thresholds) {
            for (const stepped of [true, false]) {
              const shape = { stepped, maxGapUs }
              const expected = sidesOf(inside, asked, threshold, shape)
              assert.deepEqual(sidesOf(given, asked, threshold, shape), expected, what)
            }
          }
        }
      }
    }
  })
}
