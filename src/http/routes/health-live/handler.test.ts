import assert from 'node:assert/strict'
import test from 'node:test'
import { get, testService } from '../../../../test/http/service.ts'

test('a live process says so to anybody', async () => {
  const { status, text } = await get(testService().app, '/health/live', {})
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(text), { status: 'live' })
})
