import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Historian } from '../../../src/historian/contract.ts'
import { QueryMeter } from '../../../src/historian/remote/meter.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import type { PointColumns } from '../../../src/series/columns.ts'
import { assertPoints, at, EVER, points, ramp } from '../../contract/points.ts'
import {
  type ClickhouseServer,
  clickhouseServer,
  PLAIN_USER,
  startClickhouse,
} from '../../servers/clickhouse.ts'
import { serverFolder } from '../../servers/required.ts'
import { until, untilDone } from '../../until.ts'
import { openHistorian } from './open.ts'

const context = { signal: new AbortController().signal }
const hasCode =
  (code: string, text: RegExp = /^Historian plant /) =>
  (error: unknown) => {
    const { code: actual, message } = error as { code?: unknown; message: string }
    assert.equal(actual, code, message)
    assert.match(message, text)
    // What a client is shown names no address, query or secret.
    assert.doesNotMatch(message, /127\.0\.0\.1|SELECT|INSERT|pass'word/)
    return true
  }

async function write(historian: Historian, tag: string, columns: PointColumns): Promise<void> {
  await historian.write(writeBatch([{ tag, points: columns }], true), context)
}

async function readAll(historian: Historian, tag: string): Promise<PointColumns> {
  const [found] = await historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 1_000_000 }], context)
  return found!.points
}

