import assert from 'node:assert/strict'
import test from 'node:test'
import { LOCAL_KEY, post, READ_KEY, testService } from '../../../../test/http/service.ts'

const { app } = testService()
const URL = '/historian/write/points'
const point = { timestamp: '2026-01-15T10:00:00Z', value: 1 }

test('points that are all right are written', async () => {
  const { status, body } = await post(app, URL, { points: { 'local/A': [point] }, createTags: true })
  assert.equal(status, 200)
  assert.deepEqual(body, { message: 'All points written!', errors: [] })
})

test('any issue means 400, a sentence for each, and nothing written', async () => {
  const points = {
    'local/NEW': [point],
    'nowhere/A': [point],
    'local/B': [{ timestamp: 'soonish', value: 1 }, point],
  }
  const { status, body } = await post(app, URL, { points, createTags: true })
  assert.equal(status, 400)
  assert.equal(body.message, 'There were errors in the request')
  assert.deepEqual(body.errors, [
    'Historian nowhere for tag A does not exist',
    'Error: Cannot parse type soonish as time input for tag local/B',
  ])
  assert.deepEqual(body.issues[1], {
    code: 'INVALID_TIMESTAMP',
    message: body.errors[1],
    tag: 'local/B',
    index: 0,
    input: 'soonish',
    suggestions: ['2026-04-22T10:00:00Z', '2 hours ago'],
  })
  const { body: found } = await post(app, '/historian/metadata/get', { tags: ['local/NEW'] })
  assert.deepEqual(found.errors, { 'local/NEW': 'Tag local/NEW does not exist' })
})

test('a read key may not write, whatever it sends', async () => {
  const { status, body } = await post(app, URL, 'not even JSON', READ_KEY)
  assert.equal(status, 403)
  assert.equal(body.issues[0].code, 'KEY_READ_ONLY')
})

test('a historian that the key may not see does not exist', async () => {
  const { status, body } = await post(app, URL, { points: { 'lab/A': [point] } }, LOCAL_KEY)
  assert.equal(status, 400)
  assert.deepEqual(body.errors, ['Historian lab for tag A does not exist'])
})
