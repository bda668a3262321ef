import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alias, allow, promiseAliasStore } from '../../../test/contract/alias-store-promises.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { systemIn } from './system.fixture.ts'

promiseAliasStore(
  async (t) => {
    const folder = temporaryFolder(t)
    return { open: async () => (await systemIn(t, folder)).aliases }
  },
  { skip: false },
)

test('aliases that cannot be read lead nowhere, take no place in a page, and are counted by a check', async (t) => {
  const { aliases, database } = await systemIn(t, temporaryFolder(t))
  for (const name of ['a', 'b', 'c', 'd', 'e']) await aliases.put(alias(name), allow)
  const damage = database.statement('UPDATE aliases SET record = ? WHERE name = ?')
  damage.run('{"tag":5}', Buffer.from('b'))
  damage.run('no JSON', Buffer.from('c'))
  assert.deepEqual(await aliases.check(), { aliases: 5, damaged: 2 })
  assert.equal(await aliases.read((reader) => reader.get('b')), null)
  const page = await aliases.read((reader) => reader.list({ prefix: '', after: 'a', limit: 2 }))
  assert.deepEqual(page, [alias('d'), alias('e')])
})

test('a check of many aliases lets others in after each page, and counts each once', async (t) => {
  for (const count of [255, 256, 257, 1_000]) {
    const { aliases, database } = await systemIn(t, temporaryFolder(t))
    const put = database.statement('INSERT INTO aliases VALUES (?, ?)')
    const damaged = count / 5
    await database.change(() => {
      for (let i = 0; i < count; i++) {
        const record = i < damaged ? 'no JSON' : '{"tag":"plant/FLOW","description":null,"units":null}'
        // Names that sort otherwise than their numbers, and one that is no text.
        put.run(i === 7 ? i : Buffer.from(`name ${i}`), record)
      }
    })
    let others = 0
    let isOver = false
    const checked = aliases.check().finally(() => {
      isOver = true
    })
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!isOver) others++
    }
    assert.deepEqual(await checked, { aliases: count, damaged: Math.ceil(damaged) })
    assert.ok(others >= Math.floor(count / 256), `${others} times with ${count}`)
  }
})

test('an alias that an earlier version stored without a checksum is read, and gets one when it is put again', async (t) => {
  const { aliases, database } = await systemIn(t, temporaryFolder(t))
  const name = Buffer.from('old')
  const stored = '{"tag":"plant/FLOW","description":null,"units":null}'
  database.statement('INSERT INTO aliases VALUES (?, ?)').run(name, stored)
  const get = () => aliases.read((reader) => reader.get('old'))
  assert.deepEqual(await get(), alias('old'))
  await aliases.put(alias('old'), allow)
  const record = () => String(database.statement('SELECT record FROM aliases').get()!.record)
  assert.equal(record().replace(/^\{"crc":\d+,/, '{'), stored)
  assert.deepEqual(await get(), alias('old'))
  // Another tag than the one that was put is none.
  database.statement('UPDATE aliases SET record = ?').run(record().replace('FLOW', 'FLOV'))
  assert.equal(await get(), null)
})

test('a page looks at its own aliases alone, however many stand before them', async (t) => {
  const { aliases, database } = await systemIn(t, temporaryFolder(t))
  const names = Array.from({ length: 40 }, (_, i) => `n/${String(i).padStart(2, '0')}`)
  for (const name of ['a', ...names, 'z']) await aliases.put(alias(name), allow)
  const { mock } = t.mock.method(database, 'statement')
  for (const prefix of ['', 'n', 'n/']) {
    for (const after of [null, 'a', 'n', 'n/', 'n/07', 'n/39', 'z']) {
      const wanted = ['a', ...names, 'z']
        .filter((name) => name.startsWith(prefix) && (after === null || name > after))
        .slice(0, 16)
      const page = await aliases.read((reader) => reader.list({ prefix, after, limit: 16 }))
      assert.deepEqual(
        page.map(({ name }) => name),
        wanted,
        `${prefix} after ${after}`,
      )
    }
  }
  const statements = new Set(mock.calls.map(({ arguments: [sql] }) => sql))
  assert.equal(statements.size, 2)
  for (const sql of statements) {
    const steps = database.statement(`EXPLAIN ${sql}`).all()
    const opcodes = steps.map(({ opcode }) => String(opcode))
    assert.equal(opcodes.filter((opcode) => /^Seek/.test(opcode)).length, 1, sql)
    // No row that was found is compared, to be passed over.
    assert.deepEqual(
      opcodes.filter((opcode) => /^(Lt|Le|Gt|Ge|Eq|Ne)$/.test(opcode)),
      [],
      sql,
    )
  }
})
