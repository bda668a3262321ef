import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { anyValue, withOther } from '../../../test/property/other-json.ts'
import { encodeRecord } from '../system/checked-record.ts'
import { systemIn } from '../system/system.fixture.ts'
import { KnownHistorians } from './known-historians.ts'

/** Each change is a commit, and nothing depends on where. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const NOTHING_NOTED = { folder: null, id: null, token: null, lastSequence: null }

const noted = (name: string, token = 3) => ({
  name,
  folder: `/data/${name}`,
  id: 'ab'.repeat(16),
  token,
  lastSequence: 1_000,
})

test('whatever is noted of a historian, it is a place and an end, or nothing of them', async (t) => {
  const { database } = await systemIn(t, temporaryFolder(t, BASE))
  const known = new KnownHistorians(database)
  const [plant, other] = [noted('plant'), noted('other', 4)]
  await known.add(plant)
  await known.add(other)
  const { name: _, ...note } = plant
  const update = database.statement('UPDATE meta SET value = ? WHERE name = ?')
  await fc.assert(
    fc.asyncProperty(fc.nat(), anyValue, fc.boolean(), fc.string(), async (at, value, isText, text) => {
      const made = isText ? null : (JSON.parse(withOther(JSON.stringify(note), at, value)) as unknown)
      const isRecord = typeof made === 'object' && made !== null
      update.run(isRecord ? encodeRecord(Buffer.from('historian:plant'), made) : text, 'historian:plant')
      const found = await known.get('plant')
      assert.ok(found !== null)
      const { folder, id, token, lastSequence } = found
      for (const one of [folder, id]) assert.ok(one === null || typeof one === 'string')
      for (const one of [token, lastSequence]) assert.ok(one === null || typeof one === 'number')
      const { historians, damaged } = await known.check()
      assert.equal(historians, 2)
      if (damaged > 0) assert.deepEqual(found, { name: 'plant', ...NOTHING_NOTED })
      assert.deepEqual(await known.list(), damaged > 0 ? [other] : [other, found])
    }),
    { numRuns: 400 },
  )
})

test('a flipped bit of a note makes no other historian, and is told until it is repaired or noted anew', async (t) => {
  const { database } = await systemIn(t, temporaryFolder(t, BASE))
  const known = new KnownHistorians(database)
  const plant = noted('plant')
  await known.add(plant)
  const row = database.statement('SELECT name, value FROM meta').get()!
  const whole = { name: Buffer.from(String(row.name)), value: Buffer.from(String(row.value)) }
  const put = database.statement('INSERT INTO meta VALUES (CAST(? AS TEXT), CAST(? AS TEXT))')
  for (const column of ['name', 'value'] as const) {
    for (let bit = 0; bit < 8 * whole[column].length; bit++) {
      const changed = Buffer.from(whole[column])
      changed[bit >> 3]! ^= 1 << (bit & 7)
      const { name, value } = column === 'name' ? { ...whole, name: changed } : { ...whole, value: changed }
      database.statement('DELETE FROM meta').run()
      put.run(name, value)
      const what = `bit ${bit} of the ${column}`
      const expected = column === 'name' ? null : { name: 'plant', ...NOTHING_NOTED }
      assert.deepEqual(await known.get('plant'), expected, what)
      assert.deepEqual(await known.list(), [], what)
      assert.deepEqual(await known.check(), { historians: 1, damaged: 1 }, what)
      if (bit % 2 === 0) await known.forgetDamaged()
      await known.add(plant)
      const left = column === 'name' && bit % 2 === 1 ? 1 : 0
      assert.deepEqual(await known.list(), [plant], what)
      assert.deepEqual(await known.check(), { historians: 1 + left, damaged: left }, what)
    }
  }
})
