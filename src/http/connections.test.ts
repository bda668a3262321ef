import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { requestText, Wire } from '../../test/http/wire.ts'
import { Connections } from './connections.ts'

test('a client that takes nothing of its answer any more is cut off, and its call is over', async () => {
  const connections = new Connections(200)
  const over = Promise.withResolvers<boolean>()
  const server = createServer((request, response) => {
    connections.open(request, response, over.resolve)
    const fill = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      response.once('drain', fill)
    }
    fill()
  })
  test.after(() => server.close())
  connections.watch(server)
  test.after(() => connections.closed())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wire = await Wire.open((server.address() as AddressInfo).port)
  wire.socket.pause()
  wire.send(requestText('GET', '/'))
  assert.equal(await over.promise, false)
  wire.destroy()
})

test('a call that takes long to answer is not taken for a stalled client', async () => {
  const connections = new Connections(50)
  const server = createServer((request, response) => {
    const { signal } = connections.open(request, response, () => {})
    setTimeout(() => response.end(signal.aborted ? 'cut' : 'whole'), 300)
  })
  test.after(() => server.close())
  connections.watch(server)
  test.after(() => connections.closed())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wire = await Wire.open((server.address() as AddressInfo).port)
  wire.send(requestText('GET', '/', { connection: 'close' }))
  assert.match(await wire.end(), /whole/)
})
