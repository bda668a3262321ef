import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Historian } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { at, EVER, points, ramp } from '../../contract/points.ts'
import { FaultyProxy } from '../../servers/faulty-proxy.ts'
import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { serverFolder } from '../../servers/required.ts'
import { until, untilDone } from '../../until.ts'
import { context, openInflux } from './subject.ts'

const batchOf = (tag: string, from: number, count = 1) =>
  writeBatch([{ tag, points: ramp(count, from, 1) }], true)

async function timesOf(historian: Historian, tag: string): Promise<Set<number>> {
  const [found] = await historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 1_000_000 }], context)
  return new Set(found!.points.times)
}

describe('faults', { skip: foundInflux.skip }, () => {
  let server: InfluxServer
  const opened: Historian[] = []
  before(async () => {
    server = await InfluxServer.start(['plant'])
  })
  after(async () => {
    for (const historian of opened) await historian.close()
    await server.stop()
  })
  const open = async (
    settings: Readonly<Record<string, unknown>> = {},
    of: { url: string } = server,
    db = 'plant',
  ) => {
    const { historian } = await openInflux(of, db, settings)
    opened.push(historian)
    return historian
  }
  const everyCall = (historian: Historian): readonly (() => Promise<unknown>)[] => [
    () => historian.checkHealth(context),
    async () => historian.findTags(['a'], context),
    () => historian.searchTags({ pattern: null, after: null, limit: 1 }, context),
    () => historian.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 1 }], context),
    () => historian.write(batchOf('a', 1), context),
  ]

  test('a historian that is down opens, says so in each call, and answers when it is there', async () => {
    await server.stop()
    const historian = await open()
    for (const call of everyCall(historian)) {
      await assert.rejects(call, {
        code: 'HISTORIAN_UNAVAILABLE',
        message: 'Historian plant could not be reached: the connection was refused',
      })
    }
    await server.restart()
    for (const call of everyCall(historian)) await call()
  })

  test('of a stream of writes over a kill and a restart, every acknowledged point is there', async () => {
    const historian = await open()
    const acknowledged: number[] = []
    const failed: unknown[] = []
    let isDone = false
    const writers = [0, 1, 2].map(async (writer) => {
      for (let i = 0; !isDone; i++) {
        const time = i * 3 + writer
        try {
          await historian.write(batchOf('stream', time), context)
          acknowledged.push(time)
        } catch (error) {
          failed.push((error as { code?: unknown }).code)
        }
      }
    })
    for (const end of ['kill', 'stop'] as const) {
      const before = acknowledged.length
      await until(() => acknowledged.length >= before + 100, 'writes go on')
      await server[end]()
      const failures = failed.length
      await until(() => failed.length > failures, 'writes fail')
      await server.restart()
    }
    const before = acknowledged.length
    await until(() => acknowledged.length >= before + 100, 'writes go on')
    isDone = true
    await Promise.all(writers)
    const stored = await timesOf(historian, 'stream')
    assert.deepEqual(
      acknowledged.filter((time) => !stored.has(time)),
      [],
    )
    const codes = new Set(failed)
    codes.delete('HISTORIAN_UNAVAILABLE')
    codes.delete('WRITE_OUTCOME_UNKNOWN')
    assert.deepEqual([...codes], [])
  })

  test('a server that stands still fails the call in time, and its write has an unknown outcome', async () => {
    const patient = await open()
    await patient.write(batchOf('still', 1), context)
    const historian = await open({ timeoutSeconds: 2 })
    const isUnavailable = (error: unknown) => (error as { code: string }).code === 'HISTORIAN_UNAVAILABLE'
    await untilDone(() => historian.checkHealth(context), isUnavailable)
    server.process.freeze()
    try {
      const silent = 'no answer within 2 seconds'
      await assert.rejects(timesOf(historian, 'still'), {
        code: 'HISTORIAN_UNAVAILABLE',
        message: `Historian plant could not be reached: ${silent}`,
      })
      await assert.rejects(historian.write(batchOf('still', 2), context), {
        code: 'WRITE_OUTCOME_UNKNOWN',
        message: `It is not known whether historian plant took its points: ${silent}`,
      })
      const controller = new AbortController()
      const reason = new Error('the deadline')
      setTimeout(() => controller.abort(reason), 20)
      const late = historian.findTags(['still'], { signal: controller.signal })
      await assert.rejects(late, (error) => error === reason)
    } finally {
      server.process.thaw()
    }
    await untilDone(() => historian.checkHealth(context), isUnavailable)
    assert.ok((await untilDone(() => timesOf(historian, 'still'), isUnavailable)).has(1))
  })

  test('a connection that is cut in the first megabyte of an answer is replaced, and what was read counts once', async () => {
    const historian = await open()
    await historian.write(batchOf('begun', 0, 100_000), context)
    const proxy = await FaultyProxy.start(Number(new URL(server.url).port))
    const cut = await open({}, { url: `http://127.0.0.1:${proxy.port}` })
    for (const after of [10, 100_000, 1_000_000]) {
      proxy.arm({ kind: 'cut', direction: 'answer', after })
      const [range] = await cut.readRanges([{ tag: 'begun', ...EVER, order: 'asc', limit: 1e6 }], context)
      assert.ok(proxy.release())
      assert.deepEqual(range!.points.times, ramp(100_000, 0, 1).times)
    }
    await proxy.close()
  })

  test('a connection that is cut in the middle of a long answer fails the call, and the next one connects', async () => {
    const historian = await open()
    await historian.write(batchOf('cut', 0, 100_000), context)
    const proxy = await FaultyProxy.start(Number(new URL(server.url).port))
    const cut = await open({}, { url: `http://127.0.0.1:${proxy.port}` })
    proxy.arm({ kind: 'cut', direction: 'answer', after: 1_200_000 })
    await assert.rejects(timesOf(cut, 'cut'), {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: the connection was cut',
    })
    assert.ok(proxy.release())
    assert.equal((await timesOf(cut, 'cut')).has(49_999), true)
    await proxy.close()
  })

  test('a missing database or retention policy is named for what it is', async () => {
    const nowhere = await open({}, server, 'nowhere')
    for (const call of everyCall(nowhere)) {
      await assert.rejects(call, {
        code: 'HISTORIAN_UNAVAILABLE',
        message: 'Historian plant could not be reached: it has no database of the configured name',
      })
    }
    const policy = await open({ retentionPolicy: 'nope' })
    const message = /it has no retention policy of the configured name/
    await assert.rejects(timesOf(policy, 'a'), { message })
    await assert.rejects(policy.write(batchOf('a', 1), context), { message })
  })

  test('a write that the server took in part says which part it refused', async () => {
    const historian = await open({ existing: true, tagName: '{measurement}.{tag}', statusField: null })
    await server.write('plant', 'texts,tag=a value="a word" 10')
    const both = writeBatch(
      [
        { tag: 'numbers.a', points: points([10, 1]) },
        { tag: 'texts.a', points: points([11, 1]) },
      ],
      true,
    )
    await assert.rejects(historian.write(both, context), {
      code: 'WRITE_PARTIAL',
      message:
        'Historian plant took only a part of its points: field type conflict: input field "value" on measurement ' +
        '"texts" is type float, already exists as type string',
    })
    assert.deepEqual([...(await timesOf(historian, 'numbers.a'))], [10])
    assert.deepEqual([...(await timesOf(historian, 'texts.a'))], [])
    await server.query('CREATE RETENTION POLICY "short" ON "plant" DURATION 1h REPLICATION 1')
    const short = await open({
      retentionPolicy: 'short',
      metadata: { kind: 'own', retentionPolicy: 'autogen' },
    })
    await assert.rejects(short.write(batchOf('old', 1), context), {
      code: 'WRITE_PARTIAL',
      message: 'Historian plant took only a part of its points: points beyond retention policy',
    })
  })

  test('fields of others in a measurement keep its points from being deleted', async () => {
    const historian = await open({ measurement: 'shared' })
    await historian.write(batchOf('mine', 1), context)
    await server.write('plant', 'shared,tag=mine temperature=20 1')
    const refused = {
      code: 'NOT_SUPPORTED',
      message: /delete from measurement shared, which has fields of others/,
    }
    await assert.rejects(historian.deletePoints!([{ tag: 'mine', ...EVER }], false, context), refused)
    await assert.rejects(historian.deleteTags!(['mine'], false, context), refused)
    assert.equal((await timesOf(historian, 'mine')).size, 1)
  })

  test('points of another retention policy keep those of the same series from being deleted with them', async () => {
    await server.query('CREATE RETENTION POLICY "long" ON "plant" DURATION INF REPLICATION 1')
    const settings = { measurement: 'both', metadata: { kind: 'own', measurement: 'both_tags' } }
    const historian = await open(settings)
    const other = await open({
      ...settings,
      retentionPolicy: 'long',
      metadata: { kind: 'own', measurement: 'other_tags' },
    })
    await historian.write(batchOf('mine', 1, 9), context)
    await historian.write(batchOf('alone', 1, 3), context)
    await other.write(batchOf('mine', 5), context)
    const range = (from: number, to: number) => [{ tag: 'mine', from: at(from), to: at(to) }]
    const refused = (policy: string) => ({
      code: 'NOT_SUPPORTED',
      message: `Historian plant cannot delete from measurement both: InfluxDB would delete points of retention policy ${policy} as well`,
    })
    for (const dryRun of [true, false]) {
      await assert.rejects(historian.deletePoints!(range(1, 10), dryRun, context), refused('long'))
      await assert.rejects(historian.deleteTags!(['alone', 'mine'], dryRun, context), refused('long'))
      await assert.rejects(other.deletePoints!(range(1, 10), dryRun, context), refused('autogen'))
    }
    // Where it has none they go.
    assert.deepEqual(await historian.deletePoints!(range(1, 5), false, context), [4])
    assert.deepEqual(await historian.deletePoints!(range(6, 10), false, context), [4])
    assert.deepEqual([...(await timesOf(historian, 'mine'))], [5])
    assert.deepEqual([...(await timesOf(other, 'mine'))], [5])
    assert.deepEqual(await historian.deleteTags!(['alone'], false, context), [3])
  })

  test('a tag whose entry another retention policy has as well is not deleted with it', async () => {
    await server.query('CREATE RETENTION POLICY "entries" ON "plant" DURATION INF REPLICATION 1')
    const historian = await open({ measurement: 'one' })
    const other = await open({
      measurement: 'two',
      metadata: { kind: 'own', retentionPolicy: 'entries' },
    })
    await historian.write(batchOf('entered', 1), context)
    await other.write(batchOf('entered', 1), context)
    await assert.rejects(historian.deleteTags!(['entered'], false, context), {
      code: 'NOT_SUPPORTED',
      message: /cannot delete from measurement tidemark_tags: .* retention policy entries as well/,
    })
    assert.equal((await timesOf(historian, 'entered')).size, 1)
  })

  test('deleting a tag leaves series with more tag keys alone', async () => {
    const historian = await open({ measurement: 'keys' })
    await historian.write(batchOf('mine', 1, 3), context)
    await server.write('plant', 'keys,tag=mine,host=x value=20,status=0i 1')
    assert.deepEqual(
      await historian.deletePoints!([{ tag: 'mine', from: EVER.from, to: 2 as never }], false, context),
      [1],
    )
    assert.deepEqual(await historian.deleteTags!(['mine'], false, context), [2])
    const { results } = await server.query('SELECT value FROM "keys" GROUP BY *', 'plant')
    assert.deepEqual(
      results[0].series.map(({ tags, values }: never) => [tags, values]),
      [[{ host: 'x', tag: 'mine' }, [[1, 20]]]],
    )
  })

  test('on a full disk writes fail, and every acknowledged point is there afterwards', async () => {
    const historian = await open()
    await server.stop()
    await server.restart({ maxFileKiB: 6 * 1024 })
    const acknowledged: number[] = []
    let failure: unknown = null
    for (let round = 0; round < 200 && failure === null; round++) {
      const from = round * 20_000
      const batch = ramp(20_000, from, 1)
      batch.values.forEach((_, index) => {
        batch.values[index] = Math.sqrt(from + index)
      })
      try {
        await historian.write(writeBatch([{ tag: 'full', points: batch }], true), context)
        acknowledged.push(from)
      } catch (error) {
        failure = error
      }
    }
    assert.ok(acknowledged.length > 0)
    assert.equal((failure as { code?: unknown }).code, 'WRITE_OUTCOME_UNKNOWN', String(failure))
    await server.kill()
    await server.restart()
    const stored = await timesOf(historian, 'full')
    for (const from of acknowledged) {
      for (let i = 0; i < 20_000; i++) assert.ok(stored.has(from + i), `${from + i}`)
    }
    await historian.write(batchOf('full', 10_000_000), context)
  })
})

