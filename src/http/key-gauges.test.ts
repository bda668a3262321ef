import assert from 'node:assert/strict'
import { test } from 'node:test'
import { get, jsonHeaders, testKeys, testService } from '../../test/http/service.ts'
import { type KeyRecord, makeKeyRecord } from '../config/keys.ts'

const key = (name: string, fields: Partial<KeyRecord>): KeyRecord => ({
  ...makeKeyRecord({ name, scope: 'read', historians: null, expiresAt: null }, 1),
  ...fields,
})

/** The lines of the metrics about keys, when there are these. */
async function linesOf(list: () => Promise<readonly KeyRecord[]>): Promise<readonly string[]> {
  const { app } = testService({ keys: { ...testKeys(), list } })
  const { text } = await get(app, '/metrics', jsonHeaders())
  return text.split('\n').filter((line) => line.startsWith('tidemark_keys'))
}

test('metrics count keys by state and tell the next expiry, but no names', async () => {
  const far = 4_000_000_000_000_000
  const lines = await linesOf(async () => [
    key('never', {}),
    key('later', { expiresAt: far + 1e6 }),
    key('next', { expiresAt: far }),
    key('expired', { expiresAt: 5 }),
    key('revoked', { revokedAt: 5, expiresAt: far - 1 }),
  ])
  assert.deepEqual(lines, [
    'tidemark_keys{state="usable"} 3',
    'tidemark_keys{state="expired"} 1',
    'tidemark_keys{state="revoked"} 1',
    'tidemark_keys_next_expiry_timestamp_seconds 4000000000',
  ])
})

test('without a key that expires, or a store that answers, there is no expiry', async () => {
  assert.deepEqual(await linesOf(async () => [key('never', {})]), [
    'tidemark_keys{state="usable"} 1',
    'tidemark_keys{state="expired"} 0',
    'tidemark_keys{state="revoked"} 0',
  ])
  assert.deepEqual(await linesOf(() => Promise.reject(new Error('down'))), [])
})