describe('a ClickHouse server', { skip: clickhouseServer.skip }, () => {
  let server: ClickhouseServer
  let databases = 0
  const open = (settings: object = {}, parts: Parameters<typeof openHistorian>[1] = {}) =>
    openHistorian({ urls: [server.url], database: `faults_${++databases}`, ...settings }, parts)
  before(async () => {
    server = await startClickhouse()
  })
  after(() => server.kill())

  test('that was down when the historian was opened is used once it is up', async () => {
    await server.kill()
    const historian = await open()
    await assert.rejects(
      async () => historian.findTags(['a'], context),
      hasCode('HISTORIAN_UNAVAILABLE', /refused$/),
    )
    await assert.rejects(
      historian.checkHealth(context),
      (error) => (error as { code?: unknown }).code === 'HISTORIAN_UNAVAILABLE',
    )
    await assert.rejects(write(historian, 'a', points([1, 1])), hasCode('HISTORIAN_UNAVAILABLE'))
    await server.start()
    await historian.checkHealth(context)
    await write(historian, 'a', points([1, 1]))
    assertPoints(await readAll(historian, 'a'), points([1, 1]))
    await historian.close()
  })

  for (const [how, stop] of [
    // It answers for as long as connections have requests, without end here: then it is killed, as systemd does.
    ['stopped', () => server.process.stop('SIGTERM', 12)],
    ['killed', () => server.kill()],
  ] as const) {
    test(`that is ${how} and started amid writes keeps all that was acknowledged`, async () => {
      const historian = await open()
      const acknowledged: number[] = []
      let failed = 0
      let done = false
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let i = 0; !done; i++) {
          const time = i * 4 + writer
          try {
            await write(historian, `stream-${writer}`, points([time, time]))
            acknowledged.push(time)
          } catch (error) {
            const { code } = error as { code?: string }
            assert.ok(code === 'HISTORIAN_UNAVAILABLE' || code === 'WRITE_OUTCOME_UNKNOWN', String(error))
            failed++
          }
        }
      })
      const until = async (holds: () => boolean) => {
        while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
      }
      await until(() => acknowledged.length >= 40)
      await stop()
      await until(() => failed > 0)
      await server.start()
      const before = acknowledged.length
      await until(() => acknowledged.length >= before + 40)
      done = true
      await Promise.all(writers)
      const stored = new Set<number>()
      for (let writer = 0; writer < 4; writer++) {
        for (const time of (await readAll(historian, `stream-${writer}`)).times) stored.add(time)
      }
      const lost = acknowledged.filter((time) => !stored.has(time))
      assert.deepEqual(lost, [])
      await historian.close()
    })
  }

  test('takes the credentials of a file, and wrong ones are told by the setting', async () => {
    process.env.CLICKHOUSE_TEST_PASSWORD = PLAIN_USER.password
    process.env.CLICKHOUSE_WRONG_PASSWORD = 'no'
    const right = await open({ user: PLAIN_USER.user, password: { env: 'CLICKHOUSE_TEST_PASSWORD' } })
    await write(right, 'a', points([1, 1]))
    assertPoints(await readAll(right, 'a'), points([1, 1]))
    await right.close()
    const wrong = await open({ user: PLAIN_USER.user, password: { env: 'CLICKHOUSE_WRONG_PASSWORD' } })
    const refusal = hasCode(
      'HISTORIAN_UNAVAILABLE',
      /refused the credentials of the setting user and password$/,
    )
    await assert.rejects(async () => wrong.findTags(['a'], context), refusal)
    await assert.rejects(write(wrong, 'a', points([1, 1])), refusal)
    await assert.rejects(wrong.checkHealth(context), refusal)
    await wrong.close()
  })

  test('takes a password that was changed in its file without a restart, by all calls under way', async () => {
    const file = join(serverFolder('clickhouse-secret'), 'password')
    writeFileSync(file, 'no\n')
    const historian = await open({ user: PLAIN_USER.user, password: { file } })
    await assert.rejects(
      historian.checkHealth(context),
      hasCode('HISTORIAN_UNAVAILABLE', /refused the credentials of the setting user and password$/),
    )
    writeFileSync(file, `${PLAIN_USER.password}\n`)
    await Promise.all(Array.from({ length: 8 }, () => historian.checkHealth(context)))
    await write(historian, 'a', points([1, 1]))
    assertPoints(await readAll(historian, 'a'), points([1, 1]))
    await historian.close()
  })

  test('with a table of another type is refused with the column, and a missing one is not made when read-only', async () => {
    const database = `odd_${++databases}`
    await server.sql(`CREATE DATABASE ${database}`)
    const readOnly = await openHistorian({ urls: [server.url], database, writable: false })
    await assert.rejects(
      async () => readOnly.findTags(['a'], context),
      hasCode('HISTORIAN_UNAVAILABLE', new RegExp(`its tables are missing in the database ${database}$`)),
    )
    await server.sql(
      `CREATE TABLE ${database}.points (tag String, time DateTime, value Float64, status UInt8, version UInt64) ENGINE = Memory`,
    )
    const historian = await openHistorian({ urls: [server.url], database })
    await assert.rejects(
      async () => historian.readPoints([{ tag: 'a', find: 'before', at: at(1) }], context),
      hasCode(
        'HISTORIAN_UNAVAILABLE',
        /column tag of its table points is of type String, and UInt64 is expected$/,
      ),
    )
    await server.sql(`DROP TABLE ${database}.points`)
    await server.sql(
      `CREATE TABLE ${database}.points (tag UInt64, time Int64, value Float64, status UInt8, version UInt64) ENGINE = Memory`,
    )
    await server.sql(
      `CREATE TABLE ${database}.tags (id UInt64, name String, description String, hasDescription UInt8, units String, hasUnits UInt8, stepped UInt8, deleted UInt8, version UInt64) ENGINE = Memory`,
    )
    await assert.rejects(
      write(historian, 'a', points([1, 1])),
      hasCode(
        'HISTORIAN_UNAVAILABLE',
        /its table points has the engine Memory, and a ReplacingMergeTree is expected$/,
      ),
    )
    // Corrected at the server, it serves without a restart.
    await server.sql(`DROP TABLE ${database}.points`)
    await server.sql(`DROP TABLE ${database}.tags`)
    await write(historian, 'a', points([1, 1]))
    assertPoints(await readAll(readOnly, 'a'), points([1, 1]))
    await assert.rejects(write(readOnly, 'a', points([2, 2])), hasCode('NOT_SUPPORTED'))
    await historian.close()
    await readOnly.close()
  })

  test('tables without the columns for maxGap and states are read as they are, and get them from a writer', async () => {
    const database = `older_${++databases}`
    const options = { urls: [server.url], database }
    const first = await openHistorian(options)
    const plain = { description: 'kept', units: null, stepped: true }
    await first.putTags([{ name: 'a', metadata: { ...plain, maxGap: '1h' } }], 'create', context)
    for (const column of ['maxGap', 'states'])
      await server.sql(`ALTER TABLE ${database}.tags DROP COLUMN ${column}`)
    const readOnly = await openHistorian({ ...options, writable: false })
    assert.deepEqual(await readOnly.findTags(['a'], context), [plain])
    const writer = await openHistorian(options)
    assert.deepEqual(await writer.findTags(['a'], context), [plain])
    const metadata = { ...plain, maxGap: '5min', states: { '0': 'Closed' } }
    await writer.putTags([{ name: 'a', metadata }], 'update', context)
    assert.deepEqual(await writer.findTags(['a'], context), [metadata])
  })

  test('whose tables are dropped meanwhile says so, and gets them anew', async () => {
    const database = `dropped_${++databases}`
    const historian = await openHistorian({ urls: [server.url], database })
    await write(historian, 'a', points([1, 1]))
    await server.sql(`DROP DATABASE ${database}`)
    await assert.rejects(readAll(historian, 'a'), hasCode('HISTORIAN_UNAVAILABLE', /is missing$/))
    await write(historian, 'a', points([2, 2]))
    assertPoints(await readAll(historian, 'a'), points([2, 2]))
    await historian.close()
  })

  test('stops a read whose caller went away', async () => {
    const meter = new QueryMeter()
    const historian = await open({}, { meter })
    const tag = 'long'
    await historian.write(writeBatch([{ tag, points: ramp(1_000_000, 0, 1_000) }], true), context)
    const database = `faults_${databases}`
    // More than a read can get through while the test waits.
    await server.sql(
      `INSERT INTO ${database}.points SELECT tag, time + number * 1000000000, value, status, version + number FROM ${database}.points ARRAY JOIN range(6) AS number`,
    )
    const running = async () =>
      Number(
        await server.sql(
          `SELECT count() FROM system.processes WHERE query LIKE '%FROM \`${database}\`.\`points\`%' AND query NOT LIKE '%system.processes%'`,
        ),
      )
    const controller = new AbortController()
    const reason = new Error('enough')
    const edges = Float64Array.of(0, 4e13)
    const reading = historian.readAggregates!(
      [{ tag, edges, aggregates: ['avg', 'timeAvg'], stepped: false, holdUntil: at(0) }],
      { signal: controller.signal },
    )
    const outcome = assert.rejects(reading, (error) => error === reason)
    while ((await running()) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    controller.abort(reason)
    await outcome
    // A query that was stopped is gone after its block.
    await until(async () => (await running()) === 0, 'the query is stopped')
    assert.ok(meter.total('cancel') > 0, 'the server was told')
    await historian.close()
  })

  test('is asked one query for 100 current values, and two for their raw points', async () => {
    const meter = new QueryMeter()
    const historian = await open({}, { meter })
    const tags = Array.from({ length: 100 }, (_, i) => `current-${i}`)
    const now = at(Date.now() * 1_000)
    const entries = tags.map((tag, i) => ({
      tag,
      points: points([now - 5_000_000, i], [now - 1_000_000, i + 0.5]),
    }))
    await historian.write(writeBatch(entries, true), context)
    meter.reset()
    const current = await historian.readPoints(
      tags.map((tag) => ({ tag, find: 'before-or-at' as const, at: now })),
      context,
    )
    assert.deepEqual(
      [...current.values],
      tags.map((_, i) => i + 0.5),
    )
    assert.equal(meter.total(), 1)
    meter.reset()
    const ranges = tags.map((tag) => ({ tag, from: at(now - 60_000_000), to: now }))
    const raw = await historian.readRanges(
      ranges.map((range) => ({ ...range, order: 'asc' as const, limit: 10 })),
      context,
    )
    assert.ok(raw.every((result) => result.points.times.length === 2))
    assert.equal(meter.total(), 2)
    meter.reset()
    await historian.write(writeBatch(entries, true), context)
    assert.equal(meter.total('write'), 1)
    assert.equal(meter.total(), 2)
    await historian.close()
  })
})