describe('users and passwords', { skip: foundInflux.skip }, () => {
  test('wrong ones are refused without being shown, changed ones are taken without a restart', async () => {
    const server = await InfluxServer.start(['plant'], { auth: true })
    await server.query(`CREATE USER reader WITH PASSWORD 'it''s'`.replace("''", "\\'"))
    await server.query('GRANT READ ON "plant" TO reader')
    const file = join(serverFolder('influxdb-secret'), 'password')
    writeFileSync(file, 'wrong secret\n')
    const { historian: none } = await openInflux(server, 'plant')
    await assert.rejects(none.checkHealth(context), {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: it asks for credentials, and none are configured',
    })
    const { historian } = await openInflux(server, 'plant', { username: 'admin', password: { file } })
    const refused = {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: it refused the credentials of the setting password',
    }
    await assert.rejects(historian.checkHealth(context), refused)
    await assert.rejects(historian.write(batchOf('a', 1), context), refused)
    writeFileSync(file, 'admin secret\n')
    await historian.checkHealth(context)
    await historian.write(batchOf('a', 1), context)
    writeFileSync(file, "it's\n")
    const { historian: reader } = await openInflux(server, 'plant', {
      username: 'reader',
      password: { file },
    })
    assert.deepEqual([...(await timesOf(reader, 'a'))], [1])
    await assert.rejects(reader.write(batchOf('a', 2), context), {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: its user may not do this',
    })
    // Several calls are under way when the server begins to refuse what they were sent with.
    await server.query(`SET PASSWORD FOR reader = 'another'`)
    writeFileSync(file, 'another\n')
    for (const times of await Promise.all(Array.from({ length: 8 }, () => timesOf(reader, 'a'))))
      assert.deepEqual([...times], [1])
    for (const one of [none, historian, reader]) await one.close()
    await server.stop()
  })
})
