import { expect, type Measurement, quantile, seededRandom } from '../measure.ts'
import { memoryOf, type Service, startService } from '../service.ts'

/**
 * Writes at full speed into 10,000 tags and a reader of current values beside them, over HTTP. What is written first
 * only fills the log; then flushing goes on all the time. Nobody should see where it begins, and memory should stay
 * where it is.
 */
const TAGS = 10_000
const WRITERS = 2
/** Below the points at which the memory is flushed: nothing is flushed while these are written. */
const BEFORE_FLUSHING = 80
const WHILE_FLUSHING = Number(process.env.FLUSHING_REQUESTS ?? 600)
const START = Date.UTC(2026, 0, 1)

/** Most that was seen of the service that runs. */
let peak = { anonymous: 0, files: 0 }

interface Phase {
  readonly writeMs: number[]
  readonly readMs: number[]
}

const results: Measurement[] = []
// First without the reader: its answers are garbage that the writes have nothing to do with.
await withService(async (service) => {
  await run(service, 0, 20 + BEFORE_FLUSHING + WHILE_FLUSHING, false)
  results.push(memory('writes-alone'))
})
await withService(async (service) => {
  // The code is compiled, and all tags made.
  await run(service, 0, 20, false)
  const before = await run(service, 20, BEFORE_FLUSHING, true)
  const during = await run(service, 20 + BEFORE_FLUSHING, WHILE_FLUSHING, true)
  for (const [kind, items] of [
    ['writeMs', TAGS],
    ['readMs', 100],
  ] as const) {
    const name = kind === 'writeMs' ? 'write-10000-tags-x-1' : 'current-100-tags-beside'
    const quiet = summary(`flushing/${name}/before`, before[kind], items, '')
    const ratio = summary('', during[kind], items, '').p99Ms / quiet.p99Ms
    results.push(
      quiet,
      summary(
        `flushing/${name}/while-flushing`,
        during[kind],
        items,
        `p99 ${ratio.toFixed(2)} x that before`,
      ),
    )
  }
  results.push(memory('writes-and-reads'))
})
process.stdout.write(JSON.stringify(results))

async function withService(measure: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService()
  peak = { anonymous: 0, files: 0 }
  const timer = setInterval(() => {
    const now = memoryOf(service.pid)
    peak = { anonymous: Math.max(peak.anonymous, now.anonymous), files: Math.max(peak.files, now.files) }
  }, 50)
  try {
    await measure(service)
  } finally {
    clearInterval(timer)
    await service.stop()
  }
}

function memory(name: string): Measurement {
  return {
    name: `flushing/memory/${name}`,
    runs: 1,
    medianMs: peak.anonymous,
    p99Ms: peak.anonymous,
    items: null,
    note: `${peak.anonymous.toFixed(0)} MB anonymous at most, ${peak.files.toFixed(0)} MB of files mapped`,
  }
}

async function run(service: Service, from: number, requests: number, withReader: boolean): Promise<Phase> {
  const phase: Phase = { writeMs: [], readMs: [] }
  let next = from
  let isDone = false
  const writer = async () => {
    while (next < from + requests) {
      const body = bodyOf(next++)
      const began = performance.now()
      await service.post('/historian/write/points', body)
      phase.writeMs.push(performance.now() - began)
    }
  }
  const current = JSON.stringify({
    requests: Object.fromEntries(
      Array.from({ length: 100 }, (_, tag) => [
        `c${tag}`,
        { type: 'CURRENT_POINT', tag: `local/T${tag * 97}` },
      ]),
    ),
  })
  const reader = async () => {
    while (!isDone) {
      const began = performance.now()
      const answer = (await service.post('/historian/multi', current)).toString()
      phase.readMs.push(performance.now() - began)
      expect(answer.includes('"errors":{}'), answer.slice(0, 300))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const reading = withReader ? reader() : Promise.resolve()
  await Promise.all(Array.from({ length: WRITERS }, writer))
  isDone = true
  await reading
  return phase
}

function bodyOf(index: number): string {
  const random = seededRandom(index)
  const time = START + index * 1_000
  const points = Array.from(
    { length: TAGS },
    (_, tag) => `"local/T${tag}":[{"timestamp":${time},"value":${Math.round(random() * 100_000) / 1_000}}]`,
  )
  return `{"createTags":true,"points":{${points.join(',')}}}`
}

function summary(name: string, times: readonly number[], items: number, note: string): Measurement {
  const sorted = times.toSorted((a, b) => a - b)
  return {
    name,
    runs: sorted.length,
    medianMs: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    items,
    note,
  }
}
