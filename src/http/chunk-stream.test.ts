import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import test from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import { requestText, Wire } from '../../test/http/wire.ts'
import { BufferPool } from '../multi/buffer-pool.ts'
import { type ChunkOwner, sendChunks } from './chunk-stream.ts'
import { addCompression } from './plugins/compression.ts'

const CHUNK = Buffer.from('x'.repeat(65_536))

const NOBODY = { giveBack() {} }

async function serve(chunks: () => Iterable<Uint8Array>, owner: ChunkOwner = NOBODY) {
  const app = fastify()
  addCompression(app)
  app.get('/', (_request, reply) => sendChunks(reply, chunks(), owner))
  test.after(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, port: (app.server.address() as { port: number }).port }
}

for (const [title, sizes, isWhole] of [
  ['nothing', [], true],
  ['one chunk', [10], true],
  ['two chunks', [10, 20], false],
  ['many chunks', Array.from({ length: 50 }, () => 65_536), false],
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

test('a client that does not read stops the making of chunks, and one that leaves ends it', async () => {
  let made = 0
  const ended = Promise.withResolvers<void>()
  const { port } = await serve(function* () {
    try {
      for (;;) {
        made++
        yield CHUNK
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
  test(`when a later chunk fails the answer (${encoding}) breaks off without its end`, async () => {
    const { port } = await serve(function* () {
      yield CHUNK
      yield CHUNK
      throw new Error('no more')
    })
    const wire = await Wire.open(port)
    wire.send(requestText('GET', '/', { 'accept-encoding': encoding }))
    // The last chunk of a complete answer has no bytes.
    assert.doesNotMatch(await wire.end(), /\r\n0\r\n\r\n$/)
  })
}

for (const encoding of ['identity', 'gzip', 'zstd']) {
  test(`memory that is given back and used again arrives as it was first written (${encoding})`, async () => {
    const pool = new BufferPool()
    const lent = new Set<ArrayBufferLike>()
    let given = 0
    const owner = {
      giveBack(chunk: Uint8Array) {
        given++
        pool.giveBack(chunk)
      },
    }
    const CHUNKS = 200
    const LENGTH = 100_000
    // Noise, which compressors take their time for, numbered so that no two chunks are alike.
    const noise = randomBytes(LENGTH)
    const { port } = await serve(function* () {
      for (let index = 0; index < CHUNKS; index++) {
        const { bytes } = pool.take()
        lent.add(bytes.buffer)
        noise.copy(bytes)
        bytes.fill(index, 0, 50)
        yield bytes.subarray(0, LENGTH)
      }
    }, owner)
    const socket = connect(port, '127.0.0.1')
    socket.write(requestText('GET', '/', { 'accept-encoding': encoding, connection: 'close' }))
    const chunks: Buffer[] = []
    for await (const chunk of socket) {
      chunks.push(chunk)
      // Slower than the chunks are made.
      if (chunks.length % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const body = unchunked(Buffer.concat(chunks))
    const plain =
      encoding === 'gzip' ? gunzipSync(body) : encoding === 'zstd' ? zstdDecompressSync(body) : body
    assert.equal(plain.length, CHUNKS * LENGTH)
    for (let index = 0; index < CHUNKS; index++) {
      const chunk = plain.subarray(index * LENGTH, (index + 1) * LENGTH)
      assert.ok(chunk.subarray(0, 50).equals(Buffer.alloc(50, index)), `chunk ${index} begins as written`)
      assert.ok(chunk.subarray(50).equals(noise.subarray(50)), `chunk ${index} goes on as written`)
    }
    assert.equal(given, CHUNKS)
    // The first two chunks are made before anything is sent, and two are under way after that.
    assert.ok(lent.size <= 4, `${lent.size} pool were enough`)
  })
}

/** The body of an answer that came in chunks. */
function unchunked(answer: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = answer.indexOf('\r\n\r\n') + 4
  for (;;) {
    const end = answer.indexOf('\r\n', at)
    const length = Number.parseInt(answer.toString('latin1', at, end), 16)
    if (length === 0) return Buffer.concat(parts)
    parts.push(answer.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}
