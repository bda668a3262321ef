import { writeBatch } from '../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../src/series/columns.ts'
import { columnOf, missing, readRows } from '../../test/data/files.ts'
import { expect, type Measurement } from '../measure.ts'
import { atOneHertz, openBenchStore, randomWalk, signal } from './plant.ts'

// Bytes a point on disk, the whole file, all of a tag written in one request and read back bit by bit.

const measurements: Measurement[] = []

async function size(name: string, tags: readonly PointColumns[]): Promise<void> {
  const bench = await openBenchStore()
  const empty = bench.fileBytes()
  const start = performance.now()
  for (const [index, points] of tags.entries()) {
    await bench.store.write(writeBatch([{ tag: `tag-${index}`, points }], true), signal)
  }
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
  const perPoint = (bench.fileBytes() - empty) / count
  measurements.push({
    name: `storage/size/${name}`,
    runs: 1,
    medianMs: elapsed,
    p99Ms: elapsed,
    items: count,
    note: `${perPoint.toFixed(3)} bytes a point`,
  })
  await bench.close()
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
