import assert from 'node:assert/strict'
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { QueryMeter } from '../../../src/historian/remote/meter.ts'
import { parseTagPattern } from '../../../src/historian/tag-pattern.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import type { PointColumns } from '../../../src/series/columns.ts'
import { at, EVER, points, ramp } from '../../contract/points.ts'
import { aggregatesOf } from '../../contract/push-down-promises.ts'
import { HOSTILE_NAMES } from '../../contract/tag-promises.ts'
import { FaultyProxy } from '../../servers/faulty-proxy.ts'
import {
  found,
  type PostgresServer,
  serverOwner,
  startPostgres,
  testEnvironment,
} from '../../servers/postgres.ts'
import { until } from '../../until.ts'

const context = { signal: new AbortController().signal }
const NONE = { description: null, units: null, stepped: false }
const log = { info() {}, warn() {}, error() {} }

describe('own tables in a PostgreSQL', { skip: found.skip }, () => {
  let server: PostgresServer
  const opened: Historian[] = []
  let schemas = 0
  before(async () => {
    server = await startPostgres({ settings: 'fsync=off' })
  })
  after(() => server.stop('immediate'))
  afterEach(async () => {
    for (const historian of opened.splice(0)) await historian.close()
  })

  async function open(config: object = {}, meter = new QueryMeter()): Promise<Historian> {
    const settings = postgresConfigSchema.parse({ ...server.config(`own_${schemas++}`), ...config })
    const historian = await postgres.open(settings, { name: 'plant', directory: '/nowhere', log, meter })
    opened.push(historian)
    return historian
  }

  const write = (historian: Historian, tag: string, batch: PointColumns) =>
    historian.write(writeBatch([{ tag, points: batch }], true), context)

  test('any number of processes may make the tables at once', async () => {
    const historians = await Promise.all(
      Array.from({ length: 6 }, () => open({ schema: 'together', connections: 2 })),
    )
    await Promise.all(historians.map((historian, i) => write(historian, 'a', points([i, i]))))
    const [read] = await historians[0]!.readRanges([{ tag: 'a', ...EVER, order: 'asc', limit: 99 }], context)
    assert.equal(read!.points.times.length, 6)
    assert.deepEqual(await server.sql('SELECT * FROM together.tidemark_schema'), [{ version: 3 }])
  })

  test('tables of a newer version are left alone, and missing ones are not made where nothing may be written', async () => {
    const historian = await open({ schema: 'newer' })
    await historian.checkHealth(context)
    await server.sql('UPDATE newer.tidemark_schema SET version = 99')
    await assert.rejects((await open({ schema: 'newer' })).checkHealth(context), {
      code: 'HISTORIAN_UNAVAILABLE',
      message:
        'Historian plant could not be reached: its tables were made by a newer tidemark (version 99, this one knows 3)',
    })
    const readOnly = await open({ schema: 'missing', writable: false })
    await assert.rejects(readOnly.checkHealth(context), {
      message:
        'Historian plant could not be reached: it has no tables yet, and writable: false keeps them from being made',
    })
    assert.deepEqual(await server.sql("SELECT to_regnamespace('missing') AS schema"), [{ schema: null }])
  })

  test('with writable: false everything is read and nothing changed', async () => {
    await write(await open({ schema: 'shared' }), 'a', points([1, 1]))
    const historian = await open({ schema: 'shared', writable: false })
    assert.equal(historian.capabilities.write, false)
    const found_ = await historian.readPoints([{ tag: 'a', find: 'after', at: at(0) }], context)
    assert.equal(found_.times[0], 1)
    await assert.rejects(write(historian, 'a', points([2, 2])), { code: 'NOT_SUPPORTED' })
  })

  // Neither extension can be had here: stand-ins keep what they are called with, and all else is plain PostgreSQL.
  for (const [extension, functions, calls] of [
    [
      'timescaledb',
      ['create_hypertable(t regclass, c name, chunk_time_interval bigint, create_default_indexes boolean)'],
      ['t=with_timescaledb.points c=time chunk_time_interval=604800000000 create_default_indexes=false'],
    ],
    [
      'citus',
      ['create_reference_table(t regclass)', 'create_distributed_table(t regclass, c text)'],
      ['t=with_citus.tags', 't=with_citus.points c=tag_id'],
    ],
  ] as const) {
    test(`${extension} is detected and told how to spread the points`, async () => {
      await server.sql('CREATE TABLE calls (id serial, call text)')
      for (const signature of functions) {
        const names = [...signature.matchAll(/(\w+) (?:regclass|name|bigint|boolean|text)/g)].map(
          ([, name]) => name,
        )
        const call = names.map((name) => `'${name}=' || ${name}`).join(` || ' ' || `)
        await server.sql(
          `CREATE FUNCTION ${signature} RETURNS void LANGUAGE sql AS $$ INSERT INTO public.calls (call) VALUES (${call}) $$`,
        )
      }
      await server.sql(`SET allow_system_table_mods = on; INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
        VALUES (99999, '${extension}', 10, 2200, false, '1')`)
      try {
        const historian = await open({ schema: `with_${extension}` })
        await write(historian, 'a', points([1, 1]))
        const found_ = await historian.readPoints([{ tag: 'a', find: 'after', at: at(0) }], context)
        assert.equal(found_.values[0], 1)
        const rows = await server.sql('SELECT call FROM calls ORDER BY id')
        assert.deepEqual(
          rows.map(({ call }) => call),
          calls,
        )
      } finally {
        await server.sql(
          `SET allow_system_table_mods = on; DELETE FROM pg_extension WHERE extname = '${extension}'`,
        )
        await server.sql('DROP TABLE calls')
        for (const signature of functions) await server.sql(`DROP FUNCTION ${signature}`)
      }
    })
  }

  test('a schema of any name is that schema', async () => {
    const historian = await open({ schema: 'it\'s "A; DROP--\\ Schema' })
    await write(historian, 'a', points([1, 1]))
    assert.deepEqual(await historian.findTags(['a'], context), [NONE])
  })

  test('each call is one query for many tags, and a write four in one transaction', async () => {
    const meter = new QueryMeter()
    const historian = await open({}, meter)
    const tags = Array.from({ length: 100 }, (_, i) => `T${i}`)
    const batch = writeBatch(
      tags.map((tag) => ({ tag, points: ramp(50, 0, 10) })),
      true,
    )
    await historian.write(batch, context)
    const count = async (call: () => Promise<unknown>) => {
      meter.reset()
      await call()
      return meter.total()
    }
    const times = Float64Array.of(1, 11, 21)
    const shape = { stepped: false, holdUntil: at(500) }
    const edges = Float64Array.of(0, 100, 200)
    const [starts, ends] = [edges.subarray(0, -1), edges.subarray(1)]
    const all = tags.map((tag) => ({ tag, ...EVER }))
    const queries: readonly (readonly [title: string, expected: number, call: () => Promise<unknown>])[] = [
      [
        'current values',
        1,
        async () =>
          historian.readPoints(
            tags.map((tag) => ({ tag, find: 'before', at: at(999) })),
            context,
          ),
      ],
      ['metadata', 1, async () => historian.findTags(tags, context)],
      [
        'ranges',
        1,
        () =>
          historian.readRanges(
            all.map((range) => ({ ...range, order: 'asc', limit: 20_000 })),
            context,
          ),
      ],
      ['estimates', 1, () => historian.estimatePoints(all, 1e6, context)],
      ['boundingValues', 1, () => historian.readBoundingValues(tags, times, context)],
      [
        'interpolated',
        1,
        () =>
          historian.readInterpolated!(
            tags.map((tag) => ({ tag, times, ...shape })),
            context,
          ),
      ],
      [
        'integrals',
        1,
        () =>
          historian.readIntegrals!(
            tags.map((tag) => ({ tag, starts, ends, ...shape })),
            context,
          ),
      ],
      [
        'aggregates',
        1,
        () =>
          historian.readAggregates!(
            tags.map((tag) => ({ tag, edges, aggregates: ['avg', 'max'] as const, ...shape })),
            context,
          ),
      ],
      [
        'aggregates with timeAvg',
        1,
        () =>
          historian.readAggregates!(
            tags.map((tag) => ({ tag, edges, aggregates: ['avg', 'timeAvg'] as const, ...shape })),
            context,
          ),
      ],
      [
        'further aggregates of stepped and linear tags with a limit',
        1,
        () =>
          historian.readAggregates!(
            tags.map((tag, i) => ({
              tag,
              edges,
              aggregates: ['total', 'increase', 'durationBad', 'numTransitions', 'max'] as const,
              stepped: i % 2 === 0,
              holdUntil: at(150),
              maxGapUs: 5 + (i % 3),
            })),
            context,
          ),
      ],
      [
        'charts, with BEGIN',
        2,
        () =>
          historian.readPlots!(
            tags.map((tag, i) => ({ tag, edges, stepped: i % 2 === 0 })),
            context,
          ),
      ],
      [
        'charts with breaks, likewise',
        3,
        () =>
          historian.readPlots!(
            tags.map((tag) => ({ tag, edges, stepped: false, maxGapUs: 9 })),
            context,
          ),
      ],
      [
        'times of extremes',
        1,
        () =>
          historian.readAggregates!(
            tags.map((tag) => ({ tag, edges, aggregates: ['minTime', 'maxTime'] as const, ...shape })),
            context,
          ),
      ],
      [
        'gaps',
        1,
        () =>
          historian.readGaps!(
            tags.map((tag, i) => ({ tag, from: 0, to: 500, longerThanUs: 10 + i, limit: 9 })),
            context,
          ),
      ],
      [
        'search',
        1,
        () => historian.searchTags({ pattern: parseTagPattern('T*'), after: null, limit: 100 }, context),
      ],
      ['write', 4, () => historian.write(batch, context)],
    ]
    for (const [title, expected, call] of queries) assert.equal(await count(call), expected, title)
  })

  test('pages of one answer are of one state of the points, while all of them are written anew', async () => {
    const config = { schema: 'pages' }
    const direct = await open(config)
    const count = 45_000
    const rewrite = (value: number) => {
      const all = ramp(count, 0, 1)
      all.values.fill(value)
      return write(direct, 'a', all)
    }
    // Their sum is beyond any double, so that the points are fetched and added up here.
    await rewrite(1e307)
    const proxy = await FaultyProxy.start(server.port)
    try {
      const historian = await open({ ...config, port: proxy.port })
      await historian.checkHealth(context)
      const edges = Float64Array.of(0, count)
      const aggregates = ['min', 'max', 'sum', 'timeAvg'] as const
      const query = { tag: 'a', edges, aggregates, stepped: true, holdUntil: at(count) }
      let rewritten = 0
      // In the middle of the first page.
      const meanwhile = async () => {
        await rewrite(2e307)
        rewritten++
      }
      proxy.arm({ kind: 'split', direction: 'answer', after: 400_000, meanwhile })
      const [windows] = await historian.readAggregates!([query], context)
      assert.deepEqual([windows!.min![0], windows!.max![0], rewritten], [1e307, 1e307, 1])
      proxy.arm({
        kind: 'split',
        direction: 'answer',
        after: 400_000,
        meanwhile: async () => void (await rewrite(-1e307)),
      })
      const spans = {
        starts: edges.subarray(0, 1),
        ends: edges.subarray(1),
        stepped: true,
        holdUntil: at(count),
      }
      const [integral] = await historian.readIntegrals!([{ tag: 'a', ...spans }], context)
      assert.equal(integral!.integrals[0], Number.POSITIVE_INFINITY)
    } finally {
      proxy.release()
      await Promise.all(opened.splice(0).map((historian) => historian.close()))
      await proxy.close()
    }
  })

  test('more points than a cursor fetches at a time come whole', async () => {
    const historian = await open()
    for (let part = 0; part < 2; part++) await write(historian, 'a', ramp(30_000, part * 300_000, 10))
    const [ascending, descending] = await historian.readRanges(
      [
        { tag: 'a', ...EVER, order: 'asc', limit: 51_000 },
        { tag: 'a', ...EVER, order: 'desc', limit: 1_000_000 },
      ],
      context,
    )
    assert.deepEqual([ascending!.points.times.length, ascending!.more], [51_000, true])
    assert.deepEqual([descending!.points.times.length, descending!.more], [60_000, false])
    assert.ok(ascending!.points.times.every((time, i) => time === i * 10))
    assert.ok(descending!.points.times.every((time, i) => time === (59_999 - i) * 10))
  })

  test('a batch larger than a statement is one transaction', async () => {
    const historian = await open()
    await write(historian, 'a', ramp(50_001, 0, 1))
    assert.deepEqual(await historian.estimatePoints([{ tag: 'a', ...EVER }], 1e6, context), [50_001])
  })

  test('texts that PostgreSQL cannot hold are refused with a sentence, and no tag has such a name', async () => {
    const historian = await open()
    await write(historian, 'a', points([1, 1]))
    const why = 'it holds a NUL character or half a surrogate pair, which PostgreSQL has no place for'
    for (const bad of ['nul\0name', 'half \ud83d pair', '\udc00']) {
      const refused = (field: string, tag: string) => ({
        code: 'NOT_SUPPORTED',
        message: `Historian plant cannot store the ${field} of tag ${tag.toWellFormed().replaceAll('\0', '\ufffd')}: ${why}`,
      })
      await assert.rejects(write(historian, bad, points([1, 1])), refused('name', bad))
      /** Puts it beside another entry, which is stored; rejects with the error of its own. */
      const put = async (name: string, metadata: object) => {
        const entries = [
          { name, metadata: { ...NONE, ...metadata } },
          { name: 'beside', metadata: NONE },
        ]
        const [own, beside] = await historian.putTags(entries, 'upsert', context)
        assert.equal(beside, 'stored')
        throw own
      }
      await assert.rejects(put(bad, {}), refused('name', bad))
      await assert.rejects(put('a', { description: bad }), refused('description', 'a'))
      await assert.rejects(put('a', { units: bad }), refused('units', 'a'))
      await assert.rejects(
        historian.renameTags!([{ from: 'a', to: bad }], false, context),
        refused('name', bad),
      )
      const batch = writeBatch([{ tag: bad, points: points([1, 1]) }], false)
      await assert.rejects(historian.write(batch, context), { code: 'TAG_NOT_FOUND' })
      assert.deepEqual(await historian.putTags([{ name: bad, metadata: NONE }], 'update', context), [
        'missing',
      ])
      assert.deepEqual(await historian.findTags([bad, 'a'], context), [null, NONE])
      assert.deepEqual(await historian.estimatePoints([{ tag: bad, ...EVER }], 9, context), [0])
      assert.deepEqual(await historian.deletePoints!([{ tag: bad, ...EVER }], true, context), [0])
      await historian.searchTags({ pattern: parseTagPattern(bad), after: bad, limit: 5 }, context)
      await historian.searchTags({ pattern: parseTagPattern(`*${bad}*`), after: null, limit: 5 }, context)
    }
    assert.deepEqual(await historian.findTags(['a'], context), [NONE])
  })

  test('metadata and patterns that look like SQL, LIKE or arrays are texts', async () => {
    const historian = await open()
    const odd = [
      ...HOSTILE_NAMES,
      "x'); DROP TABLE points; --",
      '{a,"b",NULL}',
      'NULL',
      'a=b,c=d',
      'line\nbreak\r\n\ttab',
      '100%_\\%',
      'E\\x27',
      '$1::text',
      '\u0001\u007f',
    ]
    const entries = odd.map((name) => ({
      name,
      metadata: { description: `d ${name}`, units: name, stepped: true },
    }))
    await historian.putTags(entries, 'create', context)
    assert.deepEqual(
      await historian.findTags(odd, context),
      entries.map(({ metadata }) => metadata),
    )
    for (const name of odd) {
      const pattern = parseTagPattern(name)
      const { tags } = await historian.searchTags({ pattern, after: null, limit: 1_000 }, context)
      const expected = odd.filter((other) => pattern.matches(other, `d ${other}`))
      assert.deepEqual(new Set(tags.map((tag) => tag.name)), new Set(expected), name)
    }
    const renames = odd.filter(({ length }) => length < 500).map((from) => ({ from, to: `${from}'` }))
    await historian.renameTags!(renames, false, context)
    assert.deepEqual(await historian.findTags([renames[3]!.from], context), [null])
    assert.deepEqual((await historian.findTags([renames[3]!.to], context))[0]!.units, odd[3])
  })

  test('arithmetic that leaves the range of doubles gives what raw points give', async () => {
    const historian = await open()
    const extremes: readonly PointColumns[] = [
      points([0, 1.7e308], [10, 1.7e308], [20, 1.7e308]),
      points([0, -1.7e308], [10, 1.7e308], [20, -1.7e308]),
      points([0, 5e-324], [10, -5e-324], [20, 5e-324], [30, 1e-320]),
      points([0, 1e200], [10, 2e200], [20, -1e200]),
    ]
    const edges = Float64Array.of(-5, 5, 15, 40)
    const aggregates = historian.capabilities.aggregates
    for (const [index, batch] of extremes.entries()) {
      const tag = `x${index}`
      await write(historian, tag, batch)
      for (const stepped of [false, true]) {
        const shape = { stepped, holdUntil: at(100) }
        const [actual] = await historian.readAggregates!([{ tag, edges, aggregates, ...shape }], context)
        const expected = aggregatesOf(batch, edges, aggregates, shape)
        for (const name of aggregates) {
          actual![name]!.forEach((value, i) => {
            const wanted = expected[name]![i]!
            const close =
              Object.is(value, wanted) || Math.abs(value - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted))
            assert.ok(close, `${name} of window ${i} of ${tag}: ${value} is not ${wanted}`)
          })
        }
      }
    }
  })

  test('writers of the same points in different orders do not stop each other', async () => {
    const historian = await open()
    const tags = Array.from({ length: 40 }, (_, i) => `D${i}`)
    await Promise.all(
      Array.from({ length: 16 }, (_, writer) => {
        const order = writer % 2 === 0 ? tags : tags.toReversed()
        const entries = order.map((tag) => ({
          tag,
          points: points(...[9, 3, 6].map((time) => [time, writer] as const)),
        }))
        return historian.write(writeBatch(entries, true), context)
      }),
    )
    const read = await historian.readRanges(
      tags.map((tag) => ({ tag, ...EVER, order: 'asc', limit: 9 })),
      context,
    )
    const values = new Set(read.flatMap(({ points: all }) => [...all.values]))
    assert.equal(values.size, 1, 'one of the writers was the last for all of them')
  })
})

