import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import {
  brotliCompressSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import { ROUTES } from '../../src/http/routes/index.ts'
import { jsonHeaders, post, seed, testService, WRITE_KEY } from './service.ts'

const LIMIT = 256 * 1024
const { app } = testService({ server: { bodyLimitBytes: LIMIT } })
const URL = '/historian/metadata/create'

async function send(payload: string | Buffer | Readable, headers: Record<string, string> = {}, url = URL) {
  const response = await app.inject({
    method: 'POST',
    url,
    headers: { ...jsonHeaders(), ...headers },
    payload,
  })
  return { status: response.statusCode, body: response.json() }
}

for (const { method, path, errors } of ROUTES) {
  if (method !== 'POST') continue
  test(`${path} refuses what is not JSON by type, and what is not JSON by content`, async () => {
    for (const [status, code, payload, headers] of [
      [415, 'MEDIA_TYPE', '{}', { 'content-type': 'text/plain' }],
      [415, 'MEDIA_TYPE', '', { 'content-type': 'application/x-www-form-urlencoded' }],
      [415, 'MEDIA_TYPE', '{}', { 'content-type': '' }],
      [415, 'MEDIA_TYPE', '{}', { 'content-type': 'application/json; charset=latin1' }],
      [415, 'CONTENT_ENCODING', '{}', { 'content-encoding': 'br' }],
      [400, 'INVALID_JSON', '', {}],
      [400, 'INVALID_JSON', '{"entries":', {}],
      [400, 'INVALID_JSON', '{} {}', {}],
      [413, 'BODY_TOO_LARGE', `"${'x'.repeat(LIMIT)}"`, {}],
    ] as const) {
      const { status: actual, body } = await send(payload, headers, path)
      assert.equal(actual, status, code)
      assert.equal(body.issues[0].code, code)
      assert.equal(body.message, body.issues[0].message)
      const expected = { array: [body.message], labels: {}, entries: { '*': body.message } }
      assert.deepEqual(body.errors, expected[errors])
    }
  })
}

test('a POST without type and body is 415', async () => {
  const response = await app.inject({ method: 'POST', url: URL, headers: { 'x-api-key': WRITE_KEY } })
  assert.equal(response.statusCode, 415)
})

for (const type of [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON ; charset="utf-8"',
  'application/json;',
  'application/ld+json',
]) {
  test(`a body of type ${type} is JSON`, async () => {
    assert.equal((await send('{"entries":{}}', { 'content-type': type })).status, 200)
  })
}

for (const type of [
  'application/jsonx',
  'json',
  'application/json, text/plain',
  'text/json',
  '*/*',
  'a/b; ;;;==',
]) {
  test(`a body of type ${type} is not`, async () => {
    assert.equal((await send('{"entries":{}}', { 'content-type': type })).status, 415)
  })
}

test('a byte order mark is passed over', async () => {
  assert.equal((await send('\ufeff{"entries":{}}')).status, 200)
  assert.equal((await send('\ufeff')).body.issues[0].code, 'INVALID_JSON')
})

for (const [title, bytes] of [
  ['a broken sequence', [0x22, 0xc3, 0x28, 0x22]],
  ['a lone continuation byte', [0x22, 0x80, 0x22]],
  ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
] as const) {
  test(`${title} is refused as not UTF-8`, async () => {
    const { status, body } = await send(Buffer.from(bytes))
    assert.equal(status, 400)
    assert.equal(body.message, 'The body is not valid JSON: it is not UTF-8')
  })
}

test('bodies may be compressed', async () => {
  const body = '{"entries":{"local/Z":{"units":"€"}}}'
  for (const [encoding, payload] of [
    ['gzip', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['GZIP', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['identity', Buffer.from(body)],
    ['', Buffer.from(body)],
    // Two members one after the other are one gzip file.
    ['gzip', Buffer.concat([gzipSync(body.slice(0, 20)), gzipSync(body.slice(20))])],
  ] as const) {
    const { status, body: answer } = await send(Buffer.from(payload), { 'content-encoding': encoding })
    assert.equal(status, 200, encoding)
    assert.ok('local/Z' in answer.handledEntries || 'local/Z' in answer.errors)
  }
})

for (const [title, encoding, payload] of [
  ['truncated gzip', 'gzip', gzipSync('{"entries":{}}').subarray(0, 20)],
  ['plain text called gzip', 'gzip', Buffer.from('{"entries":{}}')],
  ['gzip called deflate', 'deflate', gzipSync('{"entries":{}}')],
  ['an empty body called gzip', 'gzip', Buffer.alloc(0)],
] as const) {
  test(`${title} is refused with 400`, async () => {
    const { status, body } = await send(payload, { 'content-encoding': encoding })
    assert.equal(status, 400)
    assert.match(body.message, /cannot be decompressed|it is empty/)
  })
}

for (const encoding of ['br', 'zstd', 'gzip, gzip', 'constructor', '__proto__']) {
  test(`Content-Encoding ${encoding} is 415`, async () => {
    const payload = encoding === 'br' ? brotliCompressSync('{}') : gzipSync(gzipSync('{}'))
    const { status, body } = await send(payload, { 'content-encoding': encoding })
    assert.equal(status, 415)
    assert.equal(body.issues[0].code, 'CONTENT_ENCODING')
  })
}

test('a body is measured after decompression', async () => {
  const bomb = gzipSync(Buffer.alloc(100 * LIMIT, 0x20))
  assert.ok(bomb.length < LIMIT)
  const { status, body } = await send(bomb, { 'content-encoding': 'gzip' })
  assert.equal(status, 413)
  assert.equal(body.issues[0].code, 'BODY_TOO_LARGE')
})

test('so is what was compressed, which need not make any bytes', async () => {
  const empty = gzipSync('')
  const members = Array(Math.ceil(LIMIT / empty.length) + 1).fill(empty)
  const stream = Readable.from(members)
  const { status, body } = await send(stream, { 'content-encoding': 'gzip' })
  assert.equal(status, 413)
  assert.equal(body.issues[0].code, 'BODY_TOO_LARGE')
})

test('a body of exactly the limit is taken', async () => {
  const start = '{"entries":{}'
  const { status } = await send(`${start}${' '.repeat(LIMIT - start.length - 1)}}`)
  assert.equal(status, 200)
  assert.equal((await send(`${start}${' '.repeat(LIMIT - start.length)}}`)).status, 413)
})

test('nesting of any depth is answered', async () => {
  for (const text of [
    '['.repeat(100_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    '{"a":'.repeat(40_000),
  ]) {
    assert.equal((await send(text)).status, 400)
  }
  const deep = `{"entries":{"local/D":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  const { status, body } = await send(deep)
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.errors), ['local/D'])
})

test('fields named like parts of objects pollute nothing', async () => {
  await send(
    '{"entries":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}},"__proto__":{"polluted":1}}',
  )
  assert.equal(({} as { polluted?: number }).polluted, undefined)
})

test('large answers are compressed as the client accepts, small ones are not', async () => {
  const { app } = testService()
  await seed(app)
  const tags = Array.from({ length: 200 }, (_, index) => `local/missing ${index}`)
  const plain = await post(app, '/historian/metadata/get', { tags })
  for (const [accepted, decompress] of [
    ['gzip', gunzipSync],
    ['deflate', inflateSync],
    ['zstd', zstdDecompressSync],
  ] as const) {
    const headers = { ...jsonHeaders(), 'accept-encoding': accepted }
    const url = '/historian/metadata/get'
    const large = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify({ tags }) })
    assert.equal(large.headers['content-encoding'], accepted)
    assert.equal(large.headers['content-length'], String(large.rawPayload.length))
    assert.equal(large.headers.vary, 'Accept-Encoding')
    assert.deepEqual(JSON.parse(decompress(large.rawPayload).toString()), plain.body)
    const small = await app.inject({ method: 'POST', url, headers, payload: '{"tags":[]}' })
    assert.equal(small.headers['content-encoding'], undefined)
  }
})
