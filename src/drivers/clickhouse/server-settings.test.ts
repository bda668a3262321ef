import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServerSettings } from './server-settings.ts'

describe('settings of a query', () => {
  const wanted = {
    async_insert: 0,
    deduplicate_insert: 'disable',
    distributed_foreground_insert: 1,
    insert_quorum: 2,
  }

  test('have the older name, or are left out, until the servers are known to have the newer one', () => {
    const settings = new ServerSettings()
    assert.deepEqual(settings.named(wanted), { insert_distributed_sync: 1, insert_quorum: 2 })
    assert.equal(settings.hasCodecs, false)
    assert.deepEqual(settings.ofTables, {})
    settings.learn(ServerSettings.asked)
    assert.deepEqual(settings.named(wanted), wanted)
    assert.equal(settings.hasCodecs, true)
    assert.deepEqual(settings.ofTables, { ratio_of_defaults_for_sparse_serialization: 1 })
    // A server of an older version took over.
    settings.learn(['async_insert'])
    assert.deepEqual(settings.named(wanted), {
      async_insert: 0,
      insert_distributed_sync: 1,
      insert_quorum: 2,
    })
  })
})
