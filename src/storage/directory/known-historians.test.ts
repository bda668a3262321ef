import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { anyValue, withOther } from '../../../test/property/other-json.ts'
import { systemIn } from '../system/system.fixture.ts'
import { KnownHistorians } from './known-historians.ts'

/** Each change is a commit, and nothing depends on where. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

test('whatever is noted of a historian, it is a place and an end, or nothing of them', async (t) => {
  const { database } = await systemIn(t, temporaryFolder(t, BASE))
  const known = new KnownHistorians(database)
  const [plant, other] = ['plant', 'other'].map((name, i) => ({
    name,
    folder: `/data/${name}`,
    id: 'ab'.repeat(16),
    token: 3 + i,
    lastSequence: 1_000,
  }))
  await known.add(plant!)
  await known.add(other!)
  const { name: _, ...noted } = plant!
  const update = database.statement('UPDATE meta SET value = ? WHERE name = ?')
  await fc.assert(
    fc.asyncProperty(fc.nat(), anyValue, fc.boolean(), fc.string(), async (at, value, isText, text) => {
      update.run(isText ? text : withOther(JSON.stringify(noted), at, value), 'historian:plant')
      const found = await known.get('plant')
      assert.ok(found !== null)
      const { folder, id, token, lastSequence } = found
      for (const one of [folder, id]) assert.ok(one === null || typeof one === 'string')
      for (const one of [token, lastSequence]) assert.ok(one === null || typeof one === 'number')
      assert.deepEqual(await known.list(), [other, found])
    }),
    { numRuns: 400 },
  )
})