describe('connections to a ClickHouse server', { skip: clickhouseServer.skip }, () => {
  let server: ClickhouseServer
  let gate: Server
  let port: number
  let mode: 'open' | 'cut' | 'silent' = 'open'
  const sockets = new Set<Socket>()
  before(async () => {
    server = await startClickhouse()
    const target = Number(new URL(server.url).port)
    // A relay that can be told to cut connections, or to let nothing through.
    gate = createServer((client) => {
      const upstream = connect(target, '127.0.0.1')
      for (const socket of [client, upstream]) {
        sockets.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
      }
      client.on('data', (bytes) => {
        if (mode === 'cut') client.destroy()
        else if (mode === 'open') upstream.write(bytes)
      })
      upstream.on('data', (bytes) => {
        if (mode === 'open') client.write(bytes)
      })
    })
    await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
    port = (gate.address() as AddressInfo).port
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    gate.close()
    await server.kill()
  })

  test('that are cut fail with the historian named, and the next call connects anew', async () => {
    mode = 'open'
    const historian = await openHistorian({ urls: [`http://127.0.0.1:${port}`], database: 'cut' })
    await write(historian, 'a', points([1, 1]))
    mode = 'cut'
    await assert.rejects(readAll(historian, 'a'), hasCode('HISTORIAN_UNAVAILABLE', /the connection was cut$/))
    mode = 'open'
    const writing = write(historian, 'a', points([2, 2]))
    for (const socket of sockets) socket.destroy()
    // Whether it was cut before or after the server took it: it is sent again, with the same outcome.
    await writing
    assertPoints(await readAll(historian, 'a'), points([1, 1], [2, 2]))
    await historian.close()
  })

  test('that carry no answer fail reads and changes by name when their time is up, while a query may still go on', async () => {
    mode = 'open'
    const settings = { urls: [`http://127.0.0.1:${port}`], database: 'late', queryTimeoutSeconds: 600 }
    const patient = await openHistorian(settings)
    await write(patient, 'a', points([1, 1]))
    const historian = await openHistorian({ ...settings, timeoutSeconds: 1 })
    const late = hasCode(
      'HISTORIAN_UNAVAILABLE',
      /^Historian plant could not be reached: no answer within 1 seconds$/,
    )
    mode = 'silent'
    await assert.rejects(readAll(historian, 'a'), late)
    await assert.rejects(async () => historian.findTags(['a'], context), late)
    await assert.rejects(historian.deletePoints!([{ tag: 'a', ...EVER }], true, context), late)
    await assert.rejects(write(historian, 'a', points([2, 2])), late)
    mode = 'open'
    for (const socket of sockets) socket.destroy()
    assertPoints(await readAll(patient, 'a'), points([1, 1]))
    await historian.close()
    await patient.close()
  })

  test('that carry no answer keep calls from another server only until the time of one is up', async () => {
    mode = 'open'
    const settings = { urls: [`http://127.0.0.1:${port}`, server.url], database: 'moves' }
    const patient = await openHistorian(settings)
    await write(patient, 'a', points([1, 1]))
    await patient.close()
    const historian = await openHistorian({ ...settings, timeoutSeconds: 2 })
    const isLate = (error: unknown) => (error as { code: string }).code === 'HISTORIAN_UNAVAILABLE'
    await untilDone(() => readAll(historian, 'a'), isLate)
    mode = 'silent'
    await assert.rejects(
      readAll(historian, 'a'),
      hasCode('HISTORIAN_UNAVAILABLE', /no answer within 2 seconds$/),
    )
    assertPoints(await readAll(historian, 'a'), points([1, 1]))
    mode = 'open'
    for (const socket of sockets) socket.destroy()
    await historian.close()
  })

  test('that carry no answer end by the time limit of the query, and by the caller before that', async () => {
    mode = 'open'
    const historian = await openHistorian({
      urls: [`http://127.0.0.1:${port}`],
      database: 'silent',
      queryTimeoutSeconds: 1,
    })
    const late = (error: unknown) =>
      ['HISTORIAN_UNAVAILABLE', 'WRITE_OUTCOME_UNKNOWN'].includes((error as { code: string }).code)
    // A slow machine may need more than a second for it, with all tables to be made.
    await untilDone(() => write(historian, 'a', points([1, 1])), late)
    mode = 'silent'
    const controller = new AbortController()
    const reason = new Error('too late')
    setTimeout(() => controller.abort(reason), 100)
    const query = [{ tag: 'a', ...EVER, order: 'asc', limit: 9 }] as const
    await assert.rejects(
      historian.readRanges(query, { signal: controller.signal }),
      (error) => error === reason,
    )
    await assert.rejects(write(historian, 'a', points([2, 2])), (error) => {
      const { code } = error as { code?: string }
      return code === 'WRITE_OUTCOME_UNKNOWN' || code === 'HISTORIAN_UNAVAILABLE'
    })
    mode = 'open'
    for (const socket of sockets) socket.destroy()
    await untilDone(() => write(historian, 'a', points([3, 3])), late)
    const read = await untilDone(() => readAll(historian, 'a'), late)
    assert.ok(read.times.includes(3))
    await historian.close()
  })
})

