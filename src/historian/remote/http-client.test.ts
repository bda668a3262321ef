import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { TidemarkError } from '../../errors/tidemark-error.ts'
import { withinTrace } from '../../tracing/span.ts'
import { HttpClient, type HttpClientOptions } from './http-client.ts'
import { QueryMeter } from './meter.ts'
import { retrySafely } from './retry.ts'
import { tlsSchema } from './tls.ts'
import { isTransient } from './unavailable.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const servers: Server[] = []
const clients: HttpClient[] = []
after(async () => {
  for (const client of clients) await client.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

async function listen(handler: Handler): Promise<{ server: Server; url: URL }> {
  const server = createServer(handler)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: new URL(`http://user:hidden@127.0.0.1:${(server.address() as AddressInfo).port}`) }
}

function clientOf(url: URL, options: Partial<HttpClientOptions> = {}) {
  const meter = new QueryMeter()
  const client = new HttpClient({ historian: 'site', url, tls: null, meter, ...options })
  clients.push(client)
  return { client, meter }
}

const context = { signal: new AbortController().signal }
const READ = { kind: 'read', method: 'GET', path: '/' } as const

/** Rejects with HISTORIAN_UNAVAILABLE for exactly this reason. */
function fails(work: Promise<unknown>, reason: RegExp): Promise<void> {
  return assert.rejects(work, (error) => {
    assert.ok(error instanceof TidemarkError, String(error))
    assert.equal(error.code, 'HISTORIAN_UNAVAILABLE')
    assert.match(error.message, /^Historian site could not be reached: /)
    assert.match(error.message, reason)
    assert.doesNotMatch(error.message, /127\.0\.0\.1|hidden/)
    return true
  })
}

test('a request of a trace says so, as it came, and one of none does not', async () => {
  const seen: unknown[] = []
  const { url } = await listen((request, response) => {
    seen.push(request.headers.traceparent)
    response.end()
  })
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  for (const gzip of [true, false]) {
    const { client } = clientOf(url, { gzip })
    await withinTrace({ traceparent, span: null }, () => client.send(READ, context))
    await client.send(READ, context)
  }
  assert.deepEqual(seen, [traceparent, undefined, traceparent, undefined])
})

describe('a server that does not answer is a historian that could not be reached', () => {
  test('nobody listens', async () => {
    const { server, url } = await listen(() => {})
    server.close()
    const { client, meter } = clientOf(url)
    await fails(client.send(READ, context), /: the connection was refused$/)
    assert.deepEqual(meter.counts(), [{ kind: 'read', sent: 1, failed: 1 }])
  })

  test('it takes too long', async () => {
    const { client } = clientOf((await listen(() => {})).url, { headersSeconds: 0.1 })
    await fails(client.send(READ, context), /: no answer within 0\.1 seconds$/)
  })

  test('its answer stops half way', async () => {
    const { client } = clientOf((await listen((_, response) => void response.write('half'))).url, {
      bodySeconds: 0.1,
    })
    const answer = await client.send(READ, context)
    await fails(answer.text(100), /: no answer within 0\.1 seconds$/)
  })

  test('it hangs up', async () => {
    const { client } = clientOf((await listen((request) => request.socket.destroy())).url)
    await fails(client.send(READ, context), /: the connection was cut$/)
  })

  test('it hangs up half way', async () => {
    const { url } = await listen((request, response) => {
      response.write('half', () => request.socket.destroy())
    })
    const answer = await clientOf(url).client.send(READ, context)
    await fails(answer.text(100), /: the connection was cut$/)
  })

  test('it speaks no HTTP', async () => {
    const { url } = await listen((request) => void request.socket.end('SSH-2.0-OpenSSH_9\r\n'))
    await fails(clientOf(url).client.send(READ, context), /: it does not answer by HTTP$/)
  })

  test('it answers without end', async () => {
    const { url } = await listen((_, response) => {
      const write = () => {
        while (response.write(Buffer.alloc(65_536)));
      }
      response.on('drain', write)
      write()
    })
    const answer = await clientOf(url).client.send(READ, context)
    await fails(answer.text(1_000_000), /: its answer is longer than 1000000 bytes$/)
  })
})

test('an aborted call rejects with the reason, and its connection is closed', async () => {
  const arrived = Promise.withResolvers<IncomingMessage>()
  const { url } = await listen((request) => arrived.resolve(request))
  const { client, meter } = clientOf(url)
  const controller = new AbortController()
  const answer = client.send(READ, { signal: controller.signal })
  const request = await arrived.promise
  const closed = once(request.socket, 'close')
  const reason = new TidemarkError('CANCELLED')
  controller.abort(reason)
  await assert.rejects(answer, (error) => error === reason)
  await closed
  assert.deepEqual(meter.counts(), [{ kind: 'read', sent: 1, failed: 0 }])
})

test('an aborted body rejects with the reason, and its connection is closed', async () => {
  const arrived = Promise.withResolvers<IncomingMessage>()
  const { url } = await listen((request, response) => {
    arrived.resolve(request)
    response.write('half')
  })
  const { client } = clientOf(url)
  const controller = new AbortController()
  const answer = await client.send(READ, { signal: controller.signal })
  const closed = once((await arrived.promise).socket, 'close')
  const text = answer.text(100)
  const reason = new TidemarkError('CANCELLED')
  controller.abort(reason)
  await assert.rejects(text, (error) => error === reason)
  await closed
})

test('bodies travel compressed both ways when asked for', async () => {
  const sent = 'level '.repeat(1_000)
  const { url } = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    assert.equal(request.headers['content-encoding'], 'gzip')
    const text = gunzipSync(Buffer.concat(chunks))
    response.setHeader('Content-Encoding', 'gzip').end(gzipSync(`${text}!`))
  })
  const { client } = clientOf(url, { gzip: true })
  const answer = await client.send({ kind: 'write', method: 'POST', path: '/', body: sent }, context)
  assert.equal(await answer.text(100_000), `${sent}!`)
})

