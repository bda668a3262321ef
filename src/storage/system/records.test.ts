import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import fc from 'fast-check'
import { alias, allow } from '../../../test/contract/alias-store-promises.ts'
import { newKey } from '../../../test/contract/key-store-promises.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { anyValue, withOther } from '../../../test/property/other-json.ts'
import { encodeRecord } from './checked-record.ts'
import { systemIn } from './system.fixture.ts'

/* Records with a right checksum that were never written: each is read, or is none. */

/** Each change is a commit, and nothing depends on where. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Another value in a record, or text that is no record. */
const changed = fc.record({ at: fc.nat(), other: anyValue, isText: fc.boolean(), text: fc.string() })

function otherRecord(
  under: Uint8Array,
  record: object,
  { at, other, isText, text }: { at: number; other: unknown; isText: boolean; text: string },
): string {
  if (isText) return text
  const made = JSON.parse(withOther(JSON.stringify(record), at, other)) as unknown
  return typeof made === 'object' && made !== null ? encodeRecord(under, made) : JSON.stringify(made)
}

const isTextOrNull = (value: unknown) => value === null || typeof value === 'string'
const isTimeOrNull = (value: unknown) => value === null || typeof value === 'number'

test('whatever the record of an alias says, it is one or leads nowhere', async (t) => {
  const { aliases, database } = await systemIn(t, temporaryFolder(t, BASE))
  for (const name of ['a', 'b']) await aliases.put(alias(name), allow)
  const { name: _, ...record } = alias('a')
  const name = Buffer.from('a')
  await fc.assert(
    fc.asyncProperty(changed, async (change) => {
      const text = otherRecord(name, record, change)
      database.statement('UPDATE aliases SET record = ? WHERE name = ?').run(text, name)
      const found = await aliases.read((reader) => reader.get('a'))
      if (found !== null) {
        assert.equal(typeof found.tag, 'string')
        assert.ok(isTextOrNull(found.description) && isTextOrNull(found.units))
      }
      assert.deepEqual(await aliases.check(), { aliases: 2, damaged: found === null ? 1 : 0 })
      assert.deepEqual(await aliases.read((reader) => reader.get('b')), alias('b'))
    }),
    { numRuns: 400 },
  )
})

test('whatever the record of a key says, it is one or opens nothing', async (t) => {
  const { keys, database } = await systemIn(t, temporaryFolder(t, BASE))
  const [one, two] = [newKey('one'), newKey('two')]
  for (const { record, digest } of [one, two]) await keys.add(record, digest)
  const record = { ...one.record, lastUsedAt: 5 }
  const update = database.statement('UPDATE keys SET entry = ? WHERE place = ?')
  await fc.assert(
    fc.asyncProperty(changed, async (change) => {
      const text = otherRecord(one.digest, record, change)
      update.run(Buffer.concat([one.digest, Buffer.from(text)]), one.digest.subarray(0, 8))
      const found = (await keys.list()).filter(({ id }) => id !== two.record.id)
      for (const key of found) {
        assert.ok(key.scope === 'read' || key.scope === 'write')
        assert.ok(typeof key.id === 'string' && typeof key.name === 'string')
        assert.ok(key.historians === null || Array.isArray(key.historians))
        assert.ok(isTimeOrNull(key.expiresAt) && isTimeOrNull(key.revokedAt))
      }
      assert.deepEqual(await keys.check(), { keys: 2, damaged: 1 - found.length })
      assert.deepEqual(await keys.find(two.digest), two.record)
    }),
    { numRuns: 400 },
  )
})
