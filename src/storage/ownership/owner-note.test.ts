import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { anyValue, withOther } from '../../../test/property/other-json.ts'
import { systemFiles } from '../files/system-files.ts'
import { noteOwner, readOwnerNote } from './owner-note.ts'

test('whatever the note of an owner says, it names a process and a host, or nobody', (t) => {
  const path = join(temporaryFolder(t), 'owner')
  assert.equal(readOwnerNote(systemFiles, path), null)
  noteOwner(systemFiles, path)
  const whole = { pid: process.pid, host: hostname() }
  assert.deepEqual(readOwnerNote(systemFiles, path), whole)
  const text = JSON.stringify(whole)
  const changed = fc.tuple(fc.nat(), anyValue).map(([at, other]) => Buffer.from(withOther(text, at, other)))
  const cut = fc.nat({ max: text.length }).map((length) => Buffer.from(text.slice(0, length)))
  const any = fc.oneof(
    changed,
    cut,
    fc.uint8Array(),
    fc.json().map((json) => Buffer.from(json)),
  )
  fc.assert(
    fc.property(any, (bytes) => {
      writeFileSync(path, bytes)
      const note = readOwnerNote(systemFiles, path)
      if (note === null) return
      assert.deepEqual([typeof note.pid, typeof note.host], ['number', 'string'])
    }),
    { numRuns: 1_000 },
  )
  // It is written anew over whatever stands there.
  noteOwner(systemFiles, path)
  assert.deepEqual(readOwnerNote(systemFiles, path), whole)
})
