import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import { postgresConfigSchema } from '../../../src/drivers/postgres/config.ts'
import { postgres } from '../../../src/drivers/postgres/definition.ts'
import type { Historian } from '../../../src/historian/contract.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import type { PointColumns } from '../../../src/series/columns.ts'
import { EVER, points } from '../../contract/points.ts'
import { found, type PostgresServer, startPostgres, testEnvironment } from '../../servers/postgres.ts'

const context = { signal: new AbortController().signal }
const NONE = { description: null, units: null, stepped: false }

describe('versions of own tables in a PostgreSQL, and the numbers of their tags', {
  skip: found.skip,
}, () => {
  let server: PostgresServer
  const opened: Historian[] = []
  before(async () => {
    server = await startPostgres({ settings: 'fsync=off' })
  })
  after(() => server.stop('immediate'))
  afterEach(async () => {
    for (const historian of opened.splice(0)) await historian.close()
  })

  async function open(
    config: { readonly schema?: string; readonly writable?: boolean } = {},
  ): Promise<Historian> {
    const settings = postgresConfigSchema.parse({ ...server.config('own'), ...config })
    const historian = await postgres.open(settings, testEnvironment())
    opened.push(historian)
    return historian
  }

  const write = (historian: Historian, tag: string, batch: PointColumns) =>
    historian.write(writeBatch([{ tag, points: batch }], true), context)

  /** The tables as version 1 made them. */
  async function makeVersion1(schema: string): Promise<void> {
    await server.sql(`CREATE SCHEMA ${schema}`)
    await server.sql(`CREATE TABLE ${schema}.tidemark_schema (version integer NOT NULL)`)
    await server.sql(`INSERT INTO ${schema}.tidemark_schema VALUES (1)`)
    await server.sql(`CREATE TABLE ${schema}.tags (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
      description text, units text, stepped boolean NOT NULL DEFAULT false)`)
    await server.sql(`CREATE TABLE ${schema}.points (time bigint NOT NULL, value double precision NOT NULL,
      tag_id integer NOT NULL, status smallint NOT NULL, PRIMARY KEY (tag_id, time))`)
    await server.sql(`INSERT INTO ${schema}.tags (name, units) VALUES ('a', 'bar'), ('b', NULL)`)
    await server.sql(`INSERT INTO ${schema}.points VALUES (1, 1.5, 1, 0), (2, 2.5, 1, 1), (1, 3.5, 2, 0)`)
  }

  const typeOf = async (schema: string, table: string, column: string) => {
    const [row] = await server.sql(
      `SELECT atttypid::regtype::text AS type FROM pg_attribute WHERE attrelid = '${schema}.${table}'::regclass AND attname = '${column}'`,
    )
    return row!.type
  }

  test('tables of version 1 become the newest, where tags are counted without end', async () => {
    await makeVersion1('first')
    const readOnly = await open({ schema: 'first', writable: false })
    const [asTheyWere] = await readOnly.readRanges([{ tag: 'b', ...EVER, order: 'asc', limit: 9 }], context)
    assert.deepEqual([...asTheyWere!.points.values], [3.5])
    assert.equal(await typeOf('first', 'tags', 'id'), 'integer')
    // The next number that an integer has no place for.
    await server.sql('ALTER TABLE first.tags ALTER COLUMN id RESTART WITH 2147483647')
    const historian = await open({ schema: 'first' })
    await write(historian, 'c', points([5, 5]))
    await write(historian, 'd', points([6, 6]))
    assert.deepEqual(await server.sql("SELECT id FROM first.tags WHERE name IN ('c', 'd') ORDER BY id"), [
      { id: '2147483647' },
      { id: '2147483648' },
    ])
    assert.deepEqual(await server.sql('SELECT version FROM first.tidemark_schema'), [{ version: 3 }])
    const read = await historian.readRanges(
      ['a', 'b', 'd'].map((tag) => ({ tag, ...EVER, order: 'asc', limit: 9 })),
      context,
    )
    assert.deepEqual(
      read.map(({ points: { times, values, statuses } }) => [[...times], [...values], [...statuses]]),
      [
        [
          [1, 2],
          [1.5, 2.5],
          [0, 1],
        ],
        [[1], [3.5], [0]],
        [[6], [6], [0]],
      ],
    )
    assert.deepEqual(await historian.findTags(['a'], context), [{ ...NONE, units: 'bar' }])
    assert.equal(await typeOf('first', 'points', 'tag_id'), 'bigint')
  })

  test('a table of points that is long to rewrite is left to its owner, who is told when it is time', async () => {
    await makeVersion1('large')
    // 256 MB and a little, most of it in a column of the table that is not Tidemark's.
    await server.sql('ALTER TABLE large.points ADD COLUMN padding text')
    await server.sql('ALTER TABLE large.points ALTER COLUMN padding SET STORAGE PLAIN')
    await server.sql(
      "INSERT INTO large.points SELECT i, 1, 2, 0, repeat('x', 7000) FROM generate_series(10, 40000) AS i",
    )
    const historian = await open({ schema: 'large' })
    await write(historian, 'a', points([7, 7]))
    assert.equal(await typeOf('large', 'tags', 'id'), 'bigint')
    assert.equal(await typeOf('large', 'points', 'tag_id'), 'integer')
    await server.sql('ALTER TABLE large.tags ALTER COLUMN id RESTART WITH 1073741825')
    await write(historian, 'late', points([8, 8]))
    assert.match(String(await historian.trouble!(context)), /its points have room for few further tags/)
    await server.sql('ALTER TABLE large.points ALTER COLUMN tag_id TYPE bigint')
    assert.doesNotMatch(String(await historian.trouble!(context)), /few further tags/)
    await server.sql('DROP SCHEMA large CASCADE')
  })

  test('tables that others use for long are not waited for to be altered, and tried again by the next call', async () => {
    await makeVersion1('used')
    const reader = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', ssl: false })
    await reader.connect()
    await reader.query('BEGIN; SELECT FROM used.tags')
    const historian = await open({ schema: 'used' })
    await assert.rejects(historian.checkHealth(context), {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: what it needed is locked',
    })
    await reader.end()
    await historian.checkHealth(context)
    assert.equal(await typeOf('used', 'tags', 'id'), 'bigint')
  })

  test('a server that syncs nothing is told of beside its health', async () => {
    const historian = await open()
    assert.equal(
      await historian.trouble!(context),
      'its server is set to fsync = off: a power cut may take acknowledged writes',
    )
  })

  test('changing tags that are there uses up no numbers for new ones', async () => {
    const historian = await open({ schema: 'frugal' })
    const put = (names: readonly string[], mode: 'create' | 'upsert' | 'update') =>
      historian.putTags(
        names.map((name) => ({ name, metadata: { ...NONE, units: mode } })),
        mode,
        context,
      )
    const names = Array.from({ length: 50 }, (_, i) => `T${i}`)
    for (let round = 0; round < 20; round++) {
      await Promise.all([put(names, 'upsert'), put([...names].reverse(), 'create'), put(names, 'update')])
    }
    assert.deepEqual(await put(['T0', 'new'], 'upsert'), ['stored', 'stored'])
    const [row] = await server.sql("SELECT id FROM frugal.tags WHERE name = 'new'")
    // The first round is made by two at once, both of which may take numbers.
    assert.ok(Number(row!.id) <= 101, `number ${row!.id}`)
  })
})
