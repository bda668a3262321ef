import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns, sliceColumns } from '../../src/series/columns.ts'
import { columnOf, missing, readRows } from '../../test/data/files.ts'
import { expect, type Measurement } from '../measure.ts'
import { atOneHertz, openBenchStore, randomWalk, signal } from './plant.ts'

// Bytes a point on disk once all is flushed and merged: the parts, and all files but the reserve. A year's walk comes
// in requests of 50,000 points, a column of a file in one request; everything is read back bit by bit.

const BATCH = 50_000

const measurements: Measurement[] = []

async function size(name: string, tags: readonly PointColumns[]): Promise<void> {
  const bench = await openBenchStore()
  const start = performance.now()
  for (const [index, points] of tags.entries()) {
    for (let from = 0; from < points.times.length; from += BATCH) {
      const part = sliceColumns(points, from, Math.min(points.times.length, from + BATCH))
      await bench.store.write(writeBatch([{ tag: `tag-${index}`, points: part }], true), signal)
    }
  }
  await bench.store.flush()
  const elapsed = performance.now() - start
  let count = 0
  for (const [index, points] of tags.entries()) {
    count += points.times.length
    const range = { tag: `tag-${index}`, from: -1e16, to: 1e16, order: 'asc', limit: 1e9 } as const
    const [found] = await bench.store.readRanges([range], signal)
    expect(
      found!.points.times.every((time, i) => time === points.times[i]),
      'times',
    )
    expect(
      found!.points.values.every((value, i) => Object.is(value, points.values[i])),
      'values',
    )
  }
  const file = bench.fileBytes()
  const used = await bench.close()
  measurements.push({
    name: `storage/size/${name}`,
    runs: 1,
    medianMs: elapsed,
    p99Ms: elapsed,
    items: count,
    note: `${(used / count).toFixed(3)} bytes a point in parts, ${(file / count).toFixed(3)} all files`,
  })
}

const next = randomWalk(1)
await size('random-walk', [atOneHertz(0, 5_000_000, () => next() / 1_000)])
for (const [file, separator] of [
  ['machine-temperature.csv', ','],
  ['pump-loop.csv', ';'],
  ['pump-loop-valve1.csv', ';'],
] as const) {
  if (missing(file) !== false) continue
  const rows = readRows(file, separator)
  const tags = [...rows[0]!.values.keys()].map((name) => {
    const samples = columnOf(rows, name)
    const points = makeColumns(samples.length)
    samples.forEach(({ time, value }, i) => {
      points.times[i] = time * 1_000
      points.values[i] = value
    })
    return points
  })
  await size(file, tags)
}
console.log(JSON.stringify(measurements))
