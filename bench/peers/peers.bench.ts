import type { FailedMeasurement, Measurement } from '../measure.ts'
import { startClickhouse } from './clickhouse.ts'
import { startInflux } from './influxdb.ts'
import { isInstalled } from './installed.ts'
import { figures, run } from './load.ts'
import type { Peer } from './peer.ts'
import { startPostgres } from './postgresql.ts'
import { folderBytes } from './server.ts'
import { startTidemark } from './tidemark.ts'
import { startVictoriaMetrics } from './victoria-metrics.ts'
import { type Case, READS, WRITES, WRITTEN_POINTS } from './workload.ts'

/**
 * The same workload on this project and on databases that Debian packages, one after the other in one run, each in its
 * own protocol by the same client on the same machine; one that is not installed is left out. The ratio stands beside
 * each figure: how many times as fast this project is, in rows, in the same run. `PEERS=columns,initdb` runs only these
 * beside this project in rows, which is always measured first; `PEERS_SECONDS` is after how long no further case
 * begins.
 */
const CANDIDATES: readonly (readonly [program: string, start: () => Promise<Peer>])[] = [
  ['', () => startTidemark('rows')],
  ['columns', () => startTidemark('columns')],
  ['initdb', startPostgres],
  ['victoria-metrics', startVictoriaMetrics],
  ['clickhouse-server', startClickhouse],
  ['influxd', startInflux],
]

const wanted = process.env.PEERS?.split(',')
const end = performance.now() + Number(process.env.PEERS_SECONDS ?? 660) * 1_000
const measurements: (Measurement | FailedMeasurement)[] = []
/** Of the first candidate, by case. */
const own = new Map<string, number>()
for (const [program, start] of CANDIDATES) {
  if (wanted !== undefined && program !== '' && !wanted.includes(program)) continue
  if (!isInstalled(program)) {
    process.stderr.write(`${program} is not installed: left out\n`)
    continue
  }
  const began = performance.now()
  try {
    const peer = await start()
    try {
      process.stderr.write(`${peer.name} ...\n`)
      await measurePeer(peer)
    } finally {
      await peer.close()
      await peer.server.close()
    }
  } catch (error) {
    process.stderr.write(`${program || 'tidemark'} failed: ${(error as Error).message}\n`)
  }
  process.stderr.write(`  ${((performance.now() - began) / 1_000).toFixed(0)} s\n`)
}
process.stdout.write(JSON.stringify(measurements))

async function measurePeer(peer: Peer): Promise<void> {
  for (const one of WRITES) await measureCase(peer, one)
  note(peer, 'memory/writing', peer.server.peakMemory(), 'MB at most, files left out')
  await peer.settle()
  // All of them tidy up after writes: the reads are about what stands there afterwards.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  peer.server.forgetMemory()
  for (const one of READS) await measureCase(peer, one)
  note(peer, 'memory/reading', peer.server.peakMemory(), 'MB at most, files left out')
  const { bytes, what } = await peer.data()
  note(peer, 'disk/data', bytes / WRITTEN_POINTS, `bytes a point, ${what}`)
  note(peer, 'disk/files', folderBytes(peer.server.folder) / WRITTEN_POINTS, 'bytes a point, all files')
}

/** Writes a case's figures, or why it has none: the others are measured all the same. */
async function measureCase(peer: Peer, { name, items, load }: Case): Promise<void> {
  try {
    if (performance.now() > end) throw new Error('the run took too long before')
    const made = load(peer)
    const result = await run(peer, made)
    const missing = made.warmUps === 0 ? made.calls - result.callMs.length : 0
    if (missing > 0) throw new Error(`${missing} of ${made.calls} requests were not sent in time`)
    const rate =
      made.clients === 1 ? {} : { itemsPerSecond: (items * result.callMs.length * 1_000) / result.ms }
    add(peer, { name, items, ...figures(result), ...rate })
  } catch (error) {
    const reason = (error as Error).message.replaceAll('\n', ' ').slice(0, 120)
    add(peer, { name, runs: 0, medianMs: null, p99Ms: null, items: null, note: `failed: ${reason}` })
  }
}

/**
 * Adds a figure under the peer's name, with this project's ratio to it: how many times as fast, or the share of memory
 * or disk.
 */
function add(peer: Peer, measurement: Measurement | FailedMeasurement): void {
  const { name, itemsPerSecond, medianMs, note } = measurement
  const notes = [note]
  if (medianMs !== null) {
    const cost = itemsPerSecond === undefined ? medianMs : 1 / itemsPerSecond
    if (!own.has(name)) own.set(name, cost)
    const ratio = cost / own.get(name)!
    notes.unshift(`${ratio.toFixed(2)} x tidemark${peer.syncs ? '' : ', not synced'}`)
    process.stderr.write(`  ${name}: ${medianMs.toFixed(2)}, ${ratio.toFixed(2)} x\n`)
  } else process.stderr.write(`  ${name}: ${note}\n`)
  measurements.push({
    ...measurement,
    name: `peers/${name}/${peer.name.replace(', ', '-')}`,
    note: notes.join(', '),
  })
}

function note(peer: Peer, name: string, value: number, unit: string): void {
  const text = `${value.toFixed(value < 100 ? 2 : 0)} ${unit}`
  add(peer, { name, runs: 1, medianMs: value, p99Ms: value, items: null, note: text })
}
