import assert from 'node:assert/strict'
import test from 'node:test'
import { get, LOCAL_KEY, READ_KEY, testService } from '../../../../test/http/service.ts'

const { app } = testService()

test('the list holds all historians, sorted by name', async () => {
  const { status, text } = await get(app, '/historian/list')
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(text), { historians: [{ name: 'lab' }, { name: 'local' }, { name: 'plant' }] })
})

test('the list holds only the historians that the key may see', async () => {
  const { text } = await get(app, '/historian/list', { 'x-api-key': LOCAL_KEY })
  assert.deepEqual(JSON.parse(text), { historians: [{ name: 'local' }] })
})

test('the key may come as a query parameter, and the path with a slash at its end', async () => {
  assert.equal((await get(app, `/historian/list/?apikey=${READ_KEY}`, {})).status, 200)
})
