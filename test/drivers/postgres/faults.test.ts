import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Server as NetServer } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import { TidemarkError } from '../../../src/errors/tidemark-error.ts'
import type { CallContext, Historian } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { at, EVER, points, ramp } from '../../contract/points.ts'
import { found, type PostgresServer, startPostgres, testEnvironment } from '../../servers/postgres.ts'
import { until, untilDone } from '../../until.ts'

const context: CallContext = { signal: new AbortController().signal }
const UNAVAILABLE = 'HISTORIAN_UNAVAILABLE'
const isUnavailable = (error: unknown) => (error as { code?: unknown }).code === UNAVAILABLE

describe('a PostgreSQL that fails', { skip: found.skip }, () => {
  let server: PostgresServer
  const opened: Historian[] = []
  const blockers: pg.Client[] = []
  let schemas = 0
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.stop('immediate'))
  afterEach(async () => {
    for (const blocker of blockers.splice(0)) await blocker.end()
    for (const historian of opened.splice(0)) await historian.close()
  })

  const configOf = (config: object = {}) => ({ ...server.config(`faults_${schemas++}`), ...config })

  async function open(config: object): Promise<Historian> {
    const historian = await postgres.open(postgresConfigSchema.parse(config), testEnvironment())
    opened.push(historian)
    return historian
  }

  const write = (historian: Historian, tag: string, batch = points([1, 1]), call = context) =>
    historian.write(writeBatch([{ tag, points: batch }], true), call)

  async function timesOf(historian: Historian, tag: string): Promise<number[]> {
    const [read] = await historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 1e6 }], context)
    return [...read!.points.times]
  }

  /** Locks a table so that nobody else can even read it, until the test ends or `release` is called. */
  async function lock(table: string): Promise<{ release(): Promise<void> }> {
    const blocker = new pg.Client({
      host: '127.0.0.1',
      port: server.port,
      user: 'postgres',
      database: 'postgres',
      ssl: false,
    })
    await blocker.connect()
    blockers.push(blocker)
    await blocker.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    return { release: async () => void (await blocker.query('COMMIT')) }
  }

  /** Sessions of Tidemark that do something now, by what they wait for. */
  async function busy(): Promise<readonly { readonly pid: number; readonly wait: string | null }[]> {
    const rows = await server.sql(
      "SELECT pid, wait_event_type AS wait FROM pg_stat_activity WHERE application_name = 'tidemark' AND state <> 'idle'",
    )
    return rows as unknown as { pid: number; wait: string | null }[]
  }

  test('stopped and started amid a stream of writes: every acknowledged point is there, the others got an error', async () => {
    const historian = await open(configOf())
    const acknowledged = new Set<number>()
    const codes = new Set<string>()
    let next = 0
    let enough = false
    const writers = Array.from({ length: 6 }, async () => {
      while (!enough) {
        const time = next++
        try {
          await write(historian, `t${time % 3}`, points([time, time]))
          acknowledged.add(time)
        } catch (error) {
          codes.add((error as { code: string }).code)
        }
      }
    })
    const acknowledge = (more: number) => {
      const wanted = acknowledged.size + more
      return until(() => acknowledged.size >= wanted, 'writes go on')
    }
    for (const mode of ['immediate', 'fast'] as const) {
      await acknowledge(50)
      await server.stop(mode)
      await until(() => codes.size > 0, 'writes fail')
      await server.start()
      await acknowledge(50)
    }
    enough = true
    await Promise.all(writers)
    assert.ok(
      [...codes].every((code) => code === UNAVAILABLE || code === 'WRITE_OUTCOME_UNKNOWN'),
      [...codes].join(),
    )
    const stored = new Set<number>()
    for (const tag of ['t0', 't1', 't2']) for (const time of await timesOf(historian, tag)) stored.add(time)
    const lost = [...acknowledged].filter((time) => !stored.has(time))
    assert.deepEqual(lost, [])
  })

  test('an acknowledged write is on disk also where the server is set not to wait for that', async () => {
    for (const setting of ["synchronous_commit = 'off'", "wal_writer_delay = '10s'"])
      await server.sql(`ALTER SYSTEM SET ${setting}`)
    await server.sql('SELECT pg_reload_conf()')
    try {
      const historian = await open(configOf())
      assert.equal(historian.capabilities.durability, 'fsync')
      await write(historian, 'made')
      const written = Array.from({ length: 50 }, (_, time) => time)
      for (const time of written) await write(historian, 'a', points([time, time]))
      await server.stop('immediate')
      await server.start()
      assert.deepEqual(await untilDone(() => timesOf(historian, 'a'), isUnavailable), written)
    } finally {
      await server.sql('ALTER SYSTEM RESET ALL')
      await server.sql('SELECT pg_reload_conf()')
    }
  })

  test('down at the start: the historian opens, says so, and works once the server is there', async () => {
    await server.stop('fast')
    const historian = await open(configOf())
    const message = 'Historian plant could not be reached: the connection was refused'
    await assert.rejects(historian.checkHealth(context), { code: UNAVAILABLE, message })
    await assert.rejects(write(historian, 'a'), { code: UNAVAILABLE, message })
    await server.start()
    await historian.checkHealth(context)
    await write(historian, 'a')
    assert.deepEqual(await timesOf(historian, 'a'), [1])
  })

  test('an aborted read ends on the server too, and the next call works', async () => {
    const config = configOf({ connections: 1 })
    const historian = await open(config)
    await write(historian, 'a', ramp(10_000, 0, 1))
    const calls: readonly ((call: CallContext) => Promise<unknown>)[] = [
      async (call) => historian.readPoints([{ tag: 'a', find: 'after', at: at(0) }], call),
      (call) => historian.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 1e6 }], call),
      async (call) => historian.findTags(['a'], call),
      (call) => write(historian, 'a', points([5, 5]), call),
    ]
    const tables = `${config.schema}.points, ${config.schema}.tags`
    for (const make of calls) {
      const lock_ = await lock(tables)
      const controller = new AbortController()
      const reason = new Error('enough')
      const call = make({ signal: controller.signal })
      await until(
        async () => (await busy()).some(({ wait }) => wait === 'Lock'),
        'the call waits for the lock',
      )
      controller.abort(reason)
      await assert.rejects(call, (error) => error === reason)
      // The lock is still held: only being cancelled ends the wait.
      await until(async () => (await busy()).length === 0, 'the server ends what was aborted')
      await lock_.release()
      assert.equal((await timesOf(historian, 'a')).length, 10_000)
    }
  })

  test('a long computation that is aborted stops on the server', async () => {
    const historian = await open(configOf())
    await write(historian, 'a', ramp(40_000, 0, 1))
    const ranges = Array.from({ length: 100_000 }, () => ({ tag: 'a', from: at(0), to: at(40_000) }))
    const controller = new AbortController()
    const call = historian.estimatePoints(ranges, 1e6, { signal: controller.signal })
    await until(async () => (await busy()).length > 0, 'the server computes')
    controller.abort(new Error('enough'))
    await assert.rejects(call, { message: 'enough' })
    await until(async () => (await busy()).length === 0, 'the server stops')
  })

  test('an answer that does not come in time fails the call, not others, and leaves nothing behind', async () => {
    const config = configOf()
    const patient = await open(config)
    await write(patient, 'a')
    const historian = await open({ ...config, timeoutSeconds: 3 })
    await untilDone(async () => historian.findTags(['a'], context), isUnavailable)
    const lock_ = await lock(`${config.schema}.points`)
    const message = 'Historian plant could not be reached: no answer within 3 seconds'
    const failing = [
      historian.readPoints([{ tag: 'a', find: 'after', at: at(0) }], context),
      write(historian, 'a', points([2, 2])),
    ].map((call) => assert.rejects(Promise.resolve<unknown>(call), { code: UNAVAILABLE, message }))
    assert.notEqual((await historian.findTags(['a'], context))[0], null)
    await Promise.all(failing)
    await until(async () => (await busy()).length === 0, 'the server ends what was given up')
    await lock_.release()
    assert.deepEqual(await timesOf(patient, 'a'), [1])
    assert.deepEqual(await untilDone(() => timesOf(historian, 'a'), isUnavailable), [1])
  })

  test('sessions that somebody ends: reads are made again, and so are writes that were not at their COMMIT', async () => {
    const config = configOf()
    const historian = await open(config)
    await write(historian, 'a')
    const endAll = () =>
      server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidemark'")
    const waiting = () =>
      until(async () => (await busy()).some(({ wait }) => wait === 'Lock'), 'the call waits')

    let lock_ = await lock(`${config.schema}.points`)
    const read = timesOf(historian, 'a')
    await waiting()
    await endAll()
    await waiting()
    await lock_.release()
    assert.deepEqual(await read, [1])

    lock_ = await lock(`${config.schema}.points`)
    const writing = write(historian, 'a', points([2, 2]))
    await waiting()
    await endAll()
    await waiting()
    await lock_.release()
    await writing
    assert.deepEqual(await timesOf(historian, 'a'), [1, 2])

    // Idle ones are replaced without anybody noticing.
    await endAll()
    assert.deepEqual(await timesOf(historian, 'a'), [1, 2])
    await endAll()
    await write(historian, 'a', points([3, 3]))
    assert.deepEqual(await timesOf(historian, 'a'), [1, 2, 3])
  })

  test('a server that greets nobody is given up after the time for connecting', async () => {
    const deaf = createServer(() => {})
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve))
    const { port } = deaf.address() as AddressInfo
    const historian = await open(configOf({ port, connectSeconds: 0.3 }))
    await assert.rejects(historian.checkHealth(context), {
      code: UNAVAILABLE,
      message: 'Historian plant could not be reached: no connection came about in time',
    })
    deaf.close()
  })

  test('a commit whose answer is cut off is of unknown outcome; one that the server refuses is not', async () => {
    const config = configOf()
    const direct = await open(config)
    await write(direct, 'a')
    const proxy = await cuttingProxy(server.port)
    const historian = await open({ ...config, port: proxy.port })
    await historian.checkHealth(context)
    await assert.rejects(write(historian, 'a', points([2, 2])), {
      code: 'WRITE_OUTCOME_UNKNOWN',
      message: 'It is not known whether historian plant took its points: the connection was cut',
    })
    proxy.close()
    // The COMMIT had arrived.
    await until(async () => (await timesOf(direct, 'a')).length === 2, 'the points are there')

    for (const [state, reason] of [
      ['53100', 'its disk is full'],
      ['42501', 'its user is not allowed to do that'],
      ['P0001', 'the server refused a query (P0001)'],
    ]) {
      await failAtCommit(config.schema as string, `RAISE EXCEPTION 'refused' USING ERRCODE = '${state}'`)
      await assert.rejects(write(direct, 'a', points([3, 3])), {
        code: UNAVAILABLE,
        message: `Historian plant could not be reached: ${reason}`,
      })
    }
    // The code for a statement of which the server itself does not know whether it was completed.
    await failAtCommit(config.schema as string, "RAISE EXCEPTION 'lost' USING ERRCODE = '40003'")
    await assert.rejects(write(direct, 'a', points([3, 3])), { code: 'WRITE_OUTCOME_UNKNOWN' })
    await server.sql(`DROP TRIGGER refuse ON ${config.schema}.points`)
    assert.deepEqual(await timesOf(direct, 'a'), [1, 2])
  })

  test('a COMMIT that waits for a standby longer than the call may take is of unknown outcome, and stored', async () => {
    const config = configOf()
    const direct = await open(config)
    await write(direct, 'a')
    const historian = await open({ ...config, timeoutSeconds: 2 })
    await untilDone(() => historian.checkHealth(context), isUnavailable)
    await server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    await server.sql('SELECT pg_reload_conf()')
    await until(async () => {
      const [row] = await server.sql('SHOW synchronous_standby_names')
      return row!.synchronous_standby_names === 'nobody'
    }, 'the server waits for a standby')
    try {
      await assert.rejects(write(historian, 'a', points([2, 2])), {
        code: 'WRITE_OUTCOME_UNKNOWN',
        message: 'It is not known whether historian plant took its points: no answer within 2 seconds',
      })
      const controller = new AbortController()
      const gone = write(direct, 'a', points([3, 3]), { signal: controller.signal })
      const committing = () =>
        server.sql("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'")
      await until(async () => (await committing()).length > 0, 'the COMMIT waits')
      controller.abort(new TidemarkError('CANCELLED'))
      await assert.rejects(gone, {
        code: 'WRITE_OUTCOME_UNKNOWN',
        message: 'It is not known whether historian plant took its points: The call was cancelled',
      })
    } finally {
      await server.sql('ALTER SYSTEM RESET synchronous_standby_names')
      await server.sql('SELECT pg_reload_conf()')
    }
    await until(async () => (await timesOf(direct, 'a')).length === 3, 'the points are there')
  })

  test('a write that another one stood in the way of is made again', async () => {
    const config = configOf()
    const historian = await open(config)
    await write(historian, 'a')
    await server.sql('CREATE SEQUENCE tries')
    await failAtCommit(
      config.schema as string,
      "IF nextval('tries') = 1 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF",
    )
    await write(historian, 'a', points([2, 2]))
    assert.deepEqual(await timesOf(historian, 'a'), [1, 2])
    assert.deepEqual(await server.sql('SELECT last_value FROM tries'), [{ last_value: '2' }])
  })

  /** Has a statement of PL/pgSQL run at each commit that inserted points. */
  async function failAtCommit(schema: string, statement: string): Promise<void> {
    await server.sql(`CREATE OR REPLACE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN ${statement}; RETURN NULL; END $$`)
    await server.sql(`DROP TRIGGER IF EXISTS refuse ON ${schema}.points`)
    await server.sql(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON ${schema}.points
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`)
  }

  test('a table that was dropped is missed with a sentence', async () => {
    const config = configOf()
    const historian = await open(config)
    await write(historian, 'a')
    await server.sql(`DROP TABLE ${config.schema}.points`)
    const message = 'Historian plant could not be reached: a table of the configuration does not exist'
    await assert.rejects(timesOf(historian, 'a'), { code: UNAVAILABLE, message })
    await assert.rejects(write(historian, 'a'), { code: UNAVAILABLE, message })
    await assert.rejects(historian.checkHealth(context), { code: UNAVAILABLE, message })
  })

  test('a database that does not exist is named as the reason', async () => {
    const historian = await open(configOf({ database: 'nowhere' }))
    await assert.rejects(historian.checkHealth(context), {
      code: UNAVAILABLE,
      message: 'Historian plant could not be reached: its database does not exist',
    })
  })

  test('a call waits for a connection that another one has longer than it would for a new one', async () => {
    const config = configOf({ connections: 1, connectSeconds: 0.2 })
    const historian = await open(config)
    // Until it has its connection, which takes longer than that on a slow machine.
    await untilDone(() => write(historian, 'a'), isUnavailable)
    const lock_ = await lock(`${config.schema}.points`)
    const first = timesOf(historian, 'a')
    const second = timesOf(historian, 'a')
    await new Promise((resolve) => setTimeout(resolve, 500))
    await lock_.release()
    assert.deepEqual([await first, await second], [[1], [1]])
  })

  test('more calls than connections take turns', async () => {
    const historian = await open(configOf({ connections: 2 }))
    await Promise.all(Array.from({ length: 60 }, (_, i) => write(historian, 'a', points([i, i]))))
    assert.equal((await timesOf(historian, 'a')).length, 60)
  })
})

/** Passes everything on, and cuts the connection as soon as it has passed on a COMMIT. */
async function cuttingProxy(port: number): Promise<{ readonly port: number; close(): void }> {
  const proxy: NetServer = createServer((client) => {
    const behind = connect(port, '127.0.0.1')
    client.on('error', () => {}).on('close', () => behind.end())
    behind.on('error', () => {}).on('close', () => client.destroy())
    behind.pipe(client)
    client.on('data', (bytes: Buffer) => {
      if (!bytes.includes('COMMIT\0')) behind.write(bytes)
      else behind.write(bytes, () => client.destroy())
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return { port: (proxy.address() as AddressInfo).port, close: () => proxy.close() }
}
