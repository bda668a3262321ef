import assert from 'node:assert/strict'
import test from 'node:test'
import { LOCAL_KEY, post, READ_KEY, testService } from '../../../../test/http/service.ts'

const { app } = testService()
const URL = '/historian/metadata/create'

test('entries are stored, and those with an error stand under errors', async () => {
  const entries = { 'local/A': { units: 'bar' }, 'plant/A': {}, 'nowhere/A': {} }
  const { status, body } = await post(app, URL, { entries })
  assert.equal(status, 200)
  assert.deepEqual(body.handledEntries, { 'local/A': { description: null, units: 'bar', stepped: false } })
  assert.deepEqual(body.errors, {
    'plant/A': 'Historian plant for tag A is not writable',
    'nowhere/A': 'Historian nowhere for tag A does not exist',
  })
  assert.deepEqual(
    body.issues.map((issue: { code: string; tag: string }) => [issue.code, issue.tag]),
    [
      ['HISTORIAN_NOT_WRITABLE', 'plant/A'],
      ['HISTORIAN_NOT_FOUND', 'nowhere/A'],
    ],
  )
})

test('an existing tag is overwritten only with updateIfExists', async () => {
  const entries = { 'local/B': { description: 'first' } }
  await post(app, URL, { entries })
  const kept = await post(app, URL, { entries: { 'local/B': { description: 'second' } } })
  assert.deepEqual(kept.body.errors, { 'local/B': 'Tag local/B already exists' })
  const { body } = await post(app, URL, {
    entries: { 'local/B': { description: 'second' } },
    updateIfExists: true,
  })
  assert.equal(body.handledEntries['local/B'].description, 'second')
})

test('an address named __proto__ comes back as itself', async () => {
  const { status, body } = await post(
    app,
    URL,
    '{"entries":{"__proto__":{},"local/__proto__":{"units":"x"}}}',
  )
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.errors), ['__proto__'])
  assert.deepEqual(Object.keys(body.handledEntries), ['local/__proto__'])
})

test('a request that is refused as a whole has errors as an object', async () => {
  const { status, body } = await post(app, URL, { entries: [] })
  assert.equal(status, 400)
  assert.deepEqual(body.errors, { '*': body.message })
  assert.match(body.message, /entries/)
})

test('a read key may not create', async () => {
  const { status, body } = await post(app, URL, { entries: {} }, READ_KEY)
  assert.equal(status, 403)
  assert.deepEqual(body.errors, { '*': body.message })
  assert.equal(body.issues[0].code, 'KEY_READ_ONLY')
})

test('a historian that the key may not see does not exist', async () => {
  const { body } = await post(app, URL, { entries: { 'lab/A': {} } }, LOCAL_KEY)
  assert.equal(body.errors['lab/A'], 'Historian lab for tag A does not exist')
})
