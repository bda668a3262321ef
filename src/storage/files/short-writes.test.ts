import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { readFile } from './files.ts'

/** Bytes that the system takes at a time, and up to where files may grow. */
const STEP = 1_000
let mostBytes = Number.POSITIVE_INFINITY

/** As the system does: a write that begins below a limit is cut short there, and the next one fails. */
function taken(length: number, at: number): number {
  if (at >= mostBytes) throw Object.assign(new Error('EFBIG: file too large, write'), { code: 'EFBIG' })
  return Math.min(length, STEP, mostBytes - at)
}

const { writeSync } = fs
const write = (descriptor: number, bytes: Uint8Array, from: number, length: number, at: number) =>
  writeSync(descriptor, bytes, from, taken(length, at), at)
const writeAside = async (...[descriptor, bytes, from, length, at]: Parameters<typeof write>) => ({
  bytesWritten: write(descriptor, bytes, from, length, at),
})
fs.writeSync = write as typeof fs.writeSync
fs.write = Object.assign(() => {}, { [promisify.custom]: writeAside }) as unknown as typeof fs.write
syncBuiltinESMExports()
const { systemFiles } = await import('./system-files.ts')

const bytes = Uint8Array.from({ length: 3_500 }, (_, i) => i * 7)

for (const how of ['writeNow', 'write'] as const) {
  test(`what the system writes less of than it was given is written on: ${how}`, async (t) => {
    const path = join(temporaryFolder(t), 'file')
    const file = systemFiles.create(path)
    t.after(() => file.close())
    mostBytes = Number.POSITIVE_INFINITY
    await file[how](bytes.subarray(0, 10), 0)
    await file[how](bytes, 10)
    assert.deepEqual([...readFile(systemFiles, path)], [...bytes.subarray(0, 10), ...bytes])

    mostBytes = 2_500
    const other = systemFiles.create(`${path}-limited`)
    t.after(() => other.close())
    await assert.rejects(async () => other[how](bytes, 0), { code: 'EFBIG' })
    assert.equal(other.size(), 2_500)
  })
}
