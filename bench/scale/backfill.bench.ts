import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { historianDirectory } from '../../src/storage/directory/data-directory.ts'
import { expect, type Measurement, quantile } from '../measure.ts'
import { watch } from '../peers/server.ts'
import { type Service, startService } from '../service.ts'
import { bytesIn } from '../storage/plant.ts'
import { leastBytes, nameOf, Plant } from './backfill-plant.ts'
import { bodiesBefore, PROBES, Probes, type ProbeTimes } from './backfill-probes.ts'

/**
 * A backfill in random order of time: requests of 10,000 points, each a random one of all, one request after the other,
 * beside writes and reads of other tags and reads of those that are backfilled. Then the service is left alone until
 * nothing is merged any more, its files are compared with what the same points take in one part, and some tags are
 * read.
 *
 * BACKFILL_POINTS and BACKFILL_TAGS take other sizes, BACKFILL_QUIET_SECONDS another time of probes before,
 * BACKFILL_IDLE_SECONDS ends the wait after that time (3600: an hour) instead of a minute without a change.
 */
const TAGS = Number(process.env.BACKFILL_TAGS ?? 1_000)
const POINTS = Math.ceil(Number(process.env.BACKFILL_POINTS ?? 100_000_000) / TAGS) * TAGS
const QUIET_MS = Number(process.env.BACKFILL_QUIET_SECONDS ?? 30) * 1_000
const IDLE_SECONDS = Number(process.env.BACKFILL_IDLE_SECONDS ?? 0)
const PER_REQUEST = 10_000
/** More than any wait of the engine for something to do. */
const UNCHANGED_MS = 60_000
const CHECKED_TAGS = 3

const plant = new Plant(POINTS, TAGS)
const measurements: Measurement[] = []
const service = await startService({
  TIDEMARK_HISTORIAN_LOAD: String(2 * plant.each),
  TIDEMARK_REQUESTED_POINTS: String(2 * plant.each),
})
const server = watch(service.pid, service.dataDir, () => service.stop())
const probes = new Probes({ port: service.port, key: service.key, tags: TAGS })
const parts = watchParts(service)
try {
  for (const body of bodiesBefore()) await service.post('/historian/write/points', body)
  await parts.settled(UNCHANGED_MS / 4)
  const others = { stored: storedBytes(), written: parts.writtenBytes }
  await probes.next(['write-others', 'read-others'])
  await sleep(QUIET_MS)
  const quiet = await probes.next([])
  const written = server.writtenBytes()
  const writeMs = await backfill()
  const busy = await probes.next([])
  const mostParts = parts.most
  if (IDLE_SECONDS > 0) await sleep(IDLE_SECONDS * 1_000)
  else await parts.settled(UNCHANGED_MS)
  addTimes(quiet, busy, writeMs)
  await addFiles(
    storedBytes() - others.stored,
    parts.writtenBytes - others.written,
    server.writtenBytes() - written,
    mostParts,
  )
  add('memory', server.peakMemory(), 'MB of anonymous memory at most')
  for (let i = 0; i < CHECKED_TAGS; i++) await checkTag(Math.floor((i * TAGS) / CHECKED_TAGS))
} finally {
  parts.stop()
  await probes.stop()
  await server.close()
}
process.stdout.write(JSON.stringify(measurements))

/** Gives the milliseconds of each request. */
async function backfill(): Promise<readonly number[]> {
  const times: number[] = []
  const processor = server.processorMs()
  const began = performance.now()
  for (let from = 0; from < POINTS; from += PER_REQUEST) {
    const body = plant.bodyOf(from, from + PER_REQUEST)
    const sent = performance.now()
    await service.post('/historian/write/points', body)
    times.push(performance.now() - sent)
    // Now all tags are there.
    if (from === 0) await probes.next(PROBES)
  }
  const ms = performance.now() - began
  const sendingMs = times.reduce((sum, time) => sum + time, 0)
  add('rate', (POINTS * 1_000) / sendingMs, `points/s acknowledged; ${(ms / 1_000).toFixed(0)} s in all`)
  const serverNs = ((server.processorMs() - processor) * 1e6) / POINTS
  add('processor', serverNs, 'ns of processor a point, merges and the probes of that time included')
  return times
}

