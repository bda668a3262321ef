import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VerifiedBlocks } from './verified-blocks.ts'

test('only what was verified is taken for verified', () => {
  // Few low bits, so that many meet in one place.
  const checksum = fc
    .tuple(fc.nat({ max: 3 }), fc.nat({ max: 0x7fff }))
    .map(([low, high]) => high * 131_072 + low)
  fc.assert(
    fc.property(fc.array(checksum), fc.array(checksum), (added, asked) => {
      const blocks = new VerifiedBlocks()
      for (const one of added) {
        blocks.add(one)
        assert.equal(blocks.has(one), one !== 0)
      }
      for (const one of asked) assert.ok(!blocks.has(one) || added.includes(one))
      blocks.clear()
      for (const one of added) assert.ok(!blocks.has(one))
    }),
  )
})

test('two that meet in one place are both remembered', () => {
  const blocks = new VerifiedBlocks()
  for (const one of [0xffffffff, 0x0001ffff]) blocks.add(one)
  assert.ok(blocks.has(0xffffffff) && blocks.has(0x0001ffff))
})
