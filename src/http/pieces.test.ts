import assert from 'node:assert/strict'
import test from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import { requestText, Wire } from '../../test/http/wire.ts'
import { sendPieces } from './pieces.ts'
import { addCompression } from './plugins/compression.ts'

const PIECE = Buffer.from('x'.repeat(65_536))

async function serve(pieces: () => Iterable<Uint8Array>) {
  const app = fastify()
  addCompression(app)
  app.get('/', (_request, reply) => sendPieces(reply, pieces()))
  test.after(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, port: (app.server.address() as { port: number }).port }
}

for (const [title, sizes, isWhole] of [
  ['nothing', [], true],
  ['one piece', [10], true],
  ['two pieces', [10, 20], false],
  ['many pieces', Array.from({ length: 50 }, () => 65_536), false],
] as const) {
  test(`${title} arrives as it was made, ${isWhole ? 'with' : 'without'} a length`, async () => {
    const made = sizes.map((size, index) => Buffer.alloc(size, 65 + (index % 26)))
    const { app } = await serve(() => made)
    const { rawPayload, headers } = await app.inject({ url: '/' })
    assert.ok(Buffer.concat(made).equals(rawPayload))
    assert.equal(headers['content-length'], isWhole ? String(rawPayload.length) : undefined)
    const compressed = await app.inject({ url: '/', headers: { 'accept-encoding': 'zstd' } })
    if (headers['content-length'] === undefined) {
      assert.equal(compressed.headers['content-encoding'], 'zstd')
      assert.ok(Buffer.concat(made).equals(zstdDecompressSync(compressed.rawPayload)))
    }
  })
}

test('a client that does not read stops the making of pieces, and one that leaves ends it', async () => {
  let made = 0
  const ended = Promise.withResolvers<void>()
  const { port } = await serve(function* () {
    try {
      for (;;) {
        made++
        yield PIECE
      }
    } finally {
      ended.resolve()
    }
  })
  const wire = await Wire.open(port)
  wire.socket.pause()
  wire.send(requestText('GET', '/'))
  // The buffers of the system take some megabytes; then nothing more is made, however long one looks.
  let last = -1
  while (made !== last || made === 0) {
    last = made
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(made < 2_000)
  wire.destroy()
  await ended.promise
})

for (const encoding of ['identity', 'gzip']) {
  test(`when a later piece fails the answer (${encoding}) breaks off without its end`, async () => {
    const { port } = await serve(function* () {
      yield PIECE
      yield PIECE
      throw new Error('no more')
    })
    const wire = await Wire.open(port)
    wire.send(requestText('GET', '/', { 'accept-encoding': encoding }))
    // The last chunk of a complete answer has no bytes.
    assert.doesNotMatch(await wire.end(), /\r\n0\r\n\r\n$/)
  })
}
