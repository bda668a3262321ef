import assert from 'node:assert/strict'
import test from 'node:test'
import { get, testService } from '../../../../test/http/service.ts'

test('the list of writable historians leaves out those that are not', async () => {
  const { status, text } = await get(testService().app, '/historian/listwritable')
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(text), { historians: [{ name: 'lab' }, { name: 'local' }] })
})
