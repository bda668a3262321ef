import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { InfluxHistorian } from '../../../src/drivers/influxdb/driver.ts'
import { HistorianRegistry } from '../../../src/historian/registry.ts'
import type { QueryMeter } from '../../../src/historian/remote/meter.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { runMulti } from '../../../src/multi/run.ts'
import { makeColumns } from '../../../src/series/columns.ts'
import { US_PER_DAY, US_PER_SECOND } from '../../../src/time/instant.ts'
import { UTC } from '../../../src/time/zone.ts'
import { at, EVER, points, ramp } from '../../contract/points.ts'
import { LIMITS } from '../../multi-harness.ts'
import { foundInflux, InfluxServer } from '../../servers/influxdb.ts'
import { until } from '../../until.ts'
import { context, openInflux } from './subject.ts'

const NOW = 1_700_000_000_000_000

describe('what calls cost', { skip: foundInflux.skip }, () => {
  let server: InfluxServer
  let historian: InfluxHistorian
  let meter: QueryMeter
  const tags = Array.from({ length: 100 }, (_, index) => `T${index}`)
  before(async () => {
    server = await InfluxServer.start(['plant'])
    ;({ historian, meter } = await openInflux(server, 'plant'))
    const entries = tags.map((tag) => ({ tag, points: points([NOW - 5, 1], [NOW - 1, 2]) }))
    await historian.write(writeBatch(entries, true), context)
    await historian.write(
      writeBatch([{ tag: 'long', points: ramp(60_000, 0, US_PER_SECOND) }], true),
      context,
    )
    await historian.write(
      writeBatch([{ tag: 'stale', points: points([NOW - 400 * US_PER_DAY, 7]) }], true),
      context,
    )
  })
  after(async () => {
    await historian.close()
    await server.stop()
  })

  /** Requests and statements that a call sends. */
  async function costOf(call: () => Promise<unknown>) {
    meter.reset()
    const before = historian.client.statementsSent
    await call()
    return {
      requests: Object.fromEntries(meter.counts().map(({ kind, sent }) => [kind, sent])),
      statements: historian.client.statementsSent - before,
    }
  }

  test('100 current values are one request', async () => {
    const queries = tags.map((tag) => ({ tag, find: 'before-or-at' as const, at: at(NOW) }))
    const cost = await costOf(async () => {
      const found = await historian.readPoints(queries, context)
      assert.deepEqual(
        [...found.values],
        tags.map(() => 2),
      )
    })
    assert.deepEqual(cost, { requests: { read: 1 }, statements: 100 })
  })

  test('a call for 100 current values is one request for the tags and one for the points', async () => {
    const requests = Object.fromEntries(
      tags.map((tag) => [tag, { type: 'CURRENT_POINT', tag: `plant/${tag}` }]),
    )
    const cost = await costOf(async () => {
      const answer = await runMulti(
        { requests },
        {
          historians: new HistorianRegistry([historian]),
          limits: LIMITS,
          defaultZone: UTC,
          defaultHistorian: null,
          now: at(NOW),
          signal: context.signal,
        },
      )
      const { results, errors } = JSON.parse(Buffer.concat([...answer.chunks()]).toString())
      assert.deepEqual(errors, {})
      assert.equal(results.T99.dataPoint.value, 2)
    })
    assert.deepEqual(cost.requests, { metadata: 1, read: 1 })
  })

  test('only a tag without points for two weeks is looked for further back', async () => {
    const find = 'before' as const
    const queries = ['T1', 'stale', 'T2', 'nothing'].map((tag) => ({ tag, find, at: at(NOW) }))
    const cost = await costOf(async () => {
      const found = await historian.readPoints(queries, context)
      assert.deepEqual([...found.values], [2, 7, 2, Number.NaN])
    })
    assert.deepEqual(cost, { requests: { read: 2 }, statements: 6 })
  })

  test('a write with new tags, and one without, is one request', async () => {
    const batch = (count: number) =>
      writeBatch(
        Array.from({ length: count }, (_, tag) => ({ tag: `new ${tag}`, points: ramp(10, NOW, 1) })),
        true,
      )
    assert.deepEqual((await costOf(() => historian.write(batch(500), context))).requests, { write: 1 })
    assert.deepEqual((await costOf(() => historian.write(batch(500), context))).requests, { write: 1 })
    const found = await historian.findTags(['new 0', 'new 499', 'new 500'], context)
    assert.deepEqual(
      found.map((tag) => tag !== null),
      [true, true, false],
    )
  })

  test('raw points of any number are one request', async () => {
    const query = { tag: 'long', ...EVER, order: 'asc', limit: 60_000 } as const
    const cost = await costOf(async () => {
      const [found] = await historian.readRanges([query], context)
      assert.deepEqual(found!.points.times, ramp(60_000, 0, US_PER_SECOND).times)
      assert.equal(found!.more, false)
    })
    assert.deepEqual(cost, { requests: { read: 1 }, statements: 1 })
  })

  test('aggregates of a thousand windows are one request, whatever the windows are', async () => {
    const ask = async (edges: Float64Array, expected: (window: number) => number) => {
      const query = {
        tag: 'long',
        edges,
        aggregates: ['avg', 'count'] as const,
        stepped: false,
        holdUntil: at(0),
      }
      const [found] = await historian.readAggregates([query], context)
      found!.avg!.forEach((value, window) => {
        assert.ok(Math.abs(value - expected(window)) < 1e-9, `${value} in window ${window}`)
      })
      return found!.count!.reduce((sum, count) => sum + count, 0)
    }
    const equal = Float64Array.from({ length: 1_001 }, (_, index) => index * 60 * US_PER_SECOND)
    const cost = await costOf(async () => {
      assert.equal(await ask(equal, (window) => window * 60 + 29.5), 60_000)
    })
    assert.deepEqual(cost.requests, { read: 1 })
    // Windows of all widths: so many statements would cost more than the points.
    const uneven = Float64Array.from(
      { length: 1_001 },
      (_, index) => ((index * (index + 1)) / 2) * US_PER_SECOND,
    )
    const other = await costOf(async () => {
      const filled = uneven.subarray(0, 340)
      assert.equal(
        await ask(filled, (window) => (filled[window]! + filled[window + 1]!) / 2e6 - 0.5),
        57_291 + 339,
      )
    })
    assert.ok(other.requests.read! <= 6, JSON.stringify(other))
  })

  test('bounding values of a few times in many points are looked up, those of many come with the points', async () => {
    for (const [count, most] of [
      [2, 2],
      [20, 3],
      [3_000, 3],
    ] as const) {
      const step = Math.floor(59_000_000_000 / count)
      const times = Float64Array.from({ length: count }, (_, index) => 500_000 + index * step)
      const cost = await costOf(async () => {
        const [found] = await historian.readBoundingValues(['long'], times, context)
        const before = times.map((time) => Math.floor(time / US_PER_SECOND) * US_PER_SECOND)
        assert.deepEqual(found!.beforeTimes, before)
        assert.deepEqual(
          found!.beforeValues,
          before.map((time) => time / US_PER_SECOND),
        )
        const after = times.map((time) => Math.ceil(time / US_PER_SECOND) * US_PER_SECOND)
        assert.deepEqual(found!.afterTimes, after)
        assert.deepEqual(
          found!.afterValues,
          after.map((time) => time / US_PER_SECOND),
        )
      })
      assert.ok(cost.requests.read! <= most, `${count} times: ${JSON.stringify(cost)}`)
    }
  })

  test('counting ends at the cap', async () => {
    const day = 86_400
    const dense = makeColumns(40 * 100)
    for (let i = 0; i < dense.times.length; i++) dense.times[i] = NOW + i * ((day * 1e6) / 100)
    await historian.write(writeBatch([{ tag: 'dense', points: dense }], true), context)
    const range = { tag: 'dense', from: at(NOW - 10_000 * US_PER_DAY), to: at(NOW + 40 * US_PER_DAY) }
    const whole = await costOf(async () => {
      assert.deepEqual(await historian.estimatePoints([range], 1e6, context), [4_000])
    })
    const capped = await costOf(async () => {
      assert.deepEqual(await historian.estimatePoints([range], 100, context), [100])
    })
    assert.ok(capped.statements < whole.statements, JSON.stringify([capped, whole]))
  })

  test('a call that is aborted ends at the server', async () => {
    const running = async () => {
      const { results } = await server.query('SHOW QUERIES')
      const rows: unknown[][] = results[0].series[0].values
      return rows.filter(([, query]) => String(query).includes('count(')).length
    }
    const controller = new AbortController()
    const reason = new Error('the client went away')
    // Some ten seconds of counting in one request.
    const ranges = Array.from({ length: 240 }, () => ({ tag: 'long', ...EVER }))
    let isOver = false
    const reading = historian.estimatePoints(ranges, 1e9, { signal: controller.signal })
    const over = reading
      .catch(() => {})
      .then(() => {
        isOver = true
      })
    while ((await running()) === 0) assert.equal(isOver, false, 'the server was seen at work')
    controller.abort(reason)
    await assert.rejects(reading, (error) => error === reason)
    await over
    const sent = historian.client.statementsSent
    await until(async () => (await running()) === 0, 'the server stops')
    assert.equal(historian.client.statementsSent, sent)
  })
})
