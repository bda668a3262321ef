import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { showInput, TidemarkError } from '../../errors/tidemark-error.ts'
import { type Body, BodyBytes } from '../body-bytes.ts'
import { BodyMemory } from '../body-memory.ts'
import type { WorkInHand, WorkShare } from '../work.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What a call holds of the service; null where it is none. */
    work: WorkShare | null
  }
}

/** Requests whose client waits for leave to send the body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * Takes a client's `Expect: 100-continue` at its word: the body is asked for only after key, type and length were found
 * good, so that a refused upload is never sent.
 */
export function delayContinue(app: FastifyInstance, server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response)
    app.routing(request, response)
  })
  // Other expectations there are none of; Node would refuse them in a shape of its own.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    app.routing(request, response)
  })
}

/**
 * Calls are counted when they come in, and their bodies while they are read: the length is checked when it is announced,
 * as it streams, and as it is decompressed. Nothing of Fastify's own body handling is used; its parser would refuse
 * `__proto__` as a label, or worse.
 */
export function addJsonBodies(app: FastifyInstance, work: WorkInHand, limitBytes: number): void {
  const memory = new BodyMemory()
  app.decorateRequest('work', null)
  app.addHook('onRequest', (request, _reply, done) => {
    const { isCall, takesJson } = request.endpoint
    if (takesJson === true) checkType(request)
    // Its share is left when its connection has the answer or is gone (plugins/requests.ts), which may be already.
    if (isCall === true) {
      request.gone.throwIfAborted()
      request.work = work.begin()
    }
    done()
  })

  app.removeAllContentTypeParsers()
  const parser = (request: FastifyRequest, _payload: unknown, done: BodyDone) => {
    if (request.endpoint.takesJson !== true) return done(null, undefined)
    const parse = request.endpoint.takesBytes === true ? (body: Body) => body : parseBody
    // A small body is read right after its head, which Node tells of before it.
    const isOnItsWay = request.raw.readableLength === 0 && announcedLength(request) <= ONE_READ_BYTES
    if (isOnItsWay) SOON.then(() => readSoon(request, parse, done))
    else readSoon(request, parse, done)
  }
  const readSoon = (request: FastifyRequest, parse: (body: Body) => unknown, done: BodyDone) => {
    let parsed: unknown
    try {
      request.gone.throwIfAborted()
      const bytes = arrivedBody(request, limitBytes)
      if (bytes === null) {
        readBody(request, limitBytes, memory)
          .then(parse)
          .then((parsed) => done(null, parsed), done)
        return
      }
      parsed = parse({ bytes, release: NOTHING_TO_RELEASE })
    } catch (error) {
      return done(error as Error)
    }
    done(null, parsed)
  }
  // Fastify takes the type of a body apart for every request that only `*` fits.
  app.addContentTypeParser('application/json', parser)
  app.addContentTypeParser('*', parser)
  app.addHook('preValidation', (request, _reply, done) => {
    // Fastify skips the parser where no body is announced at all.
    if (request.endpoint.takesJson === true && request.body === undefined) throw invalidJson('it is empty')
    done()
  })
}

/** What Node reads at once of a connection. */
const ONE_READ_BYTES = 65_536
const SOON = Promise.resolve()
const NOTHING_TO_RELEASE = () => {}

function announcedLength(request: FastifyRequest): number {
  return Number(request.headers['content-length'] ?? 0)
}

type BodyDone = (error: Error | null, body?: unknown) => void

function checkType(request: FastifyRequest): void {
  const { 'content-type': type, 'content-encoding': given } = request.headers
  // What nearly all clients send.
  if (type === 'application/json' && given === undefined) return
  if (type === undefined || !isJsonType(type)) {
    throw new TidemarkError('MEDIA_TYPE', { input: type === undefined ? '(none)' : showInput(type) })
  }
  if (!Object.hasOwn(DECODERS, normalized(given))) {
    throw new TidemarkError('CONTENT_ENCODING', { input: showInput(given) })
  }
}

