import { writeBatch } from '../../src/historian/write-batch.ts'
import { type Measurement, measure } from '../measure.ts'
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
console.log(JSON.stringify(measurements))
