import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { LOCAL_KEY, post, READ_KEY, seed, testService, WRITE_KEY } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
type Json = any

const { app } = testService()
before(async () => {
  await seed(app)
  const entries = { 'local/T101.LEVEL': {}, 'local/T102.LEVEL': {}, 'local/T101.OUTFLOW': {} }
  await post(app, '/historian/metadata/create', { entries }, WRITE_KEY)
})

/** The issue of one label. */
async function issueOf(tag: string, key = READ_KEY): Promise<Json> {
  const { body } = await post(
    app,
    '/historian/multi',
    { requests: { a: { type: 'CURRENT_POINT', tag } } },
    key,
  )
  assert.equal(body.errors.a, body.issues[0].message)
  return body.issues[0]
}

describe('a tag that does not exist has the names that were probably meant in its issue', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['local/T101.LEVLE', 'local/T101.LEVEL'],
    ['local/t101.level', 'local/T101.LEVEL'],
    ['local/T101.OUT', 'local/T101.OUTFLOW'],
    ['local/OUTFLOW', 'local/T101.OUTFLOW'],
    ['local/FLWO', 'local/FLOW'],
    ['local/something else', undefined],
    ['locl/FLOW', 'local/FLOW'],
    ['nowhere/FLOW', undefined],
  ]
  for (const [tag, nearest] of cases) {
    test(tag, async () => {
      const { suggestions, message } = await issueOf(tag)
      assert.equal(suggestions?.[0], nearest)
      assert.match(message, /^(Tag .* does not exist|Historian .* for tag .* does not exist)$/)
    })
  }

  test('inside a calculation, which tag it is stands beside it', async () => {
    const issue = await issueOf('calc/ADD(local/FLOW, local/T101.LEVL)')
    assert.equal(issue.tag, 'calc/ADD(local/FLOW, local/T101.LEVL)')
    assert.equal(issue.input, 'local/T101.LEVL')
    assert.equal(issue.suggestions[0], 'local/T101.LEVEL')
  })

  test('only of what the key sees', async () => {
    assert.equal((await issueOf('plnt/TEMP')).suggestions[0], 'plant/TEMP')
    assert.equal((await issueOf('plnt/TEMP', LOCAL_KEY)).suggestions, undefined)
    assert.equal((await issueOf('plant/TEMPP', LOCAL_KEY)).suggestions, undefined)
  })

  test('on write, metadata and corrections too; their sentences are as they were', async () => {
    const bodies: readonly (readonly [string, object])[] = [
      ['/historian/write/points', { points: { 'local/T101.LEVLE': [] } }],
      ['/historian/metadata/get', { tags: ['local/T101.LEVLE'] }],
      ['/historian/metadata/update', { entries: { 'local/T101.LEVLE': {} } }],
      ['/historian/metadata/delete', { tags: ['local/T101.LEVLE'] }],
      ['/historian/metadata/rename', { renames: { 'local/T101.LEVLE': 'local/NEW' } }],
      ['/historian/delete/points', { ranges: { 'local/T101.LEVLE': [] } }],
    ]
    for (const [path, sent] of bodies) {
      const { body } = await post(app, path, sent, WRITE_KEY)
      assert.deepEqual(Object.values(body.errors), ['Tag local/T101.LEVLE does not exist'], path)
      assert.equal(body.issues[0].suggestions[0], 'local/T101.LEVEL', path)
    }
  })

  test('of the first few of many', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `local/T101.LEVEL${i}`)
    const { body } = await post(app, '/historian/metadata/get', { tags: names }, READ_KEY)
    const suggested = body.issues.filter((issue: Json) => issue.suggestions !== undefined)
    assert.equal(suggested.length, 5)
  })
})