test('connections are kept, no more than configured are made, and requests beyond a bound are refused', async () => {
  const waiting: ServerResponse[] = []
  const ports = new Set<number>()
  const gate = Promise.withResolvers<void>()
  const { url } = await listen((request, response) => {
    ports.add(request.socket.remotePort!)
    if (waiting.push(response) === 2) gate.resolve()
    if (waiting.length > 2) response.end()
  })
  const { client } = clientOf(url, { connections: 2, maxRequests: 4 })
  const answers = Array.from({ length: 4 }, () => client.send(READ, context))
  await gate.promise
  await fails(client.send(READ, context), /: 4 requests to it wait already$/)
  for (const response of waiting) response.end()
  for (const answer of await Promise.all(answers)) await answer.discard()
  assert.equal(ports.size, 2)
})

describe('a safe call is tried again', () => {
  const options = { ...context, firstPauseMs: 1 }

  test('while the connection fails, and a later success counts', async () => {
    let tries = 0
    const { url } = await listen((request, response) => {
      if (++tries < 3) request.socket.destroy()
      else response.end('now')
    })
    const { client, meter } = clientOf(url)
    const answer = await retrySafely(() => client.send(READ, context), options)
    assert.equal(await answer.text(10), 'now')
    assert.deepEqual(meter.counts(), [{ kind: 'read', sent: 3, failed: 2 }])
  })

  test('as often as allowed', async () => {
    let tries = 0
    const { url } = await listen((request) => {
      tries++
      request.socket.destroy()
    })
    const { client } = clientOf(url)
    await fails(
      retrySafely(() => client.send(READ, context), { ...options, attempts: 2 }),
      /cut$/,
    )
    assert.equal(tries, 2)
  })

  test('not when it was answered late, or refused otherwise', async () => {
    const { client, meter } = clientOf((await listen(() => {})).url, { headersSeconds: 0.1 })
    await fails(
      retrySafely(() => client.send(READ, context), options),
      /no answer within/,
    )
    assert.equal(meter.total(), 1)
    assert.equal(isTransient(new TidemarkError('TAG_NOT_FOUND')), false)
  })

  test('not once the caller has gone', async () => {
    const controller = new AbortController()
    const reason = new TidemarkError('CANCELLED')
    const { url } = await listen((request) => request.socket.destroy())
    const { client, meter } = clientOf(url)
    const tried = retrySafely(() => client.send(READ, context), {
      signal: controller.signal,
      firstPauseMs: 60_000,
      longestPauseMs: 60_000,
    })
    while (meter.counts()[0]?.failed !== 1) await new Promise(setImmediate)
    controller.abort(reason)
    await assert.rejects(tried, (error) => error === reason)
    assert.equal(meter.total(), 1)
  })
})

describe('over TLS', () => {
  const folder = join(import.meta.dirname, '..', '..', '..', 'test', 'http', 'tls')
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(folder, name))

  async function listenTls(): Promise<URL> {
    const server = createTlsServer({ cert: readFileSync(cert!), key: readFileSync(key!) }, (_, response) => {
      response.end('secret')
    })
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new URL(`https://localhost:${(server.address() as AddressInfo).port}`)
  }

  test('a certificate is accepted when it comes from the file that is configured', async () => {
    const { client } = clientOf(await listenTls(), { tls: tlsSchema.parse({ caFile: cert }) })
    const answer = await client.send(READ, context)
    assert.equal(await answer.text(100), 'secret')
  })

  test('and not otherwise, unless any is', async () => {
    const url = await listenTls()
    const refused = /: its certificate is not accepted \((DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?\)$/
    await fails(clientOf(url).client.send(READ, context), refused)
    await fails(clientOf(url, { tls: tlsSchema.parse({}) }).client.send(READ, context), refused)
    const any = clientOf(url, { tls: tlsSchema.parse({ rejectUnauthorized: false }) })
    assert.equal(await (await any.client.send(READ, context)).text(100), 'secret')
  })

  test('and its name must be that of the host, or the one configured', async () => {
    const url = await listenTls()
    const other = tlsSchema.parse({ caFile: cert, servername: 'other.example.com' })
    await fails(
      clientOf(url, { tls: other }).client.send(READ, context),
      /certificate is not accepted \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    )
  })

  test('a file of certificates that is not there is reported without its path', async () => {
    const { client } = clientOf(await listenTls(), { tls: tlsSchema.parse({ caFile: '/no/such/file.pem' }) })
    await fails(client.send(READ, context), /: the file with its certificates cannot be read \(ENOENT\)$/)
  })
})
