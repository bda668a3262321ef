import assert from 'node:assert/strict'
import test from 'node:test'
import { get, testService } from '../../../../test/http/service.ts'

test('the document is served to anybody, with the base path as its server', async () => {
  const { app } = testService({ server: { basePath: '/tide' } })
  const { status, text } = await get(app, '/tide/openapi.json', {})
  assert.equal(status, 200)
  const document = JSON.parse(text)
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.servers, [{ url: '/tide' }])
  assert.equal(document.info.version, '0.0.0-test')
})
