import assert from 'node:assert/strict'
import test from 'node:test'
import { post, testService } from '../../../../test/http/service.ts'

const { app } = testService()
const URL = '/historian/metadata/update'

test('an update resets the fields that it leaves out', async () => {
  const entries = { 'local/A': { description: 'd', units: 'u', stepped: true } }
  await post(app, '/historian/metadata/create', { entries })
  const { status, body } = await post(app, URL, { entries: { 'local/A': { units: 'v' } } })
  assert.equal(status, 200)
  assert.deepEqual(body, {
    handledEntries: { 'local/A': { description: null, units: 'v', stepped: false } },
    errors: {},
  })
})

test('a missing tag is made only with createIfMissing', async () => {
  const missing = await post(app, URL, { entries: { 'local/B': {} } })
  assert.equal(missing.status, 200)
  assert.deepEqual(missing.body.errors, { 'local/B': 'Tag local/B does not exist' })
  const made = await post(app, URL, { entries: { 'local/B': {} }, createIfMissing: true })
  assert.deepEqual(Object.keys(made.body.handledEntries), ['local/B'])
})
