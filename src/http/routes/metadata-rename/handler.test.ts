import assert from 'node:assert/strict'
import test from 'node:test'
import { post, seed, testService } from '../../../../test/http/service.ts'

const { app } = testService()
const URL = '/historian/metadata/rename'
test.beforeEach(() => seed(app))

test('a tag keeps its points under its new name', async () => {
  const { status, body } = await post(app, URL, { renames: { 'local/FLOW': 'local/NEW' } })
  assert.equal(status, 200)
  assert.deepEqual(body, { message: 'All tags renamed!', errors: [], renamed: { 'local/FLOW': 'local/NEW' } })
  const { body: deleted } = await post(app, '/historian/metadata/delete', { tags: ['local/NEW'] })
  assert.deepEqual(deleted.deleted, { 'local/NEW': 4 })
})

test('a new name that is taken means 400 and nothing renamed', async () => {
  const { status, body } = await post(app, URL, { renames: { 'local/FLOW': 'local/BIAS' } })
  assert.equal(status, 400)
  assert.equal(body.errors.length, 1)
  assert.equal(body.issues[0].code, 'TAG_EXISTS')
})
