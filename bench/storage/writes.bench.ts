import { readFileSync } from 'node:fs'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { type Measurement, measure, quantile } from '../measure.ts'
import { atOneHertz, openBenchStore, randomWalk, signal } from './plant.ts'

// Durable writes in process: without HTTP and JSON, so that what storing costs is not hidden by them.

const measurements: Measurement[] = []
for (const [tags, points, requests] of [
  [1_000, 10, 400],
  [10_000, 1, 400],
] as const) {
  const bench = await openBenchStore()
  const walks = Array.from({ length: 100 }, (_, seed) => randomWalk(seed))
  const names = Array.from({ length: tags }, (_, tag) => `tag-${tag}`)
  const prepared = Array.from({ length: requests + 1 }, (_, request) =>
    walks.map((next) => atOneHertz(request * points, points, () => next() / 1_000)),
  )
  const write = (request: number) =>
    bench.store.write(
      writeBatch(
        names.map((tag, index) => ({ tag, points: prepared[request]![index % walks.length]! })),
        true,
      ),
      signal,
    )
  await write(0)
  const cpu = process.cpuUsage()
  const measured = await measure(`storage/write/${tags}-tags-x-${points}`, (run) => write(run + 1), {
    warmUps: 0,
    runs: requests,
    items: tags * points,
  })
  const { user, system } = process.cpuUsage(cpu)
  const stored = tags * points * (requests + 1)
  const nanoseconds = ((user + system) * 1_000) / stored
  const note = `${nanoseconds.toFixed(0)} ns of processor a point, ${(bench.fileBytes() / stored).toFixed(2)} bytes a point`
  measurements.push({ ...measured, note })
  await bench.close()
}
// Flush and merge alone: rounds of a point for each of 10,000 tags are collected in memory and then moved into parts.
{
  const TAGS = 10_000
  const ROUNDS = 100
  const EPOCHS = 8
  const bench = await openBenchStore({ points: 1e9, records: 1e9, ageMs: 1e9 })
  const walks = Array.from({ length: 100 }, (_, seed) => randomWalk(seed))
  const names = Array.from({ length: TAGS }, (_, tag) => `tag-${tag}`)
  const wall: number[] = []
  const processor: number[] = []
  const written: number[] = []
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (let round = 0; round < ROUNDS; round++) {
      const points = walks.map((next) => atOneHertz(epoch * ROUNDS + round, 1, () => next() / 1_000))
      const batch = names.map((tag, index) => ({ tag, points: points[index % walks.length]! }))
      await bench.store.write(writeBatch(batch, true), signal)
    }
    const bytes = writtenBytes()
    const cpu = process.cpuUsage()
    const start = performance.now()
    await bench.store.flush()
    wall.push(performance.now() - start)
    const { user, system } = process.cpuUsage(cpu)
    processor.push((user + system) / 1_000)
    written.push(writtenBytes() - bytes)
  }
  const stored = TAGS * ROUNDS * EPOCHS
  const file = bench.fileBytes()
  const used = await bench.close()
  const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length
  wall.sort((a, b) => a - b)
  measurements.push({
    name: `storage/flush/${TAGS}-tags-x-${ROUNDS}`,
    runs: EPOCHS,
    medianMs: quantile(wall, 0.5),
    p99Ms: quantile(wall, 0.99),
    items: TAGS * ROUNDS,
    note:
      `${mean(processor).toFixed(0)} ms of processor on average (${processor.map((ms) => ms.toFixed(0)).join(', ')}), ` +
      `${(mean(written) / TAGS / ROUNDS).toFixed(0)} bytes written a point, ` +
      `${(used / stored).toFixed(2)} bytes a point in parts, ${(file / stored).toFixed(2)} all files`,
  })
}
console.log(JSON.stringify(measurements))

/** Bytes that this process has handed to the disk; 0 where the system does not tell. */
function writtenBytes(): number {
  try {
    return Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
