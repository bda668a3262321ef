import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { clickhouseConfigSchema } from '../../../src/drivers/clickhouse/config.ts'
import { ClickhouseHistorian } from '../../../src/drivers/clickhouse/driver.ts'
import { VersionClock } from '../../../src/drivers/clickhouse/version-clock.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { NO_METER } from '../../../src/historian/remote/meter.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { WindowAggregator } from '../../../src/series/aggregate.ts'
import type { PointColumns } from '../../../src/series/columns.ts'
import { assertPoints, at, EVER, points, ramp } from '../../contract/points.ts'
import {
  CLUSTER,
  type ClickhouseCluster,
  clusterSkip,
  startCluster,
} from '../../servers/clickhouse-cluster.ts'
import { NO_LOG, openHistorian } from './open.ts'

const context = { signal: new AbortController().signal }

/** A signal that goes straight from point to point, and on after the last one. */
const HELD = { stepped: false, holdUntil: at(1_000) }

/** Enough tags that both shards have some. */
const TAGS = Array.from({ length: 8 }, (_, i) => `tag-${i}`)

async function write(historian: Historian, columns: PointColumns, createTags = true): Promise<void> {
  await historian.write(
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
      cluster.servers
        .flat()
        .map((server) => server.sql('SELECT uniqExact(tag) FROM spread.points_local WHERE status = 0')),
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
    // Of tags on both shards in one query.
    const aggregates = ['sum', 'variance', 'timeAvg', 'first', 'last', 'count'] as const
    const found = await historian.readAggregates!(
      TAGS.map((tag) => ({ tag, edges: Float64Array.of(0, 500, 1_000), aggregates, ...HELD })),
      context,
    )
    const reference = new WindowAggregator(Float64Array.of(0, 500, 1_000), ['sum', 'variance', 'count'])
    reference.add(ramp(100, 0, 10))
    const { sum, variance, count } = reference.finish()
    for (const columns of found) {
      assert.deepEqual(columns.sum, sum)
      assert.deepEqual(columns.count, count)
      columns.variance!.forEach((value, i) => {
        assert.ok(Math.abs(value - variance![i]!) <= 1e-9 * Math.abs(variance![i]!))
      })
      assert.deepEqual(columns.timeAvg, found[0]!.timeAvg)
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

  for (const writeQuorum of [1, 2]) {
    test(`with writeQuorum ${writeQuorum} a gateway at any server sees at once what one at any other did, whatever their clocks say`, async () => {
      const database = `each_${writeQuorum}`
      const gateways = cluster.urls.map(
        (url, i) =>
          new ClickhouseHistorian(
            clickhouseConfigSchema.parse({ urls: [url], cluster: CLUSTER, database, writeQuorum }),
            { name: 'plant', directory: '/nonexistent', log: NO_LOG, meter: NO_METER },
            // Each is 2 s behind the one before.
            new VersionClock(() => Date.now() - i * 2_000),
          ),
      )
      await eventually(() => write(gateways[0]!, points([1, 1])))
      const local = [`${database}.points_local`, `${database}.tags_local`]
      const servers = cluster.servers.flat()
      const onAll = async (command: string) => {
        for (const server of servers) for (const table of local) await server.sql(`${command} ${table}`)
      }
      // With a quorum of 1 replicas have nothing from each other: only which of them is asked decides.
      if (writeQuorum === 1) await onAll('SYSTEM STOP FETCHES')
      // 18.16 inserts into its own replica whatever it is told, later versions into the first one: of its servers only
      // the first replicas are given writes here.
      const writers = writeQuorum === 1 ? gateways.slice(0, cluster.servers.length) : gateways
      let value = 1
      for (const [i, gateway] of [...writers.entries(), ...writers.entries()]) {
        await write(gateway, points([1, ++value], [10 + value, value]))
        for (const other of gateways) {
          const found = await readAll(other)
          assert.ok(
            found.every(({ values }) => values[0] === value && values.at(-1) === value),
            `gateway ${gateways.indexOf(other)} after a write through gateway ${i}`,
          )
        }
        const next = writers[(i + 1) % writers.length]!
        const ranges = TAGS.map((tag) => ({ tag, ...EVER }))
        const deleted = await next.deletePoints(ranges, false, context)
        assert.deepEqual(
          deleted,
          TAGS.map(() => 2),
        )
        for (const other of gateways) for (const found of await readAll(other)) assertPoints(found, points())
      }
      if (writeQuorum === 1) await onAll('SYSTEM START FETCHES')
      await eventually(async () => {
        const counts = await Promise.all(
          servers.map((server) => server.sql(`SELECT sum(version) FROM ${local[0]}`)),
        )
        assert.equal(counts[0], counts[1])
        assert.equal(counts[2], counts[3])
      })
      for (const gateway of gateways) await gateway.close()
    })
  }

  test('is healthy while each shard has a replica, tells which are silent, and names them when one has none', async () => {
    const told: string[] = []
    const log = { info() {}, error() {}, warn: (fields: object) => void told.push(JSON.stringify(fields)) }
    const historian = await open({ database: 'health' }, { log })
    await eventually(() => historian.checkHealth(context))
    const [one, other] = cluster.servers[1]!
    await one!.kill()
    const host = new URL(one!.url).host
    await eventually(async () => {
      await historian.checkHealth(context)
      assert.ok(
        told.some((text) => text.includes(host)),
        told.join('\n'),
      )
    })
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