describe('a PostgreSQL with TLS', { skip: found.skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-postgres-tls-'))
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  let server: PostgresServer
  before(async () => {
    const source = join(import.meta.dirname, '../../http/tls')
    copyFileSync(join(source, 'cert.pem'), files.cert)
    copyFileSync(join(source, 'key.pem'), files.key)
    giveToServer(folder, files.cert, files.key)
    server = await startPostgres({
      hba: 'hostssl all all 127.0.0.1/32 trust\nhostnossl all postgres 127.0.0.1/32 trust\n',
      settings: `fsync=off\nssl=on\nssl_cert_file=${files.cert}\nssl_key_file=${files.key}`,
    })
  })
  after(async () => {
    await server.stop('immediate')
    rmSync(folder, { recursive: true })
  })

  const open = (tls: object | undefined) =>
    postgres.open(
      postgresConfigSchema.parse({ ...server.config('encrypted'), ...(tls && { tls }) }),
      testEnvironment(),
    )

  test('the certificate is checked, and what is aborted ends over TLS too', async () => {
    const refused = await open({})
    await assert.rejects(refused.checkHealth(context), (error: Error) => {
      assert.match(
        error.message,
        /^Historian plant could not be reached: its certificate is not accepted \(\w+\)$/,
      )
      return true
    })
    await refused.close()
    const trusting = await open({ caFile: files.cert, servername: 'localhost' })
    await trusting.write(writeBatch([{ tag: 'a', points: ramp(40_000, 0, 1) }], true), context)
    const [row] = await server.sql(
      "SELECT bool_and(s.ssl) AS ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'tidemark'",
    )
    assert.equal(row!.ssl, true)
    const active = () =>
      server.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = 'tidemark' AND state <> 'idle'")
    const controller = new AbortController()
    const ranges = Array.from({ length: 100_000 }, () => ({ tag: 'a', from: at(0), to: at(40_000) }))
    const call = assert.rejects(trusting.estimatePoints(ranges, 1e6, { signal: controller.signal }), {
      message: 'enough',
    })
    await until(async () => (await active()).length > 0, 'the server computes')
    controller.abort(new Error('enough'))
    await call
    await until(async () => (await active()).length === 0, 'the server stops')
    await trusting.close()
  })
})

/** The server reads its key only when it belongs to it, and to nobody else. */
function giveToServer(...paths: readonly string[]): void {
  for (const path of paths) {
    chmodSync(path, 0o700)
    if (serverOwner !== undefined) chownSync(path, serverOwner.uid, serverOwner.gid)
  }
}
