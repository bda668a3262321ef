import { seededRandom } from '../measure.ts'
import type { Load } from './load.ts'
import type { Peer, WriteOrder } from './peer.ts'

/** One case of the workload, for any peer. */
export interface Case {
  readonly name: string
  /** Points or values of one call. */
  readonly items: number
  /** Made beforehand. */
  load(peer: Peer): Load
}

const START = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const LONG_POINTS = 5_000_000
const LONG_END = START + LONG_POINTS * SECOND
/** Of a case: a slow peer makes fewer calls. Writes are all made, unless they take much longer. */
const READ_SECONDS = 3
const WRITE_SECONDS = 60

export const WRITTEN_POINTS = 1_000 * 10 * 100 + 10_000 * 60 + LONG_POINTS
const hundred = names('w', 100)

export const WRITES: readonly Case[] = [
  write('write/1000-tags-x-10', names('w', 1_000), 10, 100),
  write('write/10000-tags-x-1', names('v', 10_000), 1, 60),
  write('write/1-tag-x-50000', ['long'], 50_000, LONG_POINTS / 50_000),
]

export const READS: readonly Case[] = [
  read('read/current-values-of-100-tags', 100, 2_000, (peer) => [peer.current(hundred)]),
  {
    name: 'read/current-value-16-clients',
    items: 1,
    load: (peer) => ({
      asks: hundred.map((tag) => peer.current([tag])),
      has: 1,
      clients: 16,
      calls: 20_000,
      warmUps: 60_000,
      seconds: READ_SECONDS,
    }),
  },
  read('read/raw-100000-points', 100_000, 20, (peer) => [
    peer.raw('long', START + 1_000_000 * SECOND, START + 1_100_000 * SECOND),
  ]),
  read('read/100-tags-x-1000-values', 100_000, 20, (peer) => [
    peer.values(hundred, START, START + 1_000 * SECOND, 1_000),
  ]),
  // Small calls for those that have summaries: as many as of other small ones.
  ...[1, 50].map((windows) =>
    read(`read/aggregates-of-5M-points-in-${windows}-windows`, LONG_POINTS, 500, (peer) => [
      peer.aggregates('long', START, LONG_END, windows),
    ]),
  ),
]

/** Two requests under way at any time. */
function write(name: string, tags: readonly string[], points: number, requests: number): Case {
  const items = tags.length * points
  return {
    name,
    items,
    load(peer) {
      const random = seededRandom(7)
      const asks = Array.from({ length: requests }, (_, request) =>
        peer.write(makeOrder(tags, points, request, random)),
      )
      return { asks, has: items, clients: 2, calls: requests, warmUps: 0, seconds: WRITE_SECONDS }
    },
  }
}

function read(name: string, items: number, calls: number, asks: (peer: Peer) => Load['asks']): Case {
  return {
    name,
    items,
    load: (peer) => ({
      asks: asks(peer),
      has: items,
      clients: 1,
      calls,
      warmUps: 2 * calls,
      seconds: READ_SECONDS,
    }),
  }
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
