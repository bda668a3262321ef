import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Historian } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import type { PointColumns } from '../../../src/series/columns.ts'
import { assertPoints, EVER, points, ramp } from '../../contract/points.ts'
import {
  CLUSTER,
  type ClickhouseCluster,
  clusterSkip,
  startCluster,
} from '../../servers/clickhouse-cluster.ts'
import { openHistorian } from './open.ts'

const context = { signal: new AbortController().signal }

/** Enough tags that both shards have some. */
const TAGS = Array.from({ length: 8 }, (_, i) => `tag-${i}`)

function write(historian: Historian, columns: PointColumns, createTags = true): Promise<void> {
  return historian.write(
    writeBatch(
      TAGS.map((tag) => ({ tag, points: columns })),
      createTags,
    ),
    context,
  )
}

async function readAll(historian: Historian): Promise<readonly PointColumns[]> {
  const found = await historian.readRanges(
    TAGS.map((tag) => ({ tag, ...EVER, order: 'asc' as const, limit: 1_000_000 })),
    context,
  )
  return found.map((result) => result.points)
}

async function assertStored(historian: Historian, expected: PointColumns): Promise<void> {
  for (const found of await readAll(historian)) assertPoints(found, expected)
}

/** Asks until it holds: what replicas do among themselves takes its time. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const due = performance.now() + 180_000
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (performance.now() > due) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

describe('a ClickHouse cluster of 2 shards with 2 replicas', { skip: clusterSkip }, () => {
  let cluster: ClickhouseCluster
  const open = (settings: object, log?: Parameters<typeof openHistorian>[1]) =>
    openHistorian({ urls: cluster.urls, cluster: CLUSTER, ...settings }, log)
  const replicas = (index: number) => cluster.servers.map((shard) => shard[index]!)
  before(async () => {
    cluster = await startCluster()
  })
  after(() => cluster.stop())

  test('spreads the tags over its shards and gives the same through every server', async () => {
    const historian = await open({ database: 'spread', writeQuorum: 2 })
    assert.equal(historian.capabilities.durability, 'replicated')
    assert.equal(historian.capabilities.atomicWrites, 'tag')
    await eventually(() => write(historian, ramp(100, 0, 10)))
    const counts = await Promise.all(
      cluster.servers.flat().map((server) => server.sql('SELECT uniqExact(tag) FROM spread.points_local')),
    )
    assert.equal(counts[0], counts[1])
    assert.equal(counts[2], counts[3])
    assert.equal(Number(counts[0]) + Number(counts[2]), TAGS.length)
    assert.ok(Number(counts[0]) > 0 && Number(counts[2]) > 0, 'both shards have tags')
    for (const url of cluster.urls) {
      const other = await open({ database: 'spread', writeQuorum: 2, urls: [url] })
      await assertStored(other, ramp(100, 0, 10))
      assert.deepEqual(
        (await other.searchTags({ pattern: null, after: null, limit: 100 }, context)).tags.map(
          ({ name }) => name,
        ),
        TAGS,
      )
      await other.close()
    }
    await historian.close()
  })

  test('with writeQuorum 2 loses nothing and takes no writes while a replica of each shard is down', async () => {
    const historian = await open({ database: 'two', writeQuorum: 2, queryTimeoutSeconds: 20 })
    // Made on a slow machine, the tables take longer than a query may.
    await eventually(() => write(historian, points([1, 1], [2, 2])))
    await Promise.all(replicas(0).map((server) => server.kill()))
    // What was acknowledged is on the other replica, whichever it was.
    await eventually(() => assertStored(historian, points([1, 1], [2, 2])))
    await assert.rejects(write(historian, points([3, 3]), false), (error) => {
      const { code, message } = error as { code?: string; message: string }
      assert.match(message, /historian plant/i)
      return code === 'HISTORIAN_UNAVAILABLE' || code === 'WRITE_OUTCOME_UNKNOWN'
    })
    await Promise.all(replicas(0).map((server) => server.start()))
    await eventually(() => write(historian, points([4, 4]), false))
    const [first] = await readAll(historian)
    assert.deepEqual(
      [...first!.times].filter((time) => time !== 3),
      [1, 2, 4],
    )
    // The replicas that were down have it all, too.
    await Promise.all(replicas(1).map((server) => server.kill()))
    await eventually(async () => {
      for (const found of await readAll(historian)) {
        assert.deepEqual(
          [...found.times].filter((time) => time !== 3),
          [1, 2, 4],
        )
      }
    })
    await Promise.all(replicas(1).map((server) => server.start()))
    await historian.close()
  })

  test('with writeQuorum 1 goes on writing, catches up, and can be without a write while its only holder is down', async () => {
    const historian = await open({ database: 'one', writeQuorum: 1, queryTimeoutSeconds: 20 })
    assert.equal(historian.capabilities.durability, 'server')
    await eventually(() => write(historian, points([1, 1])))
    await eventually(async () => {
      for (const server of cluster.servers.flat()) {
        assert.notEqual(await server.sql('SELECT count() FROM one.points_local'), '0')
      }
    })
    await Promise.all(replicas(1).map((server) => server.kill()))
    await eventually(() => write(historian, points([2, 2]), false))
    await assertStored(historian, points([1, 1], [2, 2]))
    // Now those that alone have the write, in place of the others.
    await Promise.all(replicas(0).map((server) => server.kill()))
    await Promise.all(replicas(1).map((server) => server.start()))
    await eventually(() => assertStored(historian, points([1, 1])))
    await Promise.all(replicas(0).map((server) => server.start()))
    await eventually(async () => {
      for (const url of cluster.urls) {
        const other = await open({ database: 'one', urls: [url] })
        await assertStored(other, points([1, 1], [2, 2]))
        await other.close()
      }
    })
    await historian.close()
  })

  test('is healthy while each shard has a replica, tells which are silent, and names them when one has none', async () => {
    const told: string[] = []
    const log = { info() {}, error() {}, warn: (fields: object) => void told.push(JSON.stringify(fields)) }
    const historian = await open({ database: 'health' }, { log })
    await eventually(() => historian.checkHealth(context))
    const [one, other] = cluster.servers[1]!
    await one!.kill()
    await eventually(() => historian.checkHealth(context))
    const host = new URL(one!.url).host
    assert.ok(
      told.some((text) => text.includes(host)),
      told.join('\n'),
    )
    await other!.kill()
    await assert.rejects(historian.checkHealth(context), (error) => {
      const { code, message } = error as { code?: string; message: string }
      assert.equal(code, 'HISTORIAN_UNAVAILABLE')
      assert.match(message, /a shard of its cluster has no server that answers/)
      return message.includes(host) && message.includes(new URL(other!.url).host)
    })
    await Promise.all([one!.start(), other!.start()])
    await eventually(() => historian.checkHealth(context))
    await historian.close()
  })
})
