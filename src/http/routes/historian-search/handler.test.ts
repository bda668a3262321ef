import assert from 'node:assert/strict'
import test from 'node:test'
import { get, LOCAL_KEY, seed, testService } from '../../../../test/http/service.ts'

const { app } = testService()
test.before(() => seed(app))

async function search(query: string, key?: string) {
  const { status, text } = await get(
    app,
    `/historian/search${query}`,
    key === undefined ? undefined : { 'x-api-key': key },
  )
  return { status, body: JSON.parse(text) }
}

test('a search finds tags with their metadata, in order of their addresses', async () => {
  const { status, body } = await search('?historian=local&search=*l*')
  assert.equal(status, 200)
  assert.deepEqual(
    body.tags.map((tag: { qualifiedTagName: string }) => tag.qualifiedTagName),
    ['local/FLOW', 'local/TANK_LEVEL'],
  )
  assert.deepEqual(body.tags[0], {
    tagName: 'FLOW',
    qualifiedTagName: 'local/FLOW',
    historianName: 'local',
    description: null,
    units: null,
    stepped: false,
    metadata: {},
  })
})

test('pages of a search join by the cursor', async () => {
  const first = await search('?limit=2')
  assert.equal(first.body.tags.length, 2)
  const second = await search(`?limit=2&cursor=${encodeURIComponent(first.body.next)}`)
  assert.equal(second.body.tags.length, 1)
  assert.equal('next' in second.body, false)
})

test('an unknown historian is 404, and so is one that the key may not see', async () => {
  const unknown = await search('?historian=nowhere')
  assert.equal(unknown.status, 404)
  assert.equal(unknown.body.issues[0].code, 'HISTORIAN_UNKNOWN')
  const hidden = await search('?historian=lab', LOCAL_KEY)
  assert.equal(hidden.status, 404)
  assert.equal(hidden.body.message, 'Historian lab does not exist')
})

for (const query of [
  '?limit=0',
  '?limit=100001',
  '?limit=x',
  '?limit=',
  '?cursor=madeup',
  '?search=a&search=b',
]) {
  test(`a search with ${query} is refused`, async () => {
    const { status, body } = await search(query)
    assert.equal(status, 400)
    assert.equal(body.errors.length, 1)
    assert.equal(body.issues.length, 1)
  })
}

test('an unknown parameter is ignored with a warning, and the key is none', async () => {
  const { status, body } = await search('?serach=x&apikey=anything')
  assert.equal(status, 200)
  assert.equal(body.warnings.length, 1)
  assert.match(body.warnings[0], /serach/)
})
