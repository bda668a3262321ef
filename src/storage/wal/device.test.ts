import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import type { FileHandle, Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { SegmentFile } from './device.ts'

const HEADER = 64

/** A segment to which groups of such sizes were appended; the bytes of each write to it. */
function segmentOf(t: TestContext, sizes: readonly number[]) {
  const path = join(temporaryFolder(t), '1.wal')
  const writes: number[] = []
  const counting = (file: FileHandle) =>
    new Proxy(file, {
      get(target, key) {
        const value = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        return (...args: readonly unknown[]) => {
          if (key === 'writeNow') writes.push((args[0] as Uint8Array).length)
          return value.apply(target, args)
        }
      },
    })
  const files: Files = { ...systemFiles, create: (name) => counting(systemFiles.create(name)) }
  const segment = new SegmentFile(files)
  segment.begin(path, join(path, '..'), new Uint8Array(HEADER).fill(1))
  let at = HEADER
  for (const [i, size] of sizes.entries()) {
    segment.append(new Uint8Array(size).fill(2 + (i % 200)), at)
    at += size
  }
  segment.close()
  return { file: readFileSync(path), end: at, written: writes.reduce((sum, size) => sum + size, 0), writes }
}

test('what was appended is followed by zeros alone', (t) => {
  const sizes = Array.from({ length: 300 }, (_, i) => (i % 7 === 3 ? 40_000 : 100 + i))
  const { file, end } = segmentOf(t, sizes)
  let at = HEADER
  for (const [i, size] of sizes.entries()) {
    assert.ok(file.subarray(at, at + size).every((byte) => byte === 2 + (i % 200)))
    at += size
  }
  assert.ok(file.subarray(end).every((byte) => byte === 0))
})

test('the file grows seldom as long as groups are small', (t) => {
  const { writes, file, end } = segmentOf(
    t,
    Array.from({ length: 600 }, () => 500),
  )
  // A header, 600 groups, and zeros: at first twice what came, then 256 kB.
  assert.ok(writes.length - 601 < 12, `${writes.length - 601} times`)
  assert.ok(file.length - end <= 256 * 1024)
})

test('small groups among large ones have hardly more written than they are', (t) => {
  const { written, end } = segmentOf(
    t,
    Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 170_000 : 1_800)),
  )
  assert.ok(written < 1.05 * end, `${written} bytes for ${end}`)
})
