import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { BlockView } from '../blocks/block.ts'
import { somePoints } from '../blocks/points.fixture.ts'
import type { Part, PartInfo, Tombstone } from './part.ts'
import type { PartStore } from './part-store.ts'

/** What is to stand in a part. */
export interface PartContent {
  readonly runs: readonly (readonly [tag: number, points: PointColumns])[]
  readonly tombstones: readonly Tombstone[]
}

/** Writes a part with such sequence numbers. */
export async function writePart(
  store: PartStore,
  name: string,
  { runs, tombstones }: PartContent,
  [firstSequence, lastSequence]: readonly [number, number] = [1, 1],
): Promise<PartInfo> {
  const writer = store.create(name, { firstSequence, lastSequence, replaces: [] })
  for (const tombstone of tombstones) writer.addTombstone(tombstone)
  for (const [tag, points] of runs) {
    writer.add(tag, points)
    await writer.drain()
  }
  return writer.finish()
}

/** All points of a tag in a part, through its blocks; `null` without any. */
export function readRun(part: Part, tag: number): PointColumns | null {
  const run = part.run(tag)
  if (run === null) return null
  const all = makeColumns(run.count)
  const view = new BlockView()
  let at = 0
  for (let block = 0; block < run.blocks; block++) {
    run.open(block, view)
    view.copyTo(all, at, 0, view.count)
    at += view.count
  }
  return all
}

/** Points as text, in which every bit counts. */
export function textOf({ times, values, statuses }: PointColumns): string {
  return Array.from(times, (time, i) => {
    const value = values[i]!
    return `${time} ${Object.is(value, -0) ? '-0' : value} ${statuses[i]}`
  }).join('\n')
}

/** Ids of tags, ascending: near each other, and far apart. */
export function someTags(most: number): fc.Arbitrary<readonly number[]> {
  const id = fc.oneof(
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 65_000, max: 66_000 }),
    fc.integer({ min: 1, max: 0xffff_ffff }),
  )
  return fc.uniqueArray(id, { minLength: 1, maxLength: most }).map((ids) => ids.toSorted((a, b) => a - b))
}

export const someTombstone: fc.Arbitrary<Tombstone> = fc
  .record({
    tag: fc.integer({ min: 1, max: 300 }),
    from: fc.oneof(fc.constant(Number.NEGATIVE_INFINITY), fc.integer({ min: -1e15, max: 1e15 })),
    length: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 1e15 })),
    sequence: fc.integer({ min: 1, max: 1e6 }),
  })
  .map(({ tag, from, length, sequence }) => ({
    tag,
    from,
    to: from === Number.NEGATIVE_INFINITY ? length : from + length,
    sequence,
  }))

/** Runs of a few and of many points, some with the times of the one before. */
export function someContent(mostTags: number, mostPoints: number): fc.Arbitrary<PartContent> {
  return someTags(mostTags).chain((tags) =>
    fc.record({
      runs: fc
        .tuple(
          ...tags.map(() =>
            fc.record({
              points: fc.oneof(
                { weight: 3, arbitrary: somePoints(5) },
                { weight: 2, arbitrary: somePoints(255) },
                { weight: 1, arbitrary: somePoints(mostPoints) },
              ),
              isShared: fc.boolean(),
            }),
          ),
        )
        .map((all) => {
          let before: PointColumns | null = null
          return tags.map((tag, i): readonly [number, PointColumns] => {
            const { points, isShared } = all[i]!
            const count = points.times.length
            const hasTimes: boolean = isShared && before !== null && before.times.length >= count
            const run = hasTimes ? { ...points, times: before!.times.slice(0, count) } : points
            before = run
            return [tag, run]
          })
        }),
      tombstones: fc.array(someTombstone, { maxLength: 20 }),
    }),
  )
}
