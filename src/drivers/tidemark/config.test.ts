import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tidemarkConfigSchema } from './config.ts'

const least = { url: 'https://hq.example.com/base/', historian: 'plant', key: { env: 'KEY' } }

test('three settings are enough', () => {
  assert.deepEqual(tidemarkConfigSchema.parse(least), {
    ...least,
    writable: false,
    timeoutSeconds: 20,
    connectSeconds: 5,
    connections: 8,
    metadataSeconds: 10,
    gzip: true,
  })
})

describe('a wrong setting is refused', () => {
  const cases: readonly (readonly [title: string, settings: object])[] = [
    ['another scheme', { url: 'ftp://hq' }],
    ['no URL', { url: 'hq' }],
    ['a password in the URL', { url: 'https://a:b@hq' }],
    ['a key in the URL', { url: 'https://hq/?apikey=x' }],
    ['an impossible historian', { historian: 'a/b' }],
    ['a virtual historian', { historian: 'calc' }],
    ['an inline key', { key: 'tdm_x' }],
    ['no time at all', { timeoutSeconds: 0 }],
    ['half a connection', { connections: 0.5 }],
    ['an unknown name', { timeout: 5 }],
  ]
  for (const [title, settings] of cases) {
    test(title, () => assert.equal(tidemarkConfigSchema.safeParse({ ...least, ...settings }).success, false))
  }
})
