import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type Measurement, measure, quantile, seededRandom } from '../measure.ts'
import { startInflux } from './influxdb.ts'
import type { Peer, Prepared, WriteOrder } from './peer.ts'
import { startPostgres } from './postgresql.ts'
import { startTidemark } from './tidemark.ts'
import { startVictoriaMetrics } from './victoria-metrics.ts'

/**
 * The same workload on this project and on databases that Debian packages, one after the other in one run, each in its own
 * protocol by the same client on the same machine; one that is not installed is left out. The ratio stands beside each
 * figure: how many times as fast this project is, in rows, in the same run.
 */
const START = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const LONG_POINTS = 5_000_000
const WRITES = [
  { name: 'write/1000-tags-x-10', tags: names('w', 1_000), points: 10, requests: 100 },
  { name: 'write/10000-tags-x-1', tags: names('v', 10_000), points: 1, requests: 60 },
  { name: 'write/1-tag-x-50000', tags: ['long'], points: 50_000, requests: LONG_POINTS / 50_000 },
] as const
const WRITERS = 2

const CANDIDATES: readonly (readonly [program: string, start: () => Promise<Peer>])[] = [
  ['', () => startTidemark('rows')],
  ['', () => startTidemark('columns')],
  ['influxd', startInflux],
  ['victoria-metrics', startVictoriaMetrics],
  ['initdb', startPostgres],
]

const wanted = process.env.PEERS?.split(',')
const measurements: Measurement[] = []
/** Of the first candidate, by case. */
const own = new Map<string, number>()
for (const [program, start] of CANDIDATES) {
  if (program !== '' && !isInstalled(program)) {
    process.stderr.write(`${program} is not installed: left out\n`)
    continue
  }
  if (wanted !== undefined && program !== '' && !wanted.includes(program)) continue
  const peer = await start()
  try {
    process.stderr.write(`${peer.name} ...\n`)
    await measurePeer(peer)
  } finally {
    await peer.close()
    await peer.server.close()
  }
}
process.stdout.write(JSON.stringify(measurements))

async function measurePeer(peer: Peer): Promise<void> {
  let written = 0
  for (const { name, tags, points, requests } of WRITES) {
    const random = seededRandom(7)
    const prepared = Array.from({ length: requests }, (_, request) =>
      peer.prepareWrite(makeOrder(tags, points, request, random)),
    )
    const { ms, requestMs } = await sendAll(prepared)
    const count = tags.length * points * requests
    written += count
    const sorted = requestMs.toSorted((a, b) => a - b)
    add(peer, {
      name,
      runs: requests,
      medianMs: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      items: tags.length * points,
      itemsPerSecond: (count / ms) * 1000,
      note: '',
    })
  }
  note(peer, 'memory/writing', peer.server.peakMemory(), 'MB at most, files left out')
  await peer.settle()
  // All of them tidy up after writes: the reads are about what stands there afterwards.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  peer.server.forgetMemory()
  const hundred = names('w', 100)
  const shortEnd = START + 1_000 * SECOND
  await read(peer, 'read/current-values-of-100-tags', 100, 300, () => peer.current(hundred))
  await readAtOnce(peer, 'read/current-value-16-clients', 16, 4_000, (call) =>
    peer.current([hundred[call % 100]!]),
  )
  await read(peer, 'read/raw-100000-points', 100_000, 20, () =>
    peer.raw('long', START + 1_000_000 * SECOND, START + 1_100_000 * SECOND),
  )
  await read(peer, 'read/100-tags-x-1000-values', 100_000, 20, () =>
    peer.values(hundred, START, shortEnd, 1_000),
  )
  const longEnd = START + LONG_POINTS * SECOND
  for (const windows of [1, 50]) {
    await read(peer, `read/aggregates-of-5M-points-in-${windows}-windows`, LONG_POINTS, 4, () =>
      peer.aggregates('long', START, longEnd, windows),
    )
  }
  note(peer, 'memory/reading', peer.server.peakMemory(), 'MB at most, files left out')
  note(peer, 'disk', folderBytes(peer.server.folder) / written, 'bytes a point, all files')
}

async function read(
  peer: Peer,
  name: string,
  items: number,
  runs: number,
  task: () => Promise<number>,
): Promise<void> {
  const check = async () => {
    const got = await task()
    expect(got === items, `${peer.name}, ${name}: ${got} of ${items}`)
  }
  add(peer, await measure(name, check, { warmUps: Math.min(3, runs >> 1), runs, items }))
}

/** The same small read by several clients at once. */
async function readAtOnce(
  peer: Peer,
  name: string,
  clients: number,
  calls: number,
  task: (call: number) => Promise<number>,
): Promise<void> {
  for (let call = 0; call < 200; call++) await task(call)
  const callMs: number[] = []
  let next = 0
  const began = performance.now()
  const client = async () => {
    while (next < calls) {
      const call = next++
      const sent = performance.now()
      expect((await task(call)) === 1, `${peer.name}, ${name}`)
      callMs.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const itemsPerSecond = (calls / (performance.now() - began)) * 1000
  const sorted = callMs.toSorted((a, b) => a - b)
  add(peer, {
    name,
    runs: calls,
    medianMs: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    items: 1,
    itemsPerSecond,
    note: '',
  })
}

/** Two requests under way at any time. */
async function sendAll(prepared: readonly Prepared[]) {
  const requestMs: number[] = []
  let next = 0
  const began = performance.now()
  const writer = async () => {
    while (next < prepared.length) {
      const send = prepared[next++]!
      const sent = performance.now()
      await send()
      requestMs.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  return { ms: performance.now() - began, requestMs }
}

/** A walk with noise, rounded to 3 decimals as sensors are. */
function makeOrder(
  tags: readonly string[],
  points: number,
  request: number,
  random: () => number,
): WriteOrder {
  const times = Array.from({ length: points }, (_, point) => START + (request * points + point) * SECOND)
  const values: string[] = []
  for (const _ of tags) {
    let value = 50 + random() * 10
    for (let point = 0; point < points; point++) {
      value += (random() - 0.5) * 0.04
      values.push(value.toFixed(3))
    }
  }
  return { tags, times, values }
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`)
}

/** Adds a figure under the peer's name, with this project's ratio to it: how many times as fast, or the share of memory or disk. */
function add(peer: Peer, measurement: Measurement): void {
  const { name, itemsPerSecond, medianMs } = measurement
  const cost = itemsPerSecond === undefined ? medianMs : 1 / itemsPerSecond
  if (!own.has(name)) own.set(name, cost)
  const ratio = cost / own.get(name)!
  measurements.push({
    ...measurement,
    name: `peers/${name}/${peer.name.replace(', ', '-')}`,
    note: `${ratio.toFixed(2)} x tidemark${peer.syncs ? '' : ', not synced'}${measurement.note === '' ? '' : `, ${measurement.note}`}`,
  })
}

function note(peer: Peer, name: string, value: number, unit: string): void {
  const text = `${value.toFixed(value < 100 ? 2 : 0)} ${unit}`
  add(peer, { name, runs: 1, medianMs: value, p99Ms: value, items: null, note: text })
}

function isInstalled(program: string): boolean {
  try {
    const found = program === 'initdb' ? 'ls /usr/lib/postgresql/*/bin/initdb' : `command -v ${program}`
    execFileSync('sh', ['-c', found], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Blocks that files take: lmdb's file has holes. */
function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).blocks * 512, 0)
}
