import assert from 'node:assert/strict'
import test from 'node:test'
import { post, seed, testService } from '../../../../test/http/service.ts'

const { app } = testService()
const URL = '/historian/metadata/delete'
test.beforeEach(() => seed(app))

test('tags are deleted with all their points', async () => {
  const { status, body } = await post(app, URL, { tags: ['local/FLOW', 'local/BIAS'] })
  assert.equal(status, 200)
  assert.deepEqual(body.deleted, { 'local/FLOW': 4, 'local/BIAS': 1 })
  const { body: found } = await post(app, '/historian/metadata/get', { tags: ['local/FLOW'] })
  assert.deepEqual(found.errors, { 'local/FLOW': 'Tag local/FLOW does not exist' })
})

test('a missing tag means 400, in an array, and nothing deleted', async () => {
  const { status, body } = await post(app, URL, { tags: ['local/FLOW', 'local/NONE'] })
  assert.equal(status, 400)
  assert.deepEqual(body.errors, ['Tag local/NONE does not exist'])
  assert.deepEqual(
    Object.keys((await post(app, '/historian/metadata/get', { tags: ['local/FLOW'] })).body.entries),
    ['local/FLOW'],
  )
})
