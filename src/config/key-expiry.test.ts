import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expiringKeys, warnOfExpiry } from './key-expiry.ts'
import { type KeyRecord, makeKeyRecord } from './keys.ts'

const DAY = 86_400_000_000
const NOW = 1_000 * DAY

function keyThat(name: string, expiresInDays: number | null, fields: Partial<KeyRecord> = {}): KeyRecord {
  const expiresAt = expiresInDays === null ? null : NOW + expiresInDays * DAY
  return { ...makeKeyRecord({ name, scope: 'read', historians: null, expiresAt }, 1), ...fields }
}

test('usable keys that expire within two weeks are listed, the next one first', () => {
  const records = [
    keyThat('never', null),
    keyThat('in 13 days', 13),
    keyThat('in 14 days', 14),
    keyThat('expired', -1),
    keyThat('tomorrow', 1.5),
    keyThat('revoked', 2, { revokedAt: 1 }),
  ]
  assert.deepEqual(
    expiringKeys(records, NOW).map(({ name }) => name),
    ['tomorrow', 'in 13 days'],
  )
})

test('each is a line of the log, and a store that is down is none', async () => {
  const lines: (readonly [object, string])[] = []
  const log = { warn: (fields: object, message: string) => void lines.push([fields, message]) }
  const record = keyThat('dashboards', 3.9)
  for (const list of [async () => [record], () => Promise.reject(new Error('down'))]) {
    warnOfExpiry({ list }, log, () => NOW)()
    await new Promise(setImmediate)
  }
  assert.equal(lines.length, 1)
  const [[fields, message]] = lines as [readonly [{ key: string; keyId: string }, string]]
  assert.deepEqual([fields.key, fields.keyId], ['dashboards', record.id])
  assert.match(message, /expires in 3 days/)
})
