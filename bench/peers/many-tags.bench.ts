import { expect, type Measurement, seededRandom } from '../measure.ts'
import { isInstalled } from './installed.ts'
import type { Peer } from './peer.ts'
import { folderBytes } from './server.ts'
import { startTidemark } from './tidemark.ts'
import { startVictoriaMetrics } from './victoria-metrics.ts'

/**
 * Many tags with few points, as a plant writes them: a point of each tag a round, 10,000 tags a request, one request
 * after the other. What counts is what the server takes for it: processor time, bytes written, disk and memory.
 * MANY_TAGS and MANY_ROUNDS take other sizes: 200,000 x 2,000 are 400 million points, some 12 minutes for both servers.
 */
const TAGS = Number(process.env.MANY_TAGS ?? 200_000)
const ROUNDS = Number(process.env.MANY_ROUNDS ?? 30)
const PER_REQUEST = 10_000
const START = Date.UTC(2026, 0, 1)
const ROUND_MS = 60_000
/** A database tidies up when nothing comes; then its files are looked at. */
const IDLE_MS = 60_000
const POINTS = TAGS * ROUNDS

const CANDIDATES: readonly (readonly [program: string, start: () => Promise<Peer>])[] = [
  ['', () => startTidemark('rows')],
  ['victoria-metrics', startVictoriaMetrics],
]

const measurements: Measurement[] = []
for (const [program, start] of CANDIDATES) {
  if (!isInstalled(program)) {
    process.stderr.write(`${program} is not installed: left out\n`)
    continue
  }
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
  const { server } = peer
  const random = seededRandom(1)
  const levels = Float64Array.from({ length: TAGS }, () => random() * 100)
  let sendingMs = 0
  let clientMs = 0
  const idle = server.processorMs()
  let firstMs = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < TAGS; at += PER_REQUEST) {
      const tags = Array.from({ length: PER_REQUEST }, (_, index) => `m${at + index}`)
      const values = tags.map((_, index) => {
        const level = levels[at + index]! + random() - 0.5
        levels[at + index] = level
        return level.toFixed(3)
      })
      const ask = peer.write({ tags, times: [START + round * ROUND_MS], values })
      const [began, client] = [performance.now(), process.cpuUsage()]
      const read = await ask()
      expect(read() === PER_REQUEST, 'the points were taken')
      sendingMs += performance.now() - began
      const { user, system } = process.cpuUsage(client)
      clientMs += (user + system) / 1_000
    }
    if (round === 0) firstMs = server.processorMs() - idle
  }
  await peer.settle()
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const rate = `${Math.round((POINTS * 1_000) / sendingMs).toLocaleString('en')} points/s acknowledged`
  const client = `the client took ${(clientMs / 1_000).toFixed(1)} s`
  add(
    peer,
    'processor',
    server.processorMs() / 1_000,
    `s of processor for all, ${(firstMs / 1_000).toFixed(1)} of it with the first round; ${client}; ${rate}`,
  )
  add(peer, 'written', server.writtenBytes() / POINTS, 'bytes written to disk for each point')
  add(
    peer,
    'disk',
    folderBytes(server.folder) / POINTS,
    'bytes a point on disk, the whole folder, idle for 60 s',
  )
  const data = await peer.data()
  add(peer, 'data', data.bytes / POINTS, `of these for the points (${data.what})`)
  add(peer, 'memory', server.peakMemory(), 'MB at most, files left out')
}

function add(peer: Peer, name: string, value: number, what: string): void {
  measurements.push({
    name: `many-tags/${TAGS}-x-${ROUNDS}/${name}/${peer.name.replace(', ', '-')}`,
    runs: 1,
    medianMs: value,
    p99Ms: value,
    items: null,
    note: `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${what}`,
  })
}
