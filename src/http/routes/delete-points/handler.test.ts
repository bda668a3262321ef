import assert from 'node:assert/strict'
import test from 'node:test'
import { post, READ_KEY, seed, testService } from '../../../../test/http/service.ts'

const { app } = testService()
const URL = '/historian/delete/points'
const ranges = { 'local/FLOW': [{ from: '2026-01-15T10:00:00Z', to: '2026-01-15T10:20:00Z' }] }
test.beforeEach(() => seed(app))

test('the points of a range are deleted, and counted by tag', async () => {
  const { status, body } = await post(app, URL, { ranges })
  assert.equal(status, 200)
  assert.deepEqual(body, { message: 'All points deleted!', errors: [], deleted: { 'local/FLOW': 2 } })
  assert.deepEqual((await post(app, URL, { ranges })).body.deleted, { 'local/FLOW': 0 })
})

test('a dry run counts and deletes nothing', async () => {
  assert.deepEqual((await post(app, URL, { ranges, dryRun: true })).body.deleted, { 'local/FLOW': 2 })
  assert.deepEqual((await post(app, URL, { ranges })).body.deleted, { 'local/FLOW': 2 })
})

test('an issue means 400 and nothing deleted', async () => {
  const { status, body } = await post(app, URL, { ranges: { ...ranges, 'local/NONE': [] } })
  assert.equal(status, 400)
  assert.deepEqual(body.errors, ['Tag local/NONE does not exist'])
  assert.deepEqual((await post(app, URL, { ranges })).body.deleted, { 'local/FLOW': 2 })
})

test('a read key may not delete', async () => {
  const { status, body } = await post(app, URL, { ranges }, READ_KEY)
  assert.equal(status, 403)
  assert.equal(Array.isArray(body.errors), true)
})