/** application/json or application/...+json, in UTF-8 where a charset is named. */
function isJsonType(type: string): boolean {
  const [media = '', ...parameters] = type
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  if (!/^application\/(?:[a-z0-9.!#$&^_-]+\+)?json$/.test(media)) return false
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  return charset === undefined || /^charset=(?:utf-?8|"utf-?8")$/.test(charset)
}

const DECODERS: Readonly<Record<string, (() => Transform) | null>> = {
  identity: null,
  gzip: () => createGunzip({ chunkSize: 64 * 1024 }),
  deflate: () => createInflate({ chunkSize: 64 * 1024 }),
}

function normalized(encoding: string | undefined): string {
  const name = (encoding ?? '').trim().toLowerCase()
  return name === '' ? 'identity' : name === 'x-gzip' ? 'gzip' : name
}

/**
 * The body of a request that came whole with its head, as small ones do, and not compressed; null for any other.
 * @throws BODY_TOO_LARGE, OVERLOADED
 */
function arrivedBody(request: FastifyRequest, limitBytes: number): Buffer | null {
  const { raw } = request
  const length = raw.readableLength
  if (length === 0 || length > limitBytes || length !== Number(request.headers['content-length'])) return null
  if (normalized(request.headers['content-encoding']) !== 'identity') return null
  request.work?.holdBytes(length)
  // Not flowing yet, a stream gives all that it has in one piece.
  const body = raw.read() as Buffer
  raw.resume() // to its end, which takes no more bytes
  return body
}

/** The whole body, decompressed. Rejects with BODY_TOO_LARGE, OVERLOADED, INVALID_REQUEST or CANCELLED. */
function readBody(request: FastifyRequest, limitBytes: number, memory: BodyMemory): Promise<Body> {
  const { raw } = request
  const { promise, resolve, reject } = Promise.withResolvers<Body>()
  const encoding = normalized(request.headers['content-encoding'])
  const decoder = DECODERS[encoding]?.() ?? null
  const source = decoder ?? raw
  const announced = announcedLength(request)
  const body = new BodyBytes(decoder === null ? announced : 0, memory)

  const hold = (bytes: number) => {
    if (bytes > limitBytes) throw new TidemarkError('BODY_TOO_LARGE', { limit: limitBytes })
    request.work?.holdBytes(bytes)
  }
  const onData = (chunk: Buffer) => {
    try {
      hold(body.length + chunk.length)
      body.add(chunk)
    } catch (error) {
      settle(() => reject(error))
    }
  }
  const onEnd = () => settle(() => resolve(body))
  const onBroken = (cause: unknown) =>
    settle(() => {
      const message = `The body cannot be decompressed: it is not complete and valid ${encoding}`
      reject(new TidemarkError('INVALID_REQUEST', { message }, { cause }))
    })
  const onGone = () => settle(() => reject(request.gone.reason))
  // The listeners go first and the rest of the body is thrown away as it comes: closing the connection now would take
  // the answer with it.
  const settle = (done: () => void) => {
    source.off('data', onData).off('end', onEnd)
    decoder?.off('error', onBroken).on('error', () => {})
    request.gone.removeEventListener('abort', onGone)
    if (decoder !== null && !decoder.readableEnded) {
      raw.unpipe(decoder)
      decoder.destroy()
    }
    raw.resume()
    done()
  }

  try {
    hold(announced)
  } catch (error) {
    reject(error)
    return promise
  }
  request.gone.addEventListener('abort', onGone, { once: true })
  raw.on('error', () => {}) // the connection broke; `gone` tells
  source.on('data', onData).on('end', onEnd)
  if (decoder !== null) raw.pipe(decoder.on('error', onBroken))
  waiting.get(raw)?.writeContinue()
  return promise
}

function parseBody(body: Body): unknown {
  try {
    return parseJson(body.bytes)
  } finally {
    body.release()
  }
}

/**
 * A body's JSON; keys stay what they are: JSON.parse makes `__proto__` a field like any other.
 * @throws INVALID_JSON
 */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw invalidJson('it is not UTF-8')
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0
  if (body.length === start) throw invalidJson('it is empty')
  try {
    return JSON.parse(body.toString('utf8', start))
  } catch (error) {
    throw invalidJson((error as Error).message.slice(0, 200))
  }
}

function invalidJson(reason: string): TidemarkError {
  return new TidemarkError('INVALID_JSON', { reason })
}
