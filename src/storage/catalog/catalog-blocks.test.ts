import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { CATALOG_REF } from '../../../test/fixtures/catalog-v1-content.ts'
import { Damage } from '../damage.ts'
import { systemFiles } from '../files/system-files.ts'
import { HEADER_BYTES } from './catalog-blocks.ts'
import { openCatalogStore } from './file-catalog-store.ts'

/** Bytes of a block before its changes. */
const BLOCK_HEADER_BYTES = 8
const NUMBERS = [0, 1, 7, 8, 2 ** 28, 2 ** 28 + 1, 2 ** 31, 2 ** 32 - 1]
const anyNumber = fc.oneof(fc.constantFrom(...NUMBERS), fc.nat(500), fc.nat(2 ** 32 - 1))

test('whatever header and blocks of a file say with right checksums, it is a catalog or damaged', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, CATALOG_REF.name)
  const fixture = join(import.meta.dirname, '../../../test/fixtures/catalog-v1', CATALOG_REF.name)
  const whole = readFileSync(fixture).subarray(0, CATALOG_REF.bytes)
  const blocks: number[] = []
  for (let at = HEADER_BYTES; at < whole.length; at += BLOCK_HEADER_BYTES + whole.readUInt32LE(at))
    blocks.push(at)
  assert.equal(blocks.length, 2)
  const store = openCatalogStore(systemFiles, folder, '')
  const change = fc.oneof(
    fc.record({ kind: fc.constant('header' as const), at: fc.nat(11), value: anyNumber }),
    fc.record({
      kind: fc.constantFrom('length' as const, 'changes' as const),
      block: fc.constantFrom(...blocks),
      at: fc.nat(2_000),
      value: anyNumber,
    }),
  )
  const any = fc.record({
    changes: fc.array(change, { minLength: 1, maxLength: 3 }),
    /** What the manifest says of its length. */
    bytes: fc.oneof({ weight: 5, arbitrary: fc.constant(whole.length) }, fc.nat(600)),
  })
  await fc.assert(
    fc.asyncProperty(any, async ({ changes, bytes }) => {
      const file = Buffer.from(whole)
      for (const one of changes) {
        if (one.kind === 'header') file[one.at] = one.value & 0xff
        else if (one.kind === 'length') file.writeUInt32LE(one.value, one.block)
        else
          file[one.block + BLOCK_HEADER_BYTES + (one.at % whole.readUInt32LE(one.block))] = one.value & 0xff
      }
      file.writeUInt32LE(crc32(file.subarray(0, 12)), 12)
      for (const at of blocks) {
        const end = Math.min(file.length, at + BLOCK_HEADER_BYTES + file.readUInt32LE(at))
        file.writeUInt32LE(crc32(file.subarray(at + BLOCK_HEADER_BYTES, end), at), at + 4)
      }
      writeFileSync(path, file)
      const ref = { name: CATALOG_REF.name, bytes }
      const problems = await store.check(ref)
      const { bytes: intact, left } = await store.intactBytes(ref)
      assert.ok(intact >= HEADER_BYTES && left >= 0)
      try {
        const catalog = await store.load(ref)
        assert.ok(catalog.size <= file.length / 5, 'a tag takes more than its id')
        assert.deepEqual(problems, [])
      } catch (error) {
        assert.ok(error instanceof Damage, String(error))
        assert.notEqual(problems.length, 0)
      }
    }),
    { numRuns: 2_000 },
  )
})
