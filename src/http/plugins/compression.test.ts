import assert from 'node:assert/strict'
import test from 'node:test'
import { chooseEncoding } from './compression.ts'

for (const [accepted, chosen] of [
  [undefined, null],
  ['', null],
  ['identity', null],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['deflate', 'deflate'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip;q=1.0, zstd;q=0.5', 'gzip'],
  ['gzip;q=0', null],
  ['*', 'zstd'],
  ['*;q=0', null],
  ['zstd;q=0, *', 'gzip'],
  ['identity;q=1, gzip;q=0.5', null],
  ['identity;q=0.5, gzip', 'gzip'],
  ['br', null],
  ['gzip;q=abc', null],
  [';;;,,,q=1', null],
] as const) {
  test(`Accept-Encoding ${accepted ?? '(none)'} is answered with ${chosen ?? 'a plain body'}`, () => {
    assert.equal(chooseEncoding(accepted)?.name ?? null, chosen)
  })
}