describe('two processes in front of the same tables', { skip: clickhouseServer.skip }, () => {
  test('see each other: tags, points, overwriting, deletion and tags made again', async () => {
    const server = await startClickhouse()
    const settings = { urls: [server.url], database: 'shared' }
    const [one, two] = [await openHistorian(settings), await openHistorian(settings)]
    // Both know the tag before the other one changes it.
    await write(one, 'a', points([10, 1], [20, 1]))
    await write(two, 'a', points([20, 2], [30, 2]))
    for (const historian of [one, two]) {
      assertPoints(await readAll(historian, 'a'), points([10, 1], [20, 2], [30, 2]))
    }
    const metadata = { description: "it's; \\ = , \n", units: 'm³/h', stepped: true }
    await one.putTags([{ name: 'a', metadata }], 'update', context)
    assert.deepEqual(await two.findTags(['a'], context), [metadata])
    assert.deepEqual(await two.deleteTags!(['a'], false, context), [3])
    assert.deepEqual(await one.findTags(['a'], context), [null])
    await assert.rejects(
      one.write(writeBatch([{ tag: 'a', points: points([1, 1]) }], false), context),
      (error) => (error as { code?: unknown }).code === 'TAG_NOT_FOUND',
    )
    await write(one, 'a', points([40, 4]))
    for (const historian of [one, two]) {
      assertPoints(await readAll(historian, 'a'), points([40, 4]))
      assert.deepEqual(await historian.findTags(['a'], context), [
        { description: null, units: null, stepped: false },
      ])
    }
    const names = await Promise.all(
      [one, two].flatMap((historian) =>
        Array.from({ length: 10 }, (_, i) => write(historian, `made/${i}`, points([i, i]))),
      ),
    )
    assert.equal(names.length, 20)
    const page = await two.searchTags({ pattern: null, after: 'made/', limit: 100 }, context)
    assert.deepEqual(
      page.tags.map(({ name }) => name),
      Array.from({ length: 10 }, (_, i) => `made/${i}`),
    )
    await one.close()
    await two.close()
    await server.kill()
  })
})
