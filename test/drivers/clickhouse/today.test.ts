import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Tables } from '../../../src/drivers/clickhouse/tables.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { assertPoints, at, EVER, points, ramp } from '../../contract/points.ts'
import { chdbServer, startChdb } from '../../servers/chdb.ts'
import type { ClickhouseEngine } from '../../servers/clickhouse.ts'
import { openHistorian } from './open.ts'

const context = { signal: new AbortController().signal }

/** A statement as it left the driver. */
interface Sent {
  readonly sql: string
  readonly parameters: URLSearchParams
}

describe("today's ClickHouse", { skip: chdbServer.skip }, () => {
  let engine: ClickhouseEngine
  let relay: Server
  let url: string
  const sent: Sent[] = []
  before(async () => {
    engine = await startChdb()
    relay = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const parameters = new URL(request.url!, engine.url).searchParams
      if (request.method === 'POST')
        sent.push({ sql: parameters.get('query') ?? body.toString(), parameters })
      const answer = await fetch(`${engine.url}${request.url}`, {
        method: request.method!,
        ...(request.method === 'POST' && { body }),
      })
      response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
    })
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
  })
  after(async () => {
    relay.close()
    relay.closeAllConnections()
    await engine.kill()
  })

  test('has inserts put off and deduplicates them unless it is told otherwise, and it is', async () => {
    const defaults = await engine.sql(
      "SELECT name, value FROM system.settings WHERE name IN ('async_insert', 'deduplicate_insert') ORDER BY name",
    )
    assert.equal(defaults, 'async_insert\t1\ndeduplicate_insert\tenable')
    const historian = await openHistorian({ urls: [url], database: 'settings' })
    sent.length = 0
    await historian.write(writeBatch([{ tag: 'a', points: points([1, 1], [2, 2]) }], true), context)
    await historian.putTags(
      [{ name: 'a', metadata: { description: 'x', units: null, stepped: false } }],
      'update',
      context,
    )
    await historian.deletePoints!([{ tag: 'a', from: at(2), to: at(3) }], false, context)
    assertPoints(
      (await historian.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 9 }], context))[0]!.points,
      points([1, 1]),
    )
    const inserts = sent.filter(({ sql }) => sql.startsWith('INSERT'))
    // A new tag, its points, its metadata, the mark of a deletion, and the deletion.
    assert.equal(inserts.length, 5)
    for (const { sql, parameters } of inserts) {
      assert.equal(parameters.get('async_insert'), '0', sql)
      assert.equal(parameters.get('deduplicate_insert'), 'disable', sql)
      assert.equal(parameters.get('deduplicate_insert_select'), 'disable', sql)
    }
    for (const { sql, parameters } of sent.filter((one) => one.sql.startsWith('SELECT'))) {
      assert.equal(parameters.get('readonly'), '2', sql)
    }
    await historian.close()
  })

  test('compresses points at 1 Hz with 2 decimals to less than 2 bytes each, without being asked', async () => {
    const historian = await openHistorian({ urls: [url], database: 'codecs' })
    const columns = ramp(100_000, 0, 1_000_000)
    let level = 50
    let seed = 1
    for (let i = 0; i < columns.values.length; i++) {
      seed = (seed * 48_271) % 2_147_483_647
      level += (seed / 2_147_483_647 - 0.5) * 0.2
      columns.values[i] = Math.round(level * 100) / 100
    }
    await historian.write(writeBatch([{ tag: 'a', points: columns }], true), context)
    await engine.sql('OPTIMIZE TABLE codecs.points FINAL')
    const codecs = await engine.sql(
      "SELECT name, compression_codec FROM system.columns WHERE database = 'codecs' AND table = 'points' ORDER BY position",
    )
    assert.deepEqual(codecs.split('\n'), [
      'tag\tCODEC(ZSTD(1))',
      'time\tCODEC(Delta(8), ZSTD(1))',
      'value\tCODEC(Delta(8), ZSTD(1))',
      'status\tCODEC(ZSTD(1))',
      'version\tCODEC(Delta(8), ZSTD(1))',
    ])
    const bytes = await engine.sql(
      "SELECT sum(data_compressed_bytes) FROM system.parts WHERE active AND database = 'codecs' AND table = 'points'",
    )
    assert.ok(Number(bytes) < 200_000, `${bytes} bytes`)
    const [found] = await historian.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 200_000 }], context)
    assertPoints(found!.points, columns)
    await historian.close()
  })

  test('reads the statements of a cluster, and knows the settings that go with them', async () => {
    const statements: string[] = []
    const settings = new Set<string>()
    const servers = {
      settings: { hasCodecs: true, ofTables: { ratio_of_defaults_for_sparse_serialization: 1 }, learn() {} },
      async read(_kind: string, sql: string) {
        // Nothing is there, so that everything is made.
        statements.push(sql)
        return { rows: 0, name: [], table: [], type: [], engine: [] }
      },
      async execute(_kind: string, sql: string, _context: unknown, options: { settings: object }) {
        statements.push(sql)
        for (const name of Object.keys(options.settings)) settings.add(name)
      },
    }
    const { clickhouseConfigSchema } = await import('../../../src/drivers/clickhouse/config.ts')
    const config = clickhouseConfigSchema.parse({ urls: [url], cluster: 'plant', partitionBy: 'month' })
    const log = { info() {}, warn() {}, error() {} }
    const tables = new Tables('plant', config, servers as never, log)
    await assert.rejects(tables.ready(context), /its tables are missing/)
    assert.equal(statements.filter((sql) => sql.startsWith('CREATE')).length, 5)
    for (const sql of [...statements, "KILL QUERY WHERE query_id = 'x' ASYNC"]) {
      await engine.sql(`EXPLAIN AST ${sql}`)
    }
    for (const [name, value] of [
      ...Array.from(settings, (one) => [one, '20'] as const),
      ['insert_quorum', '2'],
      ['insert_quorum_timeout', '10000'],
      ['distributed_foreground_insert', '1'],
      ['prefer_localhost_replica', '0'],
      ['load_balancing', 'in_order'],
    ]) {
      const answer = await fetch(`${engine.url}/?${name}=${value}`, { method: 'POST', body: 'SELECT 1' })
      assert.equal(await answer.text(), '1\n', name)
    }
  })
})
