import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VerifiedBlocks } from './verified-blocks.ts'

/** Tag and checksum, few of each and alike in their low bits, so that many meet in one place. */
const block = fc
  .tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.nat({ max: 0x7fff }))
  .map(([tag, low, high]) => [tag, high * 131_072 + low] as const)

test('only what was verified is taken for verified', () => {
  fc.assert(
    fc.property(fc.array(block), fc.array(block), (added, asked) => {
      const blocks = new VerifiedBlocks()
      for (const [tag, checksum] of added) {
        blocks.add(tag, checksum)
        assert.equal(blocks.has(tag, checksum), checksum !== 0)
      }
      const isAdded = (tag: number, checksum: number) =>
        added.some((one) => one[0] === tag && one[1] === checksum)
      for (const [tag, checksum] of asked) assert.ok(!blocks.has(tag, checksum) || isAdded(tag, checksum))
      blocks.clear()
      for (const [tag, checksum] of added) assert.ok(!blocks.has(tag, checksum))
    }),
  )
})

test('two that meet in one place are both remembered', () => {
  const blocks = new VerifiedBlocks()
  for (const checksum of [0xffffffff, 0x0001ffff]) blocks.add(7, checksum)
  assert.ok(blocks.has(7, 0xffffffff) && blocks.has(7, 0x0001ffff))
})

test('a block of one tag says nothing of the same points of another', () => {
  const blocks = new VerifiedBlocks()
  blocks.add(1, 0x12345678)
  assert.ok(!blocks.has(2, 0x12345678))
})