function addTimes(quiet: ProbeTimes, busy: ProbeTimes, writeMs: readonly number[]): void {
  for (const kind of ['write-others', 'read-others'] as const) {
    const before = addQuantiles(`${kind}/before`, quiet[kind], 'without a backfill')
    const during = addQuantiles(`${kind}/during`, busy[kind], 'beside it')
    const name = `${kind}/p99-ratio`
    add(name, during / before, 'x the p99 without a backfill')
  }
  addQuantiles('read-backfilled', busy['read-backfilled'], '1,000 raw points of a tag that is backfilled')
  addQuantiles('write-backfilled', writeMs, `requests of ${PER_REQUEST} points`)
}

/** Gives the 99th percentile. */
function addQuantiles(name: string, times: readonly number[], note: string): number {
  const sorted = times.toSorted((a, b) => a - b)
  const p99Ms = quantile(sorted, 0.99)
  const runs = times.length
  measurements.push({
    name: `backfill/${name}`,
    runs,
    medianMs: quantile(sorted, 0.5),
    p99Ms,
    items: null,
    note,
  })
  return p99Ms
}

/** All but the last are bytes for what came: in the files, of all parts that were made, and written to disk. */
async function addFiles(
  stored: number,
  partBytes: number,
  written: number,
  mostParts: number,
): Promise<void> {
  const least = (await leastBytes(plant, join(service.dataDir, 'least'))) * POINTS
  const reserve = bytesIn(service.dataDir, (path) => path.endsWith('/reserve')) / POINTS
  add(
    'files/used',
    stored / least,
    `x what the same points take in one part in order, ${(least / POINTS).toFixed(2)} bytes each`,
  )
  add('files/bytes', stored / POINTS, `bytes a point; the reserve is ${reserve.toFixed(2)} more`)
  add('files/parts', parts.names().length, `parts, ${mostParts} at most while points came`)
  add('written', written / POINTS, 'bytes written to disk for each point, the log included')
  add('written/parts', partBytes / least, 'x what they take: write amplification of flushes and merges')
}

/** Bytes of all files of the historian but the reserve. */
function storedBytes(): number {
  return bytesIn(historianDirectory(service.dataDir, 'local'), (path) => !path.endsWith('/reserve'))
}

async function checkTag(tag: number): Promise<void> {
  const details = { from: plant.timeOf(0), to: plant.timeOf(plant.each), maxPoints: plant.each + 1 }
  const requests = { a: { type: 'RAW_POINTS', tag: `local/${nameOf(tag)}`, details } }
  const body = JSON.stringify({ requests, format: 'columns' })
  const answer = (await service.post('/historian/multi', body)).toString()
  const { values } = JSON.parse(answer).results.a.dataPoints as { readonly values: readonly number[] }
  expect(values.length === plant.each, `${nameOf(tag)} has ${values.length} of ${plant.each} points`)
  const wrong = values.findIndex((value, index) => value !== plant.valueOf(tag, index))
  expect(wrong === -1, `${nameOf(tag)} has another value at ${wrong}`)
}

/** Looks at the parts of a service often enough to see each: dropped ones stay for ten seconds. */
function watchParts(of: Service) {
  const folder = join(historianDirectory(of.dataDir, 'local'), 'parts')
  const bytes = new Map<string, number>()
  let most = 0
  let changed = performance.now()
  let last = ''
  const names = () => readdirSync(folder).filter((name) => name.endsWith('.part'))
  const look = () => {
    const found = names()
    most = Math.max(most, found.length)
    for (const name of found) {
      const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
      bytes.set(name, Math.max(size, bytes.get(name) ?? 0))
    }
    const now = found.map((name) => `${name} ${bytes.get(name)}`).join()
    if (now !== last) changed = performance.now()
    last = now
  }
  const timer = setInterval(look, 250)
  return {
    names,
    get most() {
      return most
    },
    /** Of all that were ever seen. */
    get writtenBytes() {
      return bytes.values().reduce((sum, size) => sum + size, 0)
    },
    /** Resolves when nothing has changed for some time. */
    settled: async (unchangedMs: number) => {
      changed = performance.now()
      while (performance.now() - changed < unchangedMs) await sleep(250)
    },
    stop: () => clearInterval(timer),
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function add(name: string, value: number, what: string): void {
  measurements.push({
    name: nameOfRow(name),
    runs: 1,
    medianMs: value,
    p99Ms: value,
    items: null,
    note: `${value.toFixed(value < 100 ? 2 : 0)} ${what}`,
  })
}

function nameOfRow(name: string): string {
  return `backfill/${POINTS / 1e6}M/${name}`
}
