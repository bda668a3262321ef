import assert from 'node:assert/strict'
import test from 'node:test'
import { post, READ_KEY, seed, testService } from '../../../../test/http/service.ts'

const { app } = testService()
test.before(() => seed(app))

test('a read key gets the metadata of named tags, and a sentence for each that is missing', async () => {
  const { status, body } = await post(
    app,
    '/historian/metadata/get',
    { tags: ['local/FLOW', 'local/NONE'] },
    READ_KEY,
  )
  assert.equal(status, 200)
  assert.deepEqual(body.entries, { 'local/FLOW': { description: null, units: null, stepped: false } })
  assert.deepEqual(body.errors, { 'local/NONE': 'Tag local/NONE does not exist' })
})

test('tags that are no array are refused', async () => {
  const { status, body } = await post(app, '/historian/metadata/get', { tags: 'local/FLOW' })
  assert.equal(status, 400)
  assert.deepEqual(body.errors, {})
})
