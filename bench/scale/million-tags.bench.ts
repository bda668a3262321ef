import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { historianDirectory } from '../../src/storage/directory/data-directory.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { listManifests, readManifest } from '../../src/storage/manifest/manifest-file.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'
import { memoryOf, processorMs, startService, workersOf } from '../service.ts'

/**
 * A plant of a million tags: made, written a point each a round, searched and read, and started again. MILLION_TAGS and
 * MILLION_ROUNDS take other sizes; with MILLION_RATE=200000 so many points/s are written at most, in place of as many
 * as can be; with MILLION_WORKERS=2 there are so many worker processes, each with its memory, and processor time is
 * that of all.
 */
const TAGS = Number(process.env.MILLION_TAGS ?? 1_000_000)
const ROUNDS = Number(process.env.MILLION_ROUNDS ?? 60)
const RATE = Number(process.env.MILLION_RATE ?? Number.POSITIVE_INFINITY)
const WORKERS = Number(process.env.MILLION_WORKERS ?? 1)
/** After so many rounds the parts are counted for the first time. */
const EARLY_ROUNDS = Math.ceil(ROUNDS / 3)
const PER_CALL = 10_000
const START = Date.UTC(2026, 0, 1)
const ROUND_MS = 60_000

const service = await startService(WORKERS > 1 ? { TIDEMARK_WORKERS: String(WORKERS) } : {})
const measurements: Measurement[] = []
/** Anonymous memory of each process at most, in megabytes. */
const peaks = new Map<number, number>()
const looking = setInterval(look, 100)
try {
  await makeTags()
  await writeRounds()
  // What came last is flushed and merged meanwhile.
  await delay(20_000)
  add('parts/idle', countParts().counting, 'parts that count 20 s after the last point')
  add('memory', peaks.get(service.pid)!, 'MB of anonymous memory at most, of the process that owns the data')
  await read()
  await search()
  addMemory()
  const startMs = await service.restart()
  add('start', startMs, 'ms from the start of the process until it answers')
  add(
    'start/processor',
    processor(),
    'ms of processor of it; what the machine does beside it has no part in that',
  )
} finally {
  clearInterval(looking)
  await service.stop()
}
process.stdout.write(JSON.stringify(measurements))

function look(): void {
  for (const pid of [service.pid, ...workersOf(service.pid)]) {
    peaks.set(pid, Math.max(peaks.get(pid) ?? 0, memoryOf(pid).anonymous))
  }
}

function addMemory(): void {
  const [first = Number.NaN, ...others] = peaks.values()
  add('memory/with-searches', first, 'MB at most, of the same process')
  for (const [index, peak] of others.entries()) {
    const now = memoryOf([...peaks.keys()][index + 1]!).anonymous
    add(`memory/worker-${index + 1}`, peak, `MB at most, of a worker; ${now.toFixed(0)} MB in the end`)
  }
}

/** Waits for some milliseconds; not at all where there are none. */
async function delay(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
}

/** Processor time of all processes so far, in milliseconds. */
function processor(): number {
  return [service.pid, ...workersOf(service.pid)].reduce((sum, pid) => sum + processorMs(pid), 0)
}

function nameOf(index: number): string {
  const area = String(Math.floor(index / 1_000)).padStart(4, '0')
  return `PLANT${index % 2}/AREA${area}/UNIT-${String(index % 1_000).padStart(4, '0')}.PV`
}

