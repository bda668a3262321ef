import assert from 'node:assert/strict'
import { get as httpsGet } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { READ_KEY, testService } from './service.ts'

const tls = {
  certFile: join(import.meta.dirname, 'tls', 'cert.pem'),
  keyFile: join(import.meta.dirname, 'tls', 'key.pem'),
}

test('with a certificate the service speaks TLS, and shuts down as usual', async () => {
  const { app, listen } = testService({ server: { tls } })
  const port = await listen()
  const options = { port, host: '127.0.0.1', path: '/historian/list', rejectUnauthorized: false }
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>()
  httpsGet({ ...options, headers: { 'x-api-key': READ_KEY } }, resolve).on('error', reject)
  const response = await promise
  assert.equal(response.statusCode, 200)
  assert.match(await text(response), /"local"/)
  await app.close()
})

for (const [title, server] of [
  ['a certificate that is not there', { tls: { ...tls, certFile: '/nowhere/cert.pem' } }],
  ['a proxy that is no address', { trustedProxies: ['10.0.0.0/8', 'proxy.example.com'] }],
  ['a proxy range that is too narrow', { trustedProxies: ['10.0.0.0/33'] }],
] as const) {
  test(`${title} is said with its place in the configuration`, () => {
    assert.throws(() => testService({ server }), {
      code: 'CONFIG_INVALID',
      message: /^server\.(?:tls\.certFile|trustedProxies): /,
    })
  })
}

test('the client is the one that a trusted proxy names, and an untrusted one is not believed', async () => {
  for (const [trustedProxies, client] of [
    [['127.0.0.0/8', '10.1.2.3'], '192.0.2.7'],
    [[], '127.0.0.1'],
    [['10.0.0.0/8'], '127.0.0.1'],
  ] as const) {
    const { app, logLines } = testService({ server: { trustedProxies } })
    const headers = { 'x-api-key': READ_KEY, 'x-forwarded-for': '203.0.113.9, 192.0.2.7, 10.1.2.3' }
    await app.inject({ url: '/historian/list', headers })
    assert.equal(JSON.parse(logLines()[0]!).client, client)
  }
})
