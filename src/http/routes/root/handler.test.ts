import assert from 'node:assert/strict'
import test from 'node:test'
import { get, testService } from '../../../../test/http/service.ts'

test('the root leads to the reference, beneath the base path', async () => {
  const { app } = testService({ server: { basePath: '/tide' } })
  for (const url of ['/tide', '/tide/']) {
    const { status, headers } = await get(app, url, {})
    assert.equal(status, 302)
    assert.equal(headers.location, '/tide/docs')
  }
})
