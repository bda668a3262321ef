import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { READ_KEY, testService } from './service.ts'

test('a client that goes away before the first byte of a compressed answer is no error of the service', async () => {
  const { listen, logLines } = testService()
  const port = await listen()
  const body = JSON.stringify({
    requests: {
      long: {
        type: 'INTERPOLATED_POINTS',
        tag: 'siggen/rand10@1000',
        details: { from: '2026-01-01T00:00Z', to: '2026-01-10T00:00Z', count: 100_000 },
      },
    },
  })
  const head = [
    'POST /historian/multi HTTP/1.1',
    'Host: here',
    `X-Api-Key: ${READ_KEY}`,
    'Content-Type: application/json',
    'Accept-Encoding: zstd',
    `Content-Length: ${body.length}`,
  ].join('\r\n')
  const calls = 120
  for (let call = 0; call < calls; call++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(`${head}\r\n\r\n${body}`)
    // Between the start of the answer and its first byte, which packing delays, wherever that lies on this machine.
    await Promise.race([once(socket, 'data'), wait(call / 2)])
    socket.destroy()
    await once(socket, 'close')
  }
  // What was cut off before it was parsed leaves no line, so there is nothing to count to.
  await wait(200)
  assert.deepEqual(
    logLines().filter((line) => (JSON.parse(line) as { level: string }).level === 'error'),
    [],
  )
})
