import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { listenAt } from './listen.ts'

const host = '127.0.0.1'
const other = createServer().listen(0, host)
await once(other, 'listening')
const taken = (other.address() as AddressInfo).port
after(() => other.close())

/** A server for which the system chooses a port that another one listens at, the first times. */
function unlucky(times: number) {
  const server = createServer()
  after(() => server.close())
  const asked: number[] = []
  const listen = async (at: { host: string; port: number }) => {
    asked.push(at.port)
    server.listen(asked.length > times ? at.port : taken, at.host)
    await once(server, 'listening')
  }
  return { server, asked, listen }
}

const isTaken = { code: 'EADDRINUSE' }

describe('listening', () => {
  test("at a port of the system's choice is tried again when another process was faster", async () => {
    const app = unlucky(4)
    await listenAt(app, { host, port: 0 })
    assert.deepEqual(app.asked, [0, 0, 0, 0, 0])
    assert.ok(app.server.listening)
  })

  test('ends when no port is free', async () => {
    const app = unlucky(100)
    await assert.rejects(listenAt(app, { host, port: 0 }), isTaken)
    assert.equal(app.asked.length, 5)
  })

  test('at a port that was asked for is tried once', async () => {
    const app = unlucky(0)
    await assert.rejects(listenAt(app, { host, port: taken }), isTaken)
    assert.deepEqual(app.asked, [taken])
  })
})
