import assert from 'node:assert/strict'
import test from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { get, testService } from '../../../../test/http/service.ts'
import { explorerAssets } from '../../explorer/assets.ts'
import { bareImports, relativeImports } from '../../explorer/modules.ts'

const { app } = testService({ server: { basePath: '/tide' } })

test('the root is the explorer, beneath the base path, and needs no key', async () => {
  for (const url of ['/tide', '/tide/']) {
    const { status, headers, text } = await get(app, url, {})
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.match(text, /<script type="module" src="\/tide\/explorer\/[0-9a-f]{16}\/main\.js"><\/script>/)
    assert.doesNotMatch(text, /%[A-Z]+%/)
  }
})

test('the page may load nothing but from the service, and run no inline script or style', async () => {
  const { headers, text } = await get(app, '/tide', {})
  const policy = String(headers['content-security-policy'])
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; /)
  assert.match(policy, /img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; /)
  assert.match(policy, /require-trusted-types-for 'script'; trusted-types lit-html$/)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.equal(headers['referrer-policy'], 'no-referrer')
  assert.doesNotMatch(text, /<style|<script(?! type="module" src=)|\son\w+=|\sstyle=/)
  for (const [, address] of text.matchAll(/(?:src|href)="([^"]*)"/g)) {
    assert.match(address!, /^\/tide\//)
    assert.equal((await get(app, address!, {})).status, 200, address)
  }
})

test('every module that the page imports is served, as JavaScript that can be kept for ever', async () => {
  const { version, files } = await explorerAssets()
  let count = 0
  for (const [path, { body }] of files) {
    if (!path.endsWith('.js')) continue
    const url = `/tide/explorer/${version}/${path}`
    assert.deepEqual(bareImports(body.toString()), [], path)
    for (const specifier of relativeImports(body.toString())) {
      const { status, headers } = await get(app, new URL(specifier, `http://host${url}`).pathname, {})
      assert.equal(status, 200, `${path} imports ${specifier}`)
      assert.equal(headers['content-type'], 'text/javascript; charset=utf-8')
      assert.match(String(headers['cache-control']), /immutable/)
      count++
    }
  }
  assert.ok(count > 20)
})

test('a file is packed for clients that accept it, and is the same', async () => {
  const { version, files } = await explorerAssets()
  const url = `/tide/explorer/${version}/main.js`
  const packed = await app.inject({ method: 'GET', url, headers: { 'accept-encoding': 'gzip' } })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  assert.deepEqual(gunzipSync(packed.rawPayload), files.get('main.js')!.body)
})

test('a file comes in an encoding that the client takes, or as it is', async () => {
  const { version, files } = await explorerAssets()
  const url = `/tide/explorer/${version}/main.js`
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'gzip'],
    ['*', 'gzip'],
    ['gzip;q=0', undefined],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['gzip;q=0, *;q=0', undefined],
    ['gzip;q=0.5, identity', undefined],
    ['gzip;q=0, deflate', 'deflate'],
    ['x-not-gzip-at-all', undefined],
  ] as const) {
    const sent = await app.inject({ method: 'GET', url, headers: { 'accept-encoding': accepted } })
    assert.equal(sent.headers['content-encoding'], encoding, accepted)
    assert.equal(sent.headers.vary, 'Accept-Encoding', accepted)
    if (encoding === undefined) assert.deepEqual(sent.rawPayload, files.get('main.js')!.body, accepted)
  }
})

test('all that a browser loads of the page is below 80 kB packed', async () => {
  const { page, files } = await explorerAssets()
  const sum = [...files.values()].reduce(
    (bytes, { gzipped }) => bytes + gzipped.length,
    gzipSync(page).length,
  )
  assert.ok(sum > 20_000 && sum < 80_000, `${sum} bytes`)
})

test('nothing else is served: other versions, other files, paths upwards', async () => {
  const { version } = await explorerAssets()
  for (const path of [
    `${'0'.repeat(16)}/main.js`,
    `${version}/nope.js`,
    `${version}/`,
    `${version}/%2e%2e/%2e%2e/package.json`,
    `${version}/main.ts`,
    `${version}/tsconfig.json`,
    `${version}/__proto__`,
    '',
  ]) {
    const { status, text } = await get(app, `/tide/explorer/${path}`, {})
    assert.ok(status === 404 || status === 401, `${path}: ${status}`)
    assert.doesNotMatch(text, /import/)
  }
})
