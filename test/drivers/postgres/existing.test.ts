import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { parseTagPattern } from '../../../src/historian/tag-pattern.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { makeColumns, type PointColumns } from '../../../src/series/columns.ts'
import { GapFinder } from '../../../src/series/gaps.ts'
import { instantFromUs } from '../../../src/time/instant.ts'
import { MemoryHistorian } from '../../contract/memory-historian.ts'
import { assertPoints, at, points, type Row, rows } from '../../contract/points.ts'
import { aggregatesOf } from '../../contract/push-down-promises.ts'
import { askBody } from '../../multi-harness.ts'
import { found, type PostgresServer, startPostgres, testEnvironment } from '../../servers/postgres.ts'

const context = { signal: new AbortController().signal }
const NONE = { description: null, units: null, stepped: false }
/** 2026-03-01T00:00:00Z */
const START = 1_772_323_200_000_000

describe('existing tables of a PostgreSQL', { skip: found.skip }, () => {
  let server: PostgresServer
  const opened: Historian[] = []
  before(async () => {
    server = await startPostgres({ settings: 'fsync=off' })
  })
  after(() => server.stop('immediate'))
  afterEach(async () => {
    for (const historian of opened.splice(0)) await historian.close()
  })

  async function open(existing: object): Promise<Historian> {
    const { schema: _, ...config } = server.config('none')
    const historian = await postgres.open(
      postgresConfigSchema.parse({ ...config, existing, connections: 2 }),
      testEnvironment(),
    )
    opened.push(historian)
    return historian
  }

  async function readAll(historian: Historian, tag: string): Promise<PointColumns> {
    const range = { tag, from: at(-1e15), to: at(START + 1e15), order: 'asc', limit: 1e6 } as const
    const [result] = await historian.readRanges([range], context)
    return result!.points
  }

  /** Points as [microseconds after START, value]. */
  const sinceStart = (columns: PointColumns) =>
    rows(columns).map(([time, value, status]) =>
      status === 0 ? [time - START, value] : [time - START, value, 'BAD'],
    )

  /** Every read of the contract gives what a historian in memory with the same points gives. */
  async function assertLike(historian: Historian, tag: string, all: PointColumns): Promise<void> {
    const memory = new MemoryHistorian('memory')
    await memory.write(writeBatch([{ tag, points: all }], true), context)
    const first = all.times[0]!
    const last = all.times.at(-1)!
    const instants = Float64Array.from(
      new Set([
        first - 5e6,
        ...all.times,
        ...all.times.map((time) => time + 1),
        ...all.times.map((time) => time - 1),
        last + 9e6,
      ]),
    ).sort()
    for (const order of ['asc', 'desc'] as const) {
      for (const [from, to] of [
        [first - 1, last + 1],
        [first, last],
        [first + 1, last - 1],
        [last, last + 1],
      ]) {
        for (const limit of [1, 3, 1000]) {
          const query = { tag, from: at(from!), to: at(to!), order, limit }
          const [actual] = await historian.readRanges([query], context)
          const [expected] = await memory.readRanges([query], context)
          assertPoints(actual!.points, expected!.points)
          assert.equal(actual!.more, expected!.more)
          assert.deepEqual(
            await historian.estimatePoints([query], 1e6, context),
            await memory.estimatePoints([query], 1e6, context),
          )
        }
      }
    }
    for (const find of ['before', 'before-or-at', 'after', 'after-or-at'] as const) {
      const queries = Array.from(instants, (us) => ({ tag, find, at: instantFromUs(us) }))
      const actual = await historian.readPoints(queries, context)
      const expected = await memory.readPoints(queries, context)
      assert.deepEqual(actual.times, expected.times, find)
      assert.deepEqual(
        rows(actual).filter(([time]) => !Number.isNaN(time)),
        rows(expected).filter(([time]) => !Number.isNaN(time)),
      )
    }
    const [boundingValues] = await historian.readBoundingValues([tag], instants, context)
    assert.deepEqual(boundingValues, (await memory.readBoundingValues([tag], instants, context))[0])

    for (const longerThanUs of [1, 5_000_000, last - first]) {
      const search = { from: first - 2e6, to: last + 1, longerThanUs, limit: 25 }
      const finder = new GapFinder(search)
      finder.add(all)
      const [gaps] = await historian.readGaps!([{ tag, ...search }], context)
      assert.deepEqual(gaps, finder.finish(), `gaps longer than ${longerThanUs}`)
    }

    const middle = Math.round((first + last) / 2)
    const edges = Float64Array.from(
      new Set([first - 3, first, first + 1, middle, last, last + 1, last + 7e6]),
    ).sort()
    const aggregates = historian.capabilities.aggregates
    for (const stepped of [false, true]) {
      const shape = { stepped, holdUntil: at(last + 4e6) }
      const [actual] = await historian.readAggregates!([{ tag, edges, aggregates, ...shape }], context)
      const expected = aggregatesOf(all, edges, aggregates, shape)
      for (const name of aggregates) {
        assert.equal(actual![name]!.length, edges.length - 1)
        actual![name]!.forEach((value, i) => {
          const wanted = expected[name]![i]!
          const close = Number.isNaN(wanted)
            ? Number.isNaN(value)
            : Math.abs(value - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted))
          assert.ok(close, `${name} of window ${i}: ${value} is not ${wanted}`)
        })
      }
    }
  }

  /** Points at whole units, some of them BAD, from `start` on. */
  function wave(unitUs: number, start = START): PointColumns {
    const columns = makeColumns(60)
    for (let i = 0; i < 60; i++) {
      columns.times[i] = start + i * 7 * unitUs + (i % 3) * unitUs
      columns.values[i] = 50 + Math.round(1000 * Math.sin(i / 5)) / 64
      columns.statuses[i] = i % 11 === 3 ? 1 : 0
    }
    return columns
  }

  const timeColumns: readonly (readonly [
    title: string,
    type: string,
    sql: string,
    unitUs: number,
    config: object,
  ])[] = [
    [
      'timestamp with time zone',
      'timestamptz',
      "'epoch'::timestamptz + us * interval '1 microsecond'",
      1,
      {},
    ],
    [
      'timestamp of UTC',
      'timestamp',
      "'epoch'::timestamp + us * interval '1 microsecond'",
      1,
      { timeZone: 'UTC' },
    ],
    [
      'timestamp of a zone',
      'timestamp',
      "('epoch'::timestamptz + us * interval '1 microsecond') AT TIME ZONE 'Europe/Oslo'",
      1,
      { timeZone: 'Europe/Oslo' },
    ],
    ['integer seconds', 'integer', 'us / 1000000', 1_000_000, { timeUnit: 's' }],
    ['integer milliseconds', 'bigint', 'us / 1000', 1_000, { timeUnit: 'ms' }],
    ['integer microseconds', 'bigint', 'us', 1, { timeUnit: 'us' }],
    ['integer nanoseconds', 'bigint', 'us * 1000 + 999', 1, { timeUnit: 'ns' }],
    ['seconds with a fraction', 'double precision', 'us / 1000000.0::double precision', 1, { timeUnit: 's' }],
    ['exact seconds with a fraction', 'numeric', 'us / 1000000.0', 1, { timeUnit: 's' }],
  ]
  for (const [index, [title, type, sql, unitUs, config]] of timeColumns.entries()) {
    for (const unique of [true, false]) {
      test(`a time column of ${title} gives the same as a plain model, ${unique ? 'with' : 'without'} a unique index`, async () => {
        const table = `times_${index}_${unique}`
        const all = wave(unitUs)
        await server.sql(
          `CREATE TABLE ${table} (sensor text NOT NULL, at ${type} NOT NULL, reading double precision, quality text)`,
        )
        if (unique) await server.sql(`CREATE UNIQUE INDEX ON ${table} (sensor, at)`)
        await server.sql(
          `INSERT INTO ${table} SELECT 'pump', ${sql}, v, CASE WHEN s = 0 THEN 'Good' ELSE 'Bad' END
            FROM unnest($1::bigint[], $2::double precision[], $3::integer[]) AS q(us, v, s)`,
          [[...all.times], [...all.values], [...all.statuses]],
        )
        const historian = await open({
          points: {
            table,
            tag: 'sensor',
            time: 'at',
            value: 'reading',
            status: { column: 'quality', good: ['Good'] },
            ...config,
          },
        })
        await assertLike(historian, 'pump', all)
        assert.deepEqual(await historian.findTags(['pump', 'valve'], context), [NONE, null])
      })
    }
  }

  test('the instant before 1970 of a number is the one that it means', async () => {
    await server.sql('CREATE TABLE early (tag text, ns bigint, v real)')
    await server.sql("INSERT INTO early VALUES ('a', -1, 1), ('a', -1000, 2), ('a', -1001, 3)")
    const historian = await open({
      points: { table: 'early', tag: 'tag', time: 'ns', timeUnit: 'ns', value: 'v' },
    })
    // The two of one microsecond are one point: that of the later nanosecond.
    assert.deepEqual(rows(await readAll(historian, 'a')), [
      [-2, 3, 0],
      [-1, 1, 0],
    ])
  })

  const finerColumns: readonly (readonly [title: string, type: string, sql: string, config: object])[] = [
    ['integer nanoseconds', 'bigint', 'us * 1000 + 300 * part', { timeUnit: 'ns' }],
    ['exact seconds with a fraction', 'numeric', '(us * 10 + 2 * part - 3) / 10000000.0', { timeUnit: 's' }],
    [
      'milliseconds with a fraction',
      'double precision',
      '(us + part / 4.0 - 0.25) / 1000.0',
      { timeUnit: 'ms' },
    ],
  ]
  for (const [index, [title, type, sql, config]] of finerColumns.entries()) {
    for (const unique of [true, false]) {
      test(`of several rows in a microsecond the last one is the point in every read: ${title}, ${unique ? 'with' : 'without'} a unique index`, async () => {
        const table = `finer_${index}_${unique}`
        const all = wave(1)
        await server.sql(`CREATE TABLE ${table} (tag text, at ${type}, v float8, status integer)`)
        await server.sql(`CREATE ${unique ? 'UNIQUE' : ''} INDEX ON ${table} (tag, at)`)
        // Before every second point there are others, which are the greatest of all or BAD.
        await server.sql(
          `INSERT INTO ${table} SELECT 'pump', ${sql}, CASE part WHEN 2 THEN v ELSE 1000 END, CASE part WHEN 2 THEN s ELSE part END
            FROM unnest($1::bigint[], $2::float8[], $3::integer[]) WITH ORDINALITY AS q(us, v, s, i), generate_series(0, 2) AS part
            WHERE part = 2 OR i % 2 = 0`,
          [[...all.times], [...all.values], [...all.statuses]],
        )
        const status = { column: 'status', good: ['0'] }
        const historian = await open({
          points: { table, tag: 'tag', time: 'at', value: 'v', status, ...config },
        })
        await assertLike(historian, 'pump', all)
      })
    }
  }

  test('an hour that comes twice belongs to its second time, and reads agree on it', async () => {
    // On 2026-10-25 at 01:00 UTC clocks in Oslo go from 03:00 back to 02:00.
    const turn = Date.UTC(2026, 9, 25, 1) * 1000
    await server.sql('CREATE TABLE autumn (tag text, at timestamp, v integer, PRIMARY KEY (tag, at))')
    await server.sql(`INSERT INTO autumn VALUES ('a', '2026-10-25 01:59:59', 1), ('a', '2026-10-25 02:00:00', 2),
      ('a', '2026-10-25 02:30:00', 3), ('a', '2026-10-25 03:00:00', 4)`)
    const historian = await open({
      points: { table: 'autumn', tag: 'tag', time: 'at', timeZone: 'Europe/Oslo', value: 'v' },
    })
    const all = points([turn - 3_601e6, 1], [turn, 2], [turn + 1_800e6, 3], [turn + 3_600e6, 4])
    await assertLike(historian, 'a', all)
    const found = await historian.readPoints([{ tag: 'a', find: 'after', at: at(turn - 1_800e6) }], context)
    assert.equal(found.times[0], turn)
  })

  test('a numeric outside of the range of doubles is BAD and fails nothing', async () => {
    const texts = [
      '1',
      '-2e400',
      '3',
      '1e309',
      "'NaN'",
      '1.7976931348623158e308',
      '-1e-500',
      '-4.9e-324',
      '5',
    ]
    await server.sql('CREATE TABLE vast (tag text, at timestamptz, v numeric, w numeric(320, 4))')
    await server.sql(
      `INSERT INTO vast SELECT 'a', 'epoch'::timestamptz + ($1::bigint + i) * interval '1 microsecond', v,
          CASE WHEN i = 2 THEN 1e309 WHEN i < 4 THEN i END
        FROM unnest(ARRAY[${texts}]::numeric[]) WITH ORDINALITY AS q(v, i)`,
      [START],
    )
    const narrow = await open({ points: { table: 'vast', tag: 'tag', time: 'at', value: 'v' } })
    const all: readonly (readonly [number, number, 'BAD'?])[] = [
      [1, 1],
      [2, Number.NaN, 'BAD'],
      [3, 3],
      [4, Number.NaN, 'BAD'],
      [5, Number.NaN, 'BAD'],
      [6, Number.MAX_VALUE],
      [7, 0],
      [8, -Number.MIN_VALUE],
      [9, 5],
    ]
    assert.deepEqual(sinceStart(await readAll(narrow, 'a')), all)
    const current = await narrow.readPoints([{ tag: 'a', find: 'before', at: at(START + 3) }], context)
    assert.deepEqual(sinceStart(current), [[2, Number.NaN, 'BAD']])
    const [beside] = await narrow.readBoundingValues(['a'], Float64Array.of(START + 2, START + 5), context)
    assert.deepEqual([...beside!.beforeValues, ...beside!.afterValues], [1, 3, 3, Number.MAX_VALUE])
    const wide = await open({
      wide: [{ table: 'vast', time: 'at', tag: 'tag', values: { w: 'W', v: 'V' } }],
    })
    const query = (tag: string) => ({
      tag,
      edges: Float64Array.of(START, START + 4),
      aggregates: ['count', 'numBad', 'sum', 'timeAvg', 'variance'] as const,
      stepped: true,
      holdUntil: at(START + 10),
    })
    for (const tag of ['a.W', 'a.V']) {
      const [windows] = await wide.readAggregates!([query(tag)], context)
      assert.deepEqual(
        [
          windows!.count![0],
          windows!.numBad![0],
          windows!.sum![0],
          windows!.timeAvg![0],
          windows!.variance![0],
        ],
        [3, 1, 4, 5 / 3, 2],
        tag,
      )
    }
  })

  test('NULL and numbers that are none are BAD points without a value', async () => {
    await server.sql('CREATE TABLE holes (tag text, at timestamptz, v double precision)')
    await server.sql(
      `INSERT INTO holes SELECT 'a', 'epoch'::timestamptz + ($1::bigint + i) * interval '1 microsecond', v
      FROM unnest(ARRAY[1, NULL, 3, 'NaN', 'Infinity', '-Infinity']::double precision[]) WITH ORDINALITY AS q(v, i)`,
      [START],
    )
    const historian = await open({ points: { table: 'holes', tag: 'tag', time: 'at', value: 'v' } })
    assert.deepEqual(sinceStart(await readAll(historian, 'a')), [
      [1, 1],
      [2, Number.NaN, 'BAD'],
      [3, 3],
      [4, Number.NaN, 'BAD'],
      [5, Number.NaN, 'BAD'],
      [6, Number.NaN, 'BAD'],
    ])
    const [boundingValues] = await historian.readBoundingValues(
      ['a'],
      Float64Array.of(START + 2, START + 9),
      context,
    )
    assert.deepEqual(
      [...boundingValues!.beforeTimes, ...boundingValues!.afterTimes].map((time) => time - START),
      [1, 3, 3, Number.NaN],
    )
    const current = await historian.readPoints([{ tag: 'a', find: 'before', at: at(START + 9) }], context)
    assert.deepEqual(sinceStart(current), [[6, Number.NaN, 'BAD']])
    const query = {
      tag: 'a',
      edges: Float64Array.of(START, START + 10),
      aggregates: ['count', 'numGood', 'numBad', 'sum'] as const,
      stepped: false,
      holdUntil: at(START + 10),
    }
    const [aggregates] = await historian.readAggregates!([query], context)
    assert.deepEqual(
      [...aggregates!.count!, ...aggregates!.numGood!, ...aggregates!.numBad!, ...aggregates!.sum!],
      [6, 2, 4, 4],
    )
  })

  test('times that are no instants, such as infinity, are not there', async () => {
    await server.sql('CREATE TABLE ends (tag text, at timestamptz, v real)')
    await server.sql(
      "INSERT INTO ends VALUES ('a', '-infinity', 1), ('a', '1600-01-01', 2), ('a', '2026-03-01Z', 3), ('a', 'infinity', 4), ('a', NULL, 5)",
    )
    const historian = await open({ points: { table: 'ends', tag: 'tag', time: 'at', value: 'v' } })
    await assertLike(historian, 'a', points([START, 3]))
  })

  test('of rows with one time the version decides, and the same one every time without', async () => {
    await server.sql('CREATE TABLE twice (tag text, at timestamptz, v real, n integer)')
    await server.sql(
      `INSERT INTO twice SELECT 'a', 'epoch'::timestamptz + ($1::bigint + t) * interval '1 microsecond', v, n
        FROM (VALUES (0, 5, 1), (0, 4, 2), (1, 7, 1), (1, NULL, 3), (2, 1, NULL), (2, 2, 1), (3, 9, 9)) AS q(t, v, n)`,
      [START],
    )
    const table = { table: 'twice', tag: 'tag', time: 'at', value: 'v' }
    const newest = await open({ points: { ...table, version: 'n' } })
    await assertLikeStatuses(newest, [
      [0, 4],
      [1, Number.NaN, 'BAD'],
      [2, 2],
      [3, 9],
    ])
    const any = await open({ points: table })
    await assertLikeStatuses(any, [
      [0, 5],
      [1, 7],
      [2, 2],
      [3, 9],
    ])

    async function assertLikeStatuses(
      historian: Historian,
      expected: readonly (readonly (number | string)[])[],
    ) {
      assert.deepEqual(sinceStart(await readAll(historian, 'a')), expected)
      const range = { tag: 'a', from: at(START), to: at(START + 9) }
      assert.deepEqual(await historian.estimatePoints([range], 100, context), [4])
      const [last] = await historian.readRanges([{ ...range, order: 'desc', limit: 2 }], context)
      assert.deepEqual(sinceStart(last!.points), expected.slice(2).toReversed())
      const at0 = await historian.readPoints([{ tag: 'a', find: 'before-or-at', at: at(START) }], context)
      assert.deepEqual(sinceStart(at0), [expected[0]])
      // A newer row that is BAD hides the older good one.
      const [beside] = await historian.readBoundingValues(['a'], Float64Array.of(START + 1), context)
      assert.equal(beside!.beforeTimes[0]! - START, expected[1]![2] === 'BAD' ? 0 : 1)
      const aggregate = {
        tag: 'a',
        edges: Float64Array.of(START, START + 9),
        aggregates: ['count', 'sum'] as const,
      }
      const [sums] = await historian.readAggregates!(
        [{ ...aggregate, stepped: false, holdUntil: at(0) }],
        context,
      )
      const sum = expected.reduce((total, [, value, bad]) => total + (bad === 'BAD' ? 0 : Number(value)), 0)
      assert.deepEqual([sums!.count![0], sums!.sum![0]], [4, sum])
    }
  })

  test('a table of tags gives names, metadata and keys', async () => {
    await server.sql('CREATE SCHEMA "Odd ""Schema"""')
    await server.sql(
      'CREATE TABLE "Odd ""Schema"""."Sen;sors" ("Id" smallint PRIMARY KEY, "Na me" varchar(600) UNIQUE, about text, unit text, held boolean)',
    )
    await server.sql(
      'CREATE TABLE readings (sensor bigint, at timestamptz, value numeric(12, 3), good boolean, PRIMARY KEY (sensor, at))',
    )
    const names = [
      "it's; DROP TABLE readings; --",
      'Pump "1"',
      'pump,a=b',
      'back\\slash',
      'with\nbreak',
      '\u{1F525}',
    ]
    for (const [id, name] of names.entries()) {
      await server.sql('INSERT INTO "Odd ""Schema"""."Sen;sors" VALUES ($1, $2, $3, $4, $5)', [
        id,
        name,
        `about ${name}`,
        id === 1 ? 'bar' : null,
        id === 2 ? null : id % 2 === 0,
      ])
      await server.sql(
        "INSERT INTO readings VALUES ($1::bigint, 'epoch'::timestamptz + $2::bigint * interval '1 microsecond', $1::bigint, true)",
        [id, START + id],
      )
    }
    await server.sql("INSERT INTO readings VALUES (0, '2026-03-01 01:00Z', 5.125, NULL)")
    const historian = await open({
      points: {
        table: 'readings',
        tag: 'sensor',
        time: 'at',
        value: 'value',
        status: { column: 'good', good: ['true'] },
      },
      tags: {
        schema: 'Odd "Schema"',
        table: 'Sen;sors',
        name: 'Na me',
        key: 'Id',
        description: 'about',
        units: 'unit',
        stepped: 'held',
      },
      stepped: true,
    })
    const found = await historian.findTags([...names, 'missing', 'nul\0'], context)
    assert.deepEqual(found.slice(-2), [null, null])
    assert.deepEqual(found[1], { description: 'about Pump "1"', units: 'bar', stepped: false })
    assert.deepEqual(
      found.slice(0, 3).map((metadata) => metadata!.stepped),
      [true, false, true],
    )
    for (const [id, name] of names.entries()) {
      const current = await historian.readPoints([{ tag: name, find: 'after-or-at', at: at(START) }], context)
      assert.deepEqual(sinceStart(current), [[id, id]], name)
    }
    assert.deepEqual(sinceStart(await readAll(historian, names[0]!)), [
      [0, 0],
      [3_600e6, 5.125, 'BAD'],
    ])
    const search = async (text: string) =>
      (
        await historian.searchTags({ pattern: parseTagPattern(text), after: null, limit: 10 }, context)
      ).tags.map(({ name }) => name)
    assert.deepEqual(await search('PUMP'), ['Pump "1"', 'pump,a=b'])
    assert.deepEqual(await search("*'s; drop*"), [names[0]])
    assert.deepEqual(await search('back\\*'), ['back\\slash'])
    assert.deepEqual(await search('about pump*'), ['Pump "1"', 'pump,a=b'])
    assert.deepEqual(await search('?'), ['\u{1F525}'])
  })

  test('texts of maxGap and states that cannot be read are not set, and fail no read', async () => {
    const tags: readonly (readonly [name: string, gap: string | null, states: string | null])[] = [
      ['a', 'soon', '{"0":"Closed"'],
      ['b', '1mo', '{"zero":"Closed"}'],
      ['c', '0s', 'Closed'],
      ['d', '5min', '{"0":"Closed"}'],
      ['e', null, null],
    ]
    await server.sql('CREATE TABLE unread (tag text, gap text, states text)')
    await server.sql('CREATE TABLE unread_points (tag text, at timestamptz, v float8, PRIMARY KEY (tag, at))')
    for (const tag of tags) {
      await server.sql('INSERT INTO unread VALUES ($1, $2, $3)', [...tag])
      await server.sql("INSERT INTO unread_points VALUES ($1, '2026-03-01', 1), ($1, '2026-03-02', 2)", [
        tag[0],
      ])
    }
    const historian = await open({
      points: { table: 'unread_points', tag: 'tag', time: 'at', value: 'v' },
      tags: { table: 'unread', name: 'tag', maxGap: 'gap', states: 'states' },
    })
    const set = { ...NONE, stepped: true, maxGap: '5min', states: { 0: 'Closed' } }
    const names = tags.map(([name]) => name)
    const expected = [NONE, NONE, NONE, set, NONE]
    assert.deepEqual(await historian.findTags(names, context), expected)
    const page = await historian.searchTags({ pattern: null, after: null, limit: 9 }, context)
    assert.deepEqual(
      page.tags.map(({ metadata }) => metadata),
      expected,
    )
    const details = { at: '2026-03-01T12:00:00Z' }
    const requests = Object.fromEntries(
      names.map((name) => [name, { type: 'HISTORICAL_POINT', tag: `plant/${name}`, details }]),
    )
    const { json } = await askBody([historian], { requests })
    assert.deepEqual(json.errors, {})
    assert.deepEqual(
      names.map((name) => json.results[name].dataPoint.value),
      [1.5, 1.5, 1.5, null, 1.5],
    )
  })

  test('without a table of tags, those of the points are listed page by page in the order of code points', async () => {
    await server.sql('CREATE TABLE plain (tag varchar(80) COLLATE "und-x-icu", at timestamptz, v real)')
    const names = ['b', 'B', 'a', 'é', 'e', '\uffff', '\u{1F525}', 'Ä/1', 'ä/2', '_', 'i', 'İ', 'ı']
    for (const name of names) {
      await server.sql(
        "INSERT INTO plain SELECT $1, 'epoch'::timestamptz + i * interval '1 hour', i FROM generate_series(1, 20) AS i",
        [name],
      )
    }
    await server.sql('INSERT INTO plain VALUES (NULL, now(), 1)')
    const historian = await open({
      points: { table: 'plain', tag: 'tag', time: 'at', value: 'v' },
      stepped: true,
    })
    const listed: string[] = []
    for (let after: string | null = null, more = true; more; ) {
      const page = await historian.searchTags({ pattern: null, after, limit: 4 }, context)
      listed.push(...page.tags.map(({ name }) => name))
      assert.ok(page.tags.every(({ metadata }) => metadata.stepped))
      more = page.more
      after = page.tags.at(-1)!.name
    }
    assert.deepEqual(
      listed,
      ['B', '_', 'a', 'b', 'e', 'i', 'Ä/1', 'ä/2', 'é', 'İ', 'ı', '\uffff', '\u{1F525}'].sort((a, b) =>
        Buffer.compare(Buffer.from(a), Buffer.from(b)),
      ),
    )
    const { tags } = await historian.searchTags(
      { pattern: parseTagPattern('ä/*'), after: null, limit: 9 },
      context,
    )
    assert.deepEqual(
      tags.map(({ name }) => name),
      ['Ä/1', 'ä/2'],
    )
    assert.deepEqual(await historian.findTags(['B', 'c'], context), [{ ...NONE, stepped: true }, null])
    assert.deepEqual(historian.capabilities.write, false)
  })

  test('a wide table has a tag for each column, and a NULL is no point', async () => {
    await server.sql(
      'CREATE TABLE boiler (at timestamptz PRIMARY KEY, "temp C" real, level integer, running boolean)',
    )
    await server.sql(
      `INSERT INTO boiler SELECT 'epoch'::timestamptz + ($1::bigint + i) * interval '1 microsecond',
      CASE WHEN i % 2 = 0 THEN i END, i * 10, i > 2 FROM generate_series(0, 5) AS i`,
      [START],
    )
    const historian = await open({
      wide: [
        {
          table: 'boiler',
          time: 'at',
          values: {
            'temp C': { name: 'Boiler/TEMP', description: 'Steam', units: '°C' },
            level: 'Boiler/LEVEL',
            running: { name: 'Boiler/RUN', stepped: true },
          },
        },
      ],
    })
    await assertLike(historian, 'Boiler/TEMP', points([START, 0], [START + 2, 2], [START + 4, 4]))
    await assertLike(
      historian,
      'Boiler/LEVEL',
      points(...Array.from({ length: 6 }, (_, i): Row => [START + i, i * 10])),
    )
    assert.deepEqual(sinceStart(await readAll(historian, 'Boiler/RUN')), [
      [0, 0],
      [1, 0],
      [2, 0],
      [3, 1],
      [4, 1],
      [5, 1],
    ])
    assert.deepEqual(await historian.findTags(['Boiler/TEMP', 'Boiler/RUN', 'level'], context), [
      { description: 'Steam', units: '°C', stepped: false },
      { ...NONE, stepped: true },
      null,
    ])
    const { tags } = await historian.searchTags(
      { pattern: parseTagPattern('steam'), after: null, limit: 9 },
      context,
    )
    assert.deepEqual(
      tags.map(({ name }) => name),
      ['Boiler/TEMP'],
    )
  })

  test('a wide table whose rows say whose they are has a tag for each of both', async () => {
    await server.sql(
      'CREATE TABLE wells (well text, at timestamptz, flow real, pressure real, PRIMARY KEY (well, at))',
    )
    await server.sql(
      `INSERT INTO wells SELECT w, 'epoch'::timestamptz + ($1::bigint + i) * interval '1 microsecond', i, i * 2
      FROM unnest(ARRAY['A-1', 'A-1.x', 'B']) AS w, generate_series(0, 3) AS i WHERE w <> 'B' OR i = 0`,
      [START],
    )
    const historian = await open({
      wide: [
        {
          table: 'wells',
          time: 'at',
          tag: 'well',
          values: { flow: 'FLOW', pressure: { name: 'PRES', units: 'bar' } },
        },
      ],
    })
    await assertLike(
      historian,
      'A-1.x.PRES',
      points([START, 0], [START + 1, 2], [START + 2, 4], [START + 3, 6]),
    )
    assert.deepEqual(await historian.findTags(['B.FLOW', 'C.FLOW', 'B', '.FLOW', 'B.PRES'], context), [
      NONE,
      null,
      null,
      null,
      { ...NONE, units: 'bar' },
    ])
    const { tags, more } = await historian.searchTags(
      { pattern: parseTagPattern('*.flow'), after: 'A-1.FLOW', limit: 1 },
      context,
    )
    assert.deepEqual([tags.map(({ name }) => name), more], [['A-1.x.FLOW'], true])
  })

  test('many tags of narrow and wide tables are one query', async () => {
    await server.sql('CREATE TABLE n100 (tag text, at timestamptz, v real, PRIMARY KEY (tag, at))')
    await server.sql(`INSERT INTO n100 SELECT 'T' || i, now(), i FROM generate_series(0, 99) AS i`)
    const environment = testEnvironment()
    const { schema: _, ...config } = server.config('none')
    const historian = await postgres.open(
      postgresConfigSchema.parse({
        ...config,
        existing: {
          points: { table: 'n100', tag: 'tag', time: 'at', value: 'v' },
          wide: [{ table: 'boiler', time: 'at', values: { level: 'W' } }],
        },
      }),
      environment,
    )
    opened.push(historian)
    await historian.checkHealth(context)
    environment.meter.reset()
    const tags = ['W', ...Array.from({ length: 100 }, (_, i) => `T${i}`)]
    const found = await historian.readPoints(
      tags.map((tag) => ({ tag, find: 'before', at: at(7e15) })),
      context,
    )
    assert.deepEqual([...found.values], [50, ...Array.from({ length: 100 }, (_, i) => i)])
    assert.equal(environment.meter.total(), 1)
  })

  test('a query stands for a table', async () => {
    const historian = await open({
      points: {
        query: "SELECT 'x' || tag AS tag, at, v * 2 AS v FROM n100 -- all of them",
        tag: 'tag',
        time: 'at',
        value: 'v',
        unique: true,
      },
      tags: {
        query: "SELECT 'x' || tag AS tag, 'of ' || tag AS about FROM n100",
        name: 'tag',
        description: 'about',
      },
    })
    assert.deepEqual([...(await readAll(historian, 'xT7')).values], [14])
    assert.deepEqual(await historian.findTags(['xT7', 'T7'], context), [
      { ...NONE, description: 'of T7' },
      null,
    ])
  })

  test('what does not fit is said with the setting that is wrong', async () => {
    await server.sql(
      'CREATE TABLE wrong (tag text, id integer, at timestamptz, local timestamp, n bigint, v real, day date, note text)',
    )
    const base = { table: 'wrong', tag: 'tag', time: 'at', value: 'v' }
    const cases: readonly (readonly [existing: object, reason: string])[] = [
      [{ points: { ...base, table: 'nowhere' } }, 'existing.points.table does not exist'],
      [{ points: { ...base, schema: 'nowhere' } }, 'existing.points.table does not exist'],
      [
        { points: { ...base, value: 'nothing' } },
        'existing.points names a column that the table does not have',
      ],
      [
        { points: { ...base, value: 'note' } },
        'existing.points.value has to be a column of numbers or booleans',
      ],
      [
        { points: { ...base, time: 'local' } },
        'existing.points.timeZone is missing: the time column is a timestamp without time zone',
      ],
      [
        { points: { ...base, time: 'n' } },
        'existing.points.timeUnit is missing: the time column is a number',
      ],
      [
        { points: { ...base, time: 'day' } },
        'existing.points.time has to be a timestamp, integer, double precision or numeric column',
      ],
      [{ points: { ...base, tag: 'id' } }, 'existing.points.tag has to be a text or varchar column'],
      [
        { points: { tag: 'tag', time: 'at', value: 'v', query: 'SELECT FROM WHERE' } },
        'existing.points.query is not valid SQL',
      ],
      [
        { points: { tag: 'tag', time: 'at', value: 'v', query: 'SELECT * FROM nowhere' } },
        'existing.points.query reads a table that does not exist',
      ],
      [
        { points: base, tags: { table: 'wrong', name: 'note', key: 'id' } },
        'existing.points.tag cannot be compared with existing.tags.key: they have other types',
      ],
      [
        { points: base, tags: { table: 'wrong', name: 'id' } },
        'existing.tags.name has to be a text or varchar column',
      ],
      [
        { points: base, tags: { table: 'wrong', name: 'note', stepped: 'note' } },
        'existing.tags.stepped has to be a boolean column',
      ],
      [
        { wide: [{ table: 'wrong', time: 'at', values: { note: 'N' } }] },
        'existing.wide.0.values has to be a column of numbers or booleans',
      ],
    ]
    for (const [existing, reason] of cases) {
      const historian = await open(existing)
      const message = `Historian plant could not be reached: ${reason}`
      await assert.rejects(historian.checkHealth(context), { code: 'HISTORIAN_UNAVAILABLE', message })
      await assert.rejects(async () => historian.findTags(['a'], context), {
        code: 'HISTORIAN_UNAVAILABLE',
        message,
      })
    }
  })

  test('a table that is made or corrected later is found without a restart', async () => {
    const historian = await open({ points: { table: 'late', tag: 'tag', time: 'at', value: 'v' } })
    await assert.rejects(historian.checkHealth(context), { code: 'HISTORIAN_UNAVAILABLE' })
    await server.sql('CREATE TABLE late (tag text, at timestamptz, v real)')
    await historian.checkHealth(context)
    await server.sql("INSERT INTO late VALUES ('a', '2026-03-01Z', 1)")
    assert.deepEqual(sinceStart(await readAll(historian, 'a')), [[0, 1]])
    await server.sql('DROP TABLE late')
    const gone = { message: 'Historian plant could not be reached: existing.points.table does not exist' }
    await assert.rejects(readAll(historian, 'a'), {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: a table of the configuration does not exist',
    })
    await assert.rejects(historian.checkHealth(context), gone)
  })

  test('nothing can be changed, by the driver or by a query of the configuration', async () => {
    await server.sql('CREATE TABLE kept (tag text, at timestamptz, v real)')
    const historian = await open({ points: { table: 'kept', tag: 'tag', time: 'at', value: 'v' } })
    const batch = writeBatch([{ tag: 'a', points: points([START, 1]) }], true)
    await assert.rejects(historian.write(batch, context), { code: 'NOT_SUPPORTED' })
    await server.sql(
      'CREATE FUNCTION spoil() RETURNS integer LANGUAGE sql AS $$ INSERT INTO kept VALUES (NULL, NULL, 1) RETURNING 1 $$',
    )
    const spoiling = await open({
      points: {
        query: "SELECT 'a' AS tag, now() AS at, spoil() AS v FROM generate_series(1, 1)",
        tag: 'tag',
        time: 'at',
        value: 'v',
      },
    })
    await assert.rejects(readAll(spoiling, 'a'), { code: 'HISTORIAN_UNAVAILABLE' })
    assert.deepEqual(await server.sql('SELECT * FROM kept'), [])
  })
})
