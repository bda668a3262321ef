import assert from 'node:assert/strict'
import { before, describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { postgresStoreSchema } from '../../../src/drivers/postgres/shared-store/config.ts'
import { openStore } from '../../../src/drivers/postgres/shared-store/open-store.ts'
import { alias, allow, promiseAliasStore } from '../../contract/alias-store-promises.ts'
import { newKey, promiseKeyStore } from '../../contract/key-store-promises.ts'
import { found as foundPostgres, type PostgresServer, startPostgres } from '../../servers/postgres.ts'
import { untilDone } from '../../until.ts'

const { skip } = foundPostgres
let server: PostgresServer
if (skip === false) {
  before(async () => {
    server = await startPostgres()
  })
}

const log = { warn() {} }
const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code
let schemas = 0

function openTestStore(t: TestContext, schema: string, options: object = {}) {
  const config = postgresStoreSchema.parse({ ...server.config(schema), ...options })
  const store = openStore(config, log)
  t.after(() => store.close())
  return store
}

const newSchema = () => `store "${schemas++}`

promiseKeyStore(
  async (t) => {
    const schema = newSchema()
    return { open: async () => openTestStore(t, schema).keys }
  },
  { skip },
)

promiseAliasStore(
  async (t) => {
    const schema = newSchema()
    return { open: async () => openTestStore(t, schema).aliases }
  },
  { skip },
)

describe('keys in PostgreSQL', { skip }, () => {
  it('are believed for less than a second while the server does not answer; others not at all', async (t) => {
    const patient = openTestStore(t, 'hangs')
    const [one, other] = [newKey('one'), newKey('other')]
    await patient.keys.add(one.record, one.digest)
    await patient.keys.add(other.record, other.digest)
    const { keys, check } = openTestStore(t, 'hangs', { timeoutSeconds: 1 })
    const found = (digest: Uint8Array) =>
      untilDone(async () => keys.find(digest), hasCode('KEYS_UNAVAILABLE'))
    const locking = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres' })
    await locking.connect()
    try {
      await locking.query('BEGIN')
      assert.deepEqual(await found(one.digest), one.record)
      await locking.query('LOCK TABLE hangs.tidemark_keys IN ACCESS EXCLUSIVE MODE')
      await assert.rejects(async () => keys.find(other.digest), hasCode('KEYS_UNAVAILABLE'))
      // By now a second has gone.
      await assert.rejects(
        async () => keys.find(one.digest),
        (error: Error) => {
          assert.equal(
            error.message,
            'The store of API keys could not be reached: no answer within 1 seconds',
          )
          return hasCode('KEYS_UNAVAILABLE')(error)
        },
      )
      await assert.rejects(check(), hasCode('KEYS_UNAVAILABLE'))
    } finally {
      await locking.end()
    }
    assert.deepEqual(await found(other.digest), other.record)
    assert.deepEqual(await found(one.digest), one.record)
    await untilDone(check, hasCode('KEYS_UNAVAILABLE'))
  })

  it('are refused with a sentence when the server is down, and found again afterwards', async (t) => {
    const schema = newSchema()
    const { keys, aliases } = openTestStore(t, schema)
    const one = newKey('one')
    await keys.add(one.record, one.digest)
    await aliases.put(alias('a'), allow)
    await server.stop('immediate')
    const late = openTestStore(t, schema)
    try {
      const ofKeys = [
        () => keys.find(newKey('x').digest),
        () => keys.list(),
        () => keys.revoke('one'),
        () => keys.firstStartKeysMade(),
        () => keys.addFirstStartKeys([newKey('x')]),
        () => late.keys.find(one.digest),
      ]
      const ofAliases = [
        () => aliases.read(() => {}),
        () => aliases.put(alias('b'), allow),
        () => aliases.delete('a', allow),
        () => late.aliases.read(() => {}),
      ]
      for (const ask of ofKeys) await assert.rejects(async () => ask(), hasCode('KEYS_UNAVAILABLE'))
      for (const ask of ofAliases) await assert.rejects(ask, hasCode('ALIASES_UNAVAILABLE'))
    } finally {
      await server.start()
    }
    for (const store of [late, openTestStore(t, schema)]) {
      assert.deepEqual(await store.keys.find(one.digest), one.record)
      assert.deepEqual(await store.aliases.read((reader) => reader.get('a')), alias('a'))
      assert.equal(await store.aliases.read((reader) => reader.get('b')), null)
    }
    assert.deepEqual(await keys.find(one.digest), one.record)
    assert.deepEqual(await aliases.read((reader) => reader.get('a')), alias('a'))
  })

  it('open nothing when somebody spoilt their row', async (t) => {
    const schema = 'spoilt'
    const { keys } = openTestStore(t, schema)
    const [one, two, three] = [newKey('one'), newKey('two'), newKey('three')]
    for (const { record, digest } of [one, two, three]) await keys.add(record, digest)
    await server.sql(`UPDATE spoilt.tidemark_keys SET scope = 'all' WHERE name = 'one'`)
    await server.sql(`UPDATE spoilt.tidemark_keys SET historians = '{"a": 1}' WHERE name = 'two'`)
    await server.sql(`UPDATE spoilt.tidemark_keys SET digest = substring(digest, 1, 8) WHERE name = 'three'`)
    for (const { digest } of [one, two, three]) assert.equal(await keys.find(digest), null)
  })

  it('are refused when the tables are gone, and the tables are not made anew', async (t) => {
    const { keys } = openTestStore(t, 'gone')
    const one = newKey('one')
    await keys.add(one.record, one.digest)
    await server.sql('DROP SCHEMA gone CASCADE')
    await assert.rejects(async () => keys.find(one.digest), /a table of the store does not exist/)
    await assert.rejects(keys.addFirstStartKeys([newKey('x')]), hasCode('KEYS_UNAVAILABLE'))
  })

  it('are refused when a newer version made the tables', async (t) => {
    await openTestStore(t, 'newer').check()
    await server.sql('UPDATE newer.tidemark_store SET version = 99')
    await assert.rejects(openTestStore(t, 'newer').check(), /made by a newer tidemark \(version 99/)
  })
})

describe('aliases in PostgreSQL', { skip }, () => {
  it('are as another opening left them with the next look, each time', async (t) => {
    const schema = newSchema()
    const [one, two] = [openTestStore(t, schema).aliases, openTestStore(t, schema).aliases]
    for (let i = 0; i < 20; i++) {
      await one.put(alias('a', `plant/${i}`), allow)
      assert.equal((await two.read((reader) => reader.get('a')))?.tag, `plant/${i}`)
      await two.delete('a', allow)
      assert.equal(await one.read((reader) => reader.get('a')), null)
    }
  })

  it('are read anew by whoever was away for longer than deletions are kept', async (t) => {
    const schema = 'deletions'
    const [one, two] = [openTestStore(t, schema).aliases, openTestStore(t, schema).aliases]
    for (const name of ['a', 'b', 'c']) await one.put(alias(name), allow)
    await two.read(() => {})
    await one.delete('a', allow)
    // As many changes later.
    await server.sql('UPDATE deletions.tidemark_store SET aliases_change = aliases_change + 20000')
    await one.delete('b', allow)
    const rows = await server.sql('SELECT name FROM deletions.tidemark_aliases ORDER BY name')
    assert.deepEqual(rows, [{ name: 'b' }, { name: 'c' }])
    const list = { prefix: '', after: null, limit: 9 }
    assert.deepEqual(await two.read((reader) => reader.list(list)), [alias('c')])
    assert.deepEqual(await one.read((reader) => reader.list(list)), [alias('c')])
  })

  it('are read anew when other tables took the place of those that were read', async (t) => {
    const aliases = openTestStore(t, 'other').aliases
    await aliases.put(alias('a'), allow)
    await aliases.put(alias('b'), allow)
    assert.equal(
      (await aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 9 }))).length,
      2,
    )
    await server.sql('DELETE FROM other.tidemark_aliases WHERE name = $1', ['b'])
    await server.sql('UPDATE other.tidemark_store SET aliases_change = 1')
    assert.equal(await aliases.read((reader) => reader.get('b')), null)
    await server.sql(`UPDATE other.tidemark_aliases SET tag = 'plant/NEW'`)
    await server.sql(`UPDATE other.tidemark_store SET identity = 'another'`)
    assert.equal((await aliases.read((reader) => reader.get('a')))?.tag, 'plant/NEW')
  })

  it('see what was put before a look began, also while others are looking', async (t) => {
    const schema = newSchema()
    const [one, two] = [openTestStore(t, schema).aliases, openTestStore(t, schema).aliases]
    let isOver = false
    const looking = (async () => {
      while (!isOver) {
        await Promise.all(Array.from({ length: 5 }, () => two.read(() => {})))
        await wait(0)
      }
    })()
    for (let i = 0; i < 50; i++) {
      await one.put(alias('a', `plant/${i}`), allow)
      assert.equal((await two.read((reader) => reader.get('a')))?.tag, `plant/${i}`)
    }
    isOver = true
    await looking
  })
})
