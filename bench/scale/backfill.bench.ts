import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { historianDirectory } from '../../src/storage/directory/data-directory.ts'
import { expect, type Measurement, quantile } from '../measure.ts'
import { watch } from '../peers/server.ts'
import { type Service, startService } from '../service.ts'
import { bytesIn } from '../storage/plant.ts'
import { watchParts } from './backfill-parts.ts'
import { leastBytes, nameOf, Plant } from './backfill-plant.ts'
import { bodiesBefore, PROBES, Probes, type ProbeTimes } from './backfill-probes.ts'

/**
 * A backfill in random order of time: requests of 10,000 points, each a random one of all, one request after the other,
 * beside writes and reads of other tags and reads of those that are backfilled. Then the service is left alone until
 * nothing is merged any more, its files are compared with what the same points take in one part, and some tags are
 * read.
 *
 * Calls of other tags are timed four times: alone; beside the same backfill of another service of this machine, which
 * says what two busy processors and a busy disk cost; beside three quarters of the backfill as fast as it goes; and
 * beside what follows at a quarter of that rate, of which it is a minute at most. Making the bodies takes a processor
 * that a client elsewhere would not take of this machine: on Linux it has a lower priority (nice 10), and so have V8's
 * threads that collect its garbage.
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
const PACED_SECONDS = 60
const OTHER_KINDS = ['write-others', 'read-others'] as const

const plant = new Plant(POINTS, TAGS)
const measurements: Measurement[] = []
const environment = {
  TIDEMARK_HISTORIAN_LOAD: String(2 * plant.each),
  TIDEMARK_REQUESTED_POINTS: String(2 * plant.each),
}
standBack()
const service = await startService(environment)
const server = watch(service.pid, service.dataDir, () => service.stop())
const probes = new Probes({ pid: service.pid, port: service.port, key: service.key, tags: TAGS })
const parts = watchParts(service)
// The priority of this thread alone: the probes have theirs already.
if (process.platform === 'linux') setPriority(10)
try {
  for (const body of bodiesBefore()) await service.post('/historian/write/points', body)
  await parts.settled(UNCHANGED_MS / 4)
  const others = { stored: storedBytes(), written: parts.writtenBytes }
  await probes.next(OTHER_KINDS)
  await sleep(QUIET_MS)
  const quiet = await probes.next([])
  addTimes('alone', quiet, null)
  addTimes('beside-another-service', await besideAnother(), quiet)
  const written = server.writtenBytes()
  const processor = server.processorMs()
  const firstPaced = Math.ceil((0.75 * POINTS) / PER_REQUEST) * PER_REQUEST
  const fast = await backfill(service, 0, firstPaced, 0, () => void probes.next(PROBES))
  addTimes('fast', await probes.next(PROBES), quiet)
  add('rate', fast.acknowledged, `points/s acknowledged; ${fast.sent.toFixed(0)} sent, bodies made between`)
  addQuantiles('write-backfilled', fast.writeMs, `requests of ${PER_REQUEST} points`)
  const requests = Math.ceil(((fast.sent / 4) * PACED_SECONDS) / PER_REQUEST)
  const endPaced = Math.min(POINTS, firstPaced + requests * PER_REQUEST)
  const slow = await backfill(service, firstPaced, endPaced, fast.sent / 4)
  addTimes('quarter', await probes.next([]), quiet)
  add('quarter/rate', slow.sent, 'points/s sent')
  await backfill(service, endPaced, POINTS, 0)
  const serverNs = ((server.processorMs() - processor) * 1e6) / POINTS
  add('processor', serverNs, 'ns of processor a point, merges and the probes of that time included')
  const mostParts = parts.most
  if (IDLE_SECONDS > 0) await sleep(IDLE_SECONDS * 1_000)
  else await parts.settled(UNCHANGED_MS)
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

/**
 * Writes the points with these places in the random order.
 * @param rate   points a second at most; 0 for as many as go
 * @param begun  called when all tags are there
 * @returns      milliseconds of each request, points a second of that time, and of all the time
 */
async function backfill(to: Service, first: number, end: number, rate: number, begun = () => {}) {
  const writeMs: number[] = []
  const began = performance.now()
  for (let from = first; from < end; from += PER_REQUEST) {
    const body = plant.bodyOf(from, Math.min(end, from + PER_REQUEST))
    if (rate > 0) await sleep(Math.max(0, began + ((from - first) * 1_000) / rate - performance.now()))
    const sent = performance.now()
    await to.post('/historian/write/points', body)
    writeMs.push(performance.now() - sent)
    if (from === first) begun()
  }
  const sendingMs = writeMs.reduce((sum, ms) => sum + ms, 0)
  const count = (end - first) * 1_000
  return { writeMs, acknowledged: count / sendingMs, sent: count / (performance.now() - began) }
}

/** Times of calls of this service while another one takes the backfill, for as long as they were timed alone. */
async function besideAnother(): Promise<ProbeTimes> {
  const other = await startService(environment)
  try {
    const until = performance.now() + QUIET_MS
    let isBegun = false
    for (let from = 0; performance.now() < until || !isBegun; from = (from + 50 * PER_REQUEST) % POINTS) {
      await backfill(other, from, Math.min(POINTS, from + 50 * PER_REQUEST), 0)
      if (!isBegun) await probes.next(OTHER_KINDS)
      isBegun = true
    }
    return await probes.next([])
  } finally {
    await other.stop()
  }
}

/** @param quiet  those alone, of which the others are multiples; `null` for themselves */
function addTimes(when: string, times: ProbeTimes, quiet: ProbeTimes | null): void {
  for (const kind of PROBES) {
    if (times[kind].length === 0) continue
    const of = (name: keyof ProbeTimes[typeof kind][number]) => times[kind].map((time) => time[name])
    const quietMs = quiet?.[kind].map(({ ms }) => ms) ?? []
    const ratio =
      quietMs.length === 0 ? '' : `p99 ${(p99Of(of('ms')) / p99Of(quietMs)).toFixed(2)} x that alone; `
    const ran = `${p99Of(of('ranMs')).toFixed(1)} ms of processor of the main thread`
    addQuantiles(
      `${kind}/${when}`,
      of('ms'),
      `${ratio}p99 ${ran}, ${p99Of(of('readyMs')).toFixed(1)} waiting for one`,
    )
  }
}

function p99Of(times: readonly number[]): number {
  return quantile(
    times.toSorted((a, b) => a - b),
    0.99,
  )
}

function addQuantiles(name: string, times: readonly number[], note: string): void {
  const sorted = times.toSorted((a, b) => a - b)
  measurements.push({
    name: `backfill/${name}`,
    runs: times.length,
    medianMs: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    items: null,
    note,
  })
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

/** V8's threads have their priority from the start; those that are made later have that of this one, which follows. */
function standBack(): void {
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task').map(Number)) {
    if (thread !== process.pid) setPriority(thread, 10)
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