async function makeTags(): Promise<void> {
  const before = processor()
  const began = performance.now()
  for (let at = 0; at < TAGS; at += PER_CALL) {
    const entries = Object.fromEntries(
      Array.from({ length: Math.min(PER_CALL, TAGS - at) }, (_, index) => [
        `local/${nameOf(at + index)}`,
        { description: `Measurement ${at + index}`, units: 'bar' },
      ]),
    )
    await service.post('/historian/metadata/create', JSON.stringify({ entries }))
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  add(
    'make/processor',
    (processor() - before) / 1_000,
    `s of processor, ${seconds} s in all, ${PER_CALL} a call`,
  )
}

async function writeRounds(): Promise<void> {
  const random = seededRandom(1)
  const levels = Float64Array.from({ length: TAGS }, () => random() * 100)
  const before = processor()
  let sendingMs = 0
  let clientMs = 0
  let early = countParts()
  /** How many parts count after each round. */
  const counts: number[] = []
  const start = performance.now()
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < TAGS; at += PER_CALL) {
      await delay(start + ((round * TAGS + at) * 1_000) / RATE - performance.now())
      const body = bodyOf(at, START + round * ROUND_MS, levels, random)
      const [began, client] = [performance.now(), process.cpuUsage()]
      await service.post('/historian/write/points', body)
      sendingMs += performance.now() - began
      const { user, system } = process.cpuUsage(client)
      clientMs += (user + system) / 1_000
    }
    const parts = countParts()
    counts.push(parts.counting)
    if (round + 1 === EARLY_ROUNDS) early = parts
  }
  const points = TAGS * ROUNDS
  const serverNs = ((processor() - before) * 1e6) / points
  add('write/rate', (points * 1_000) / sendingMs, 'points/s acknowledged, one request after the other')
  add(
    'write/processor',
    serverNs,
    `ns of processor a point; the client took ${((clientMs * 1e6) / points).toFixed(0)}`,
  )
  const late = countParts()
  // Parts come and go with each flush and merge: one count tells little.
  const [first, last] = [counts.slice(0, EARLY_ROUNDS), counts.slice(-EARLY_ROUNDS)]
  add(
    'write/parts',
    Math.max(...last),
    `parts that count at most in the last ${EARLY_ROUNDS} of ${ROUNDS} rounds`,
  )
  add('write/parts/first', Math.max(...first), `in the first ${EARLY_ROUNDS}`)
  add('write/parts/mean', mean(last), 'on average after a round of the last')
  add('write/parts/mean-first', mean(first), 'after one of the first')
  process.stderr.write(`parts that count after each round: ${counts.join(' ')}\n`)
  add('write/part-files', late.files, `files, those that were merged away among them; ${early.files} then`)
}

function mean(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0) / counts.length
}

function bodyOf(at: number, time: number, levels: Float64Array, random: () => number): string {
  const points = Array.from({ length: Math.min(PER_CALL, TAGS - at) }, (_, index) => {
    const level = levels[at + index]! + random() - 0.5
    levels[at + index] = level
    return `"local/${nameOf(at + index)}":[{"timestamp":${time},"value":${level.toFixed(3)}}]`
  })
  return `{"points":{${points.join(',')}}}`
}

/** Parts that count now, and all files, which stay for ten seconds at least when they count no more. */
function countParts(): { readonly counting: number; readonly files: number } {
  const folder = historianDirectory(service.dataDir, 'local')
  const manifests = join(folder, 'manifest')
  const { version } = readManifest(systemFiles, manifests, listManifests(systemFiles, manifests).at(-1)!)
  const files = readdirSync(join(folder, 'parts')).filter((name) => name.endsWith('.part'))
  return { counting: version.parts.length, files: files.length }
}

async function read(): Promise<void> {
  const random = seededRandom(2)
  const bodies = Array.from({ length: 200 }, () => {
    const tags = Array.from({ length: 100 }, () => `local/${nameOf(Math.floor(random() * TAGS))}`)
    return JSON.stringify({
      requests: Object.fromEntries(tags.map((tag, index) => [index, { type: 'CURRENT_POINT', tag }])),
    })
  })
  const task = async (run: number) => {
    const answer = (await service.post('/historian/multi', bodies[run % bodies.length]!)).toString()
    expect(Object.keys(JSON.parse(answer).results).length === 100, answer.slice(0, 300))
  }
  const options = { warmUps: 500, runs: 1_000, items: 100 }
  measurements.push(await measure('million-tags/current-values-of-100-tags', task, options))
}

async function search(): Promise<void> {
  // In the middle of all tags.
  const area = String(Math.floor(TAGS / 2_000)).padStart(4, '0')
  for (const [label, pattern, least] of [
    ['prefix', `PLANT1/AREA${area}/*`, 100],
    ['substring', `area${area}/unit-0777`, 1],
    ['half-of-all', 'plant1', 100],
    ['stars', '*a*a*a*b', 0],
    ['nothing', 'zzzzz', 0],
  ] as const) {
    const path = `/historian/search?historian=local&search=${encodeURIComponent(pattern)}`
    const task = async () => {
      const { tags } = JSON.parse((await service.get(path)).toString())
      expect(tags.length >= least, `${label} finds ${tags.length}`)
    }
    measurements.push(await measure(`million-tags/search/${label}`, task, { warmUps: 2, runs: 15 }))
  }
}

function add(name: string, value: number, what: string): void {
  measurements.push({
    name: `million-tags/${name}`,
    runs: 1,
    medianMs: value,
    p99Ms: value,
    items: null,
    note: `${value.toFixed(value < 100 ? 1 : 0)} ${what}`,
  })
}
