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
  assert.deepEqual(body.errors, { '*': body.message })
})

test('answers of thousands of tags have them all, in the order of the request', async () => {
  const tags = Array.from({ length: 2_500 }, (_, i) => `local/MANY.${i}`)
  const entries = Object.fromEntries(tags.map((tag) => [tag, { units: 'bar' }]))
  const created = await post(app, '/historian/metadata/create', { entries })
  assert.deepEqual(Object.keys(created.body.handledEntries), tags)
  const names = tags.flatMap((tag) => [tag, `${tag}.NONE`])
  const { body } = await post(app, '/historian/metadata/get', { tags: names })
  assert.deepEqual(Object.keys(body.entries), tags)
  assert.deepEqual(body.entries[tags[7]!], { description: null, units: 'bar', stepped: false })
  assert.deepEqual(
    Object.keys(body.errors),
    tags.map((tag) => `${tag}.NONE`),
  )
  const renames = Object.fromEntries(tags.map((tag) => [tag, `${tag}.NEW`]))
  assert.deepEqual((await post(app, '/historian/metadata/rename', { renames })).body.renamed, renames)
  const deleted = await post(app, '/historian/metadata/delete', { tags: Object.values(renames) })
  assert.deepEqual(deleted.body.deleted, Object.fromEntries(Object.values(renames).map((tag) => [tag, 0])))
})
