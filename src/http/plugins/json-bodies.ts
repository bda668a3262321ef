import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Transform } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { showInput, TidemarkError } from '../../errors/tidemark-error.ts'
import { invalidJson } from '../../json/invalid.ts'
import { parseJson, readJson } from '../../json/parse.ts'
import { NO_RULES } from '../../json/rules.ts'
import { CooperativeScheduler } from '../../scheduling/cooperative-scheduler.ts'
import { type Body, BodyBytes } from '../body-bytes.ts'
import { BodyMemory } from '../body-memory.ts'
import { addressGroup, type WorkInHand, type WorkShare } from '../work.ts'

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
 * Calls get their place when their body is whole, and hold its bytes as they come: the length is checked when it is
 * announced, as it streams, and as it is decompressed, what they hold while they are scanned. Nothing of Fastify's own
 * body handling is used; its parser would refuse `__proto__` as a label, or worse.
 */
export function addJsonBodies(app: FastifyInstance, work: WorkInHand, settings: BodySettings): void {
  const memory = new BodyMemory()
  app.decorateRequest('work', null)
  app.addHook('onRequest', (request, _reply, done) => {
    const { isCall, takesJson } = request.endpoint
    if (takesJson === true) checkType(request)
    // Its share is left when its connection has the answer or is gone (plugins/requests.ts), which may be already.
    if (isCall === true) {
      request.gone.throwIfAborted()
      request.work = work.arrive({ key: request.caller?.keyName ?? '', address: addressGroup(request.ip) })
      if (takesJson !== true) request.work.begin()
    }
    done()
  })

  app.removeAllContentTypeParsers()
  const parser = (request: FastifyRequest, _payload: unknown, done: BodyDone) => {
    if (request.endpoint.takesJson !== true) return done(null, undefined)
    // A small body is read right after its head, which Node tells of before it.
    const isOnItsWay = request.raw.readableLength === 0 && announcedLength(request) <= ONE_READ_BYTES
    if (isOnItsWay) SOON.then(() => readSoon(request, done))
    else readSoon(request, done)
  }
  const readSoon = (request: FastifyRequest, done: BodyDone) => {
    let value: unknown
    try {
      request.gone.throwIfAborted()
      value = bodyValue(request, arrivedBody(request), memory, settings)
    } catch (error) {
      return done(error as Error)
    }
    if (value instanceof Promise) value.then((come) => done(null, come), done)
    else done(null, value)
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

export interface BodySettings {
  /** That all calls may hold. */
  readonly maxBytesInWork: number
  /** How long nothing may come of a body. */
  readonly silenceSeconds: number
}

/** What Node reads at once of a connection. */
const ONE_READ_BYTES = 65_536
/** A body of up to this size is parsed without a yield to the event loop: some 0.3 ms at worst. */
const SMALL_BYTES = 8_192
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
function arrivedBody(request: FastifyRequest): Buffer | null {
  const { raw } = request
  const limitBytes = limitOf(request)
  const length = raw.readableLength
  if (length === 0 || length > limitBytes || length !== Number(request.headers['content-length'])) return null
  if (normalized(request.headers['content-encoding']) !== 'identity') return null
  request.work?.holdBytes(length)
  // Not flowing yet, a stream gives all that it has as one chunk.
  const body = raw.read() as Buffer
  raw.resume() // to its end, which takes no more bytes
  return body
}

/**
 * The whole body, decompressed. Rejects with BODY_TOO_LARGE, BODY_SILENT, OVERLOADED, INVALID_REQUEST or CANCELLED.
 */
function readBody(request: FastifyRequest, memory: BodyMemory, silenceSeconds: number): Promise<Body> {
  const { raw } = request
  const limitBytes = limitOf(request)
  const { promise, resolve, reject } = Promise.withResolvers<Body>()
  const encoding = normalized(request.headers['content-encoding'])
  const decoder = DECODERS[encoding]?.() ?? null
  const source = decoder ?? raw
  const announced = announcedLength(request)
  const body = new BodyBytes(decoder === null ? announced : 0, memory)

  const checkLength = (bytes: number) => {
    if (bytes > limitBytes) throw new TidemarkError('BODY_TOO_LARGE', { limit: limitBytes })
  }
  const orReject = (take: (chunk: Buffer) => void) => (chunk: Buffer) => {
    try {
      take(chunk)
    } catch (error) {
      settle(() => reject(error))
    }
  }
  const onData = orReject((chunk) => {
    checkLength(body.length + chunk.length)
    request.work?.holdBytes(body.length + chunk.length)
    body.add(chunk)
  })
  // Compressed bytes need not make any: members of gzip can be empty.
  let compressed = 0
  const onCompressed = orReject((chunk) => {
    compressed += chunk.length
    checkLength(compressed)
  })
  const onEnd = () => settle(() => resolve(body))
  const onBroken = (cause: unknown) =>
    settle(() => {
      const message = `The body cannot be decompressed: it is not complete and valid ${encoding}`
      reject(new TidemarkError('INVALID_REQUEST', { message }, { cause }))
    })
  const onGone = () => settle(() => reject(request.gone.reason))
  const silence = watchSilence(raw, silenceSeconds, () =>
    settle(() => reject(new TidemarkError('BODY_SILENT', { seconds: silenceSeconds }))),
  )
  // The listeners go first and the rest of the body is thrown away as it comes: closing the connection now would take
  // the answer with it.
  const settle = (done: () => void) => {
    silence.end()
    source.off('data', onData).off('end', onEnd)
    raw.off('data', onCompressed)
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
    checkLength(announced)
    request.work?.checkBytes(announced)
  } catch (error) {
    silence.end()
    reject(error)
    return promise
  }
  request.gone.addEventListener('abort', onGone, { once: true })
  raw.on('error', () => {}) // the connection broke; `gone` tells
  source.on('data', onData).on('end', onEnd)
  if (decoder !== null) raw.on('data', onCompressed).pipe(decoder.on('error', onBroken))
  waiting.get(raw)?.writeContinue()
  return promise
}

/**
 * Calls `silent` once, when nothing has come of a body for so long.
 * @returns ends the watch
 */
function watchSilence(raw: IncomingMessage, seconds: number, silent: () => void): { end(): void } {
  let chunks = 0
  let isOver = false
  const onChunk = () => {
    chunks++
    timer.refresh()
  }
  const timer = setTimeout(() => {
    const before = chunks
    // What came while this process was busy is still to be read.
    setImmediate(() => {
      if (!isOver && chunks === before) silent()
    })
  }, seconds * 1_000)
  raw.on('data', onChunk)
  const end = () => {
    isOver = true
    clearTimeout(timer)
    raw.off('data', onChunk)
  }
  return { end }
}

/** What the handler is given: the value of the body or its bytes; at once where a small one has arrived. */
function bodyValue(
  request: FastifyRequest,
  arrived: Buffer | null,
  memory: BodyMemory,
  { maxBytesInWork: maxBytes, silenceSeconds }: BodySettings,
): unknown {
  const takesBytes = request.endpoint.takesBytes === true
  if (arrived === null) {
    return readBody(request, memory, silenceSeconds).then((come) => {
      begin(request, come)
      return takesBytes ? come : parseBody(come, request, maxBytes)
    })
  }
  request.work?.begin()
  const body = { bytes: arrived, release: NOTHING_TO_RELEASE }
  if (takesBytes) return body
  return arrived.length <= SMALL_BYTES ? parseJson(arrived) : parseBody(body, request, maxBytes)
}

/** @throws OVERLOADED when no place is free; the body is given up then */
function begin(request: FastifyRequest, body: Body): void {
  try {
    request.work?.begin()
  } catch (error) {
    body.release()
    throw error
  }
}

function limitOf(request: FastifyRequest): number {
  return request.endpoint.bodyLimitBytes ?? 0
}

/** The value of a body that is not small: parsed in chunks where it is long, with yields to the event loop. */
async function parseBody(body: Body, request: FastifyRequest, maxBytes: number): Promise<unknown> {
  const { bytes } = body
  const scheduler = new CooperativeScheduler(request.gone.signal)
  try {
    await scheduler.yieldIfDue()
    const rules = request.endpoint.rules ?? NO_RULES
    return await readJson(bytes, rules, scheduler, (values) =>
      holdValues(values, bytes.length, request.work, maxBytes),
    )
  } finally {
    body.release()
  }
}

/** Counts what JSON.parse will make of a long body to what its call holds. @throws LIMIT_JSON, OVERLOADED */
export function holdValues(
  values: number,
  bodyBytes: number,
  work: WorkShare | null,
  maxBytes: number,
): void {
  const bytes = bodyBytes + values * BYTES_OF_VALUE
  if (bytes > maxBytes) {
    throw new TidemarkError('LIMIT_JSON', {
      what: `${values} values, for which server.maxBytesInWork has no room`,
    })
  }
  work?.holdBytes(bytes)
}

/** Of an empty object in an array, the largest of the values for its length. */
const BYTES_OF_VALUE = 64
