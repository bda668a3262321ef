import { pipeline, type Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  constants,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflate,
  gzip,
  zstdCompress,
} from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { JSON_TYPE } from '../error-answer.ts'

/** A smaller body fits into one packet anyway. */
const MIN_BYTES = 1_400

/**
 * Level 1 throughout: points as JSON shrink to a sixth at the worst and to less than a tenth where values are round.
 * gzip at level 6 takes twice as long to make them a tenth smaller; zstd takes half the time of gzip for less.
 */
const ZLIB = { level: 1, chunkSize: 64 * 1024 }
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 64 * 1024 }

interface Encoding {
  readonly name: string
  stream(): Transform
  whole(body: string | Buffer): Promise<Buffer>
}

/** In order of preference where a client likes several equally. */
const ENCODINGS: readonly Encoding[] = [
  { name: 'zstd', stream: () => createZstdCompress(ZSTD), whole: (body) => zstdWhole(body, ZSTD) },
  { name: 'gzip', stream: () => createGzip(ZLIB), whole: (body) => gzipWhole(body, ZLIB) },
  { name: 'deflate', stream: () => createDeflate(ZLIB), whole: (body) => deflateWhole(body, ZLIB) },
]
/** For what is kept packed with gzip. */
const GZIP_FIRST = ENCODINGS.toSorted((a, b) => Number(b.name === 'gzip') - Number(a.name === 'gzip'))
const zstdWhole = promisify<string | Buffer, object, Buffer>(zstdCompress)
const gzipWhole = promisify<string | Buffer, object, Buffer>(gzip)
const deflateWhole = promisify<string | Buffer, object, Buffer>(deflate)

/** Compresses what is worth it for clients that accept it; streams are compressed as they flow. */
export function addCompression(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isCompressible(reply) || request.method === 'HEAD') return done(null, payload)
    addVary(reply)
    const encoding = chooseEncoding(request.headers['accept-encoding'])
    if (encoding === null) return done(null, payload)
    if (!(typeof payload === 'string' || Buffer.isBuffer(payload) || isStream(payload)))
      return done(null, payload)
    if (!isStream(payload) && Buffer.byteLength(payload) < MIN_BYTES) return done(null, payload)
    reply.header('content-encoding', encoding.name)
    reply.removeHeader('content-length')
    if (!isStream(payload)) encoding.whole(payload).then((whole) => done(null, whole), done)
    // Whichever side ends first takes the other with it; Fastify sees an error on the stream it sends.
    else
      done(
        null,
        pipeline(payload, encoding.stream(), () => {}),
      )
  })
}

/** The encoding that a client likes best of ours, null for none: sent as it is. */
export function chooseEncoding(accepted: string | undefined): Encoding | null {
  return bestOf(ENCODINGS, accepted)
}

/** Whether a body that is kept packed with gzip is what a client likes best, or as much as anything else of ours. */
export function prefersGzip(accepted: string | undefined): boolean {
  return bestOf(GZIP_FIRST, accepted)?.name === 'gzip'
}

/** @param encodings in order of preference where the client likes several equally */
function bestOf(encodings: readonly Encoding[], accepted: string | undefined): Encoding | null {
  if (accepted === undefined) return null
  const qualities = new Map<string, number>()
  for (const entry of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    qualities.set(name, quality === undefined ? 1 : Number(quality.slice(2)) || 0)
  }
  const qualityOf = (name: string) => qualities.get(name) ?? qualities.get('*') ?? 0
  let best: Encoding | null = null
  // A client that would rather have it uncompressed says so by a higher quality of identity.
  let bestQuality = qualities.get('identity') ?? 0
  for (const encoding of encodings) {
    const quality = qualityOf(encoding.name)
    const isBetter = best === null ? quality > 0 && quality >= bestQuality : quality > bestQuality
    if (!isBetter) continue
    best = encoding
    bestQuality = quality
  }
  return best
}

function isCompressible(reply: FastifyReply): boolean {
  const { statusCode } = reply
  if (statusCode === 204 || statusCode === 304 || reply.hasHeader('content-encoding')) return false
  const type = String(reply.getHeader('content-type') ?? '')
  return (
    type === JSON_TYPE ||
    /^(?:application\/(?:json|javascript|openmetrics-text)|text\/|image\/svg)/.test(type)
  )
}

/** Says that the body follows from Accept-Encoding, beside what else it follows from. */
export function addVary(reply: FastifyReply): void {
  const vary = String(reply.getHeader('vary') ?? '')
  if (vary.includes('Accept-Encoding')) return
  reply.header('vary', vary === '' ? 'Accept-Encoding' : `${vary}, Accept-Encoding`)
}

function isStream(payload: unknown): payload is Readable {
  return typeof (payload as { pipe?: unknown } | null)?.pipe === 'function'
}
