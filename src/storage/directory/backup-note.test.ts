import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { noteBackup, readBackupNote } from './backup-note.ts'

const FIRST = new Date('2026-01-01T00:00:00Z')
const SECOND = new Date('2026-01-02T00:00:00Z')

test('the moment of the last backup is known until the next one', (t) => {
  const folder = temporaryFolder(t)
  assert.equal(readBackupNote(systemFiles, folder), null)
  noteBackup(systemFiles, folder, FIRST)
  assert.equal(readBackupNote(systemFiles, folder), FIRST.getTime() / 1_000)
  noteBackup(systemFiles, folder, SECOND)
  assert.equal(readBackupNote(systemFiles, folder), SECOND.getTime() / 1_000)
  assert.deepEqual(systemFiles.list(folder), ['last-backup.json'])
})

test('whatever fails while it is noted, the backup before stays known, or the new one is', (t) => {
  for (let at = 0; ; at++) {
    const folder = temporaryFolder(t)
    noteBackup(systemFiles, folder, FIRST)
    const files = new FailingFiles(systemFiles, (_call, _path, number) =>
      number === at ? { code: 'ENOSPC', short: true } : null,
    )
    try {
      noteBackup(files, folder, SECOND)
    } catch {
      const known = readBackupNote(systemFiles, folder)
      assert.ok(known === FIRST.getTime() / 1_000 || known === SECOND.getTime() / 1_000)
      noteBackup(systemFiles, folder, SECOND)
      assert.equal(readBackupNote(systemFiles, folder), SECOND.getTime() / 1_000)
      continue
    }
    assert.ok(at > 4, 'all calls failed once')
    return
  }
})

test('a note that cannot be read is none', (t) => {
  const folder = temporaryFolder(t)
  for (const text of ['', '{', '{"at":1}x', '{"at":"soon"}', 'null']) {
    systemFiles.remove(join(folder, 'last-backup.json'))
    const file = systemFiles.create(join(folder, 'last-backup.json'))
    file.writeNow(Buffer.from(text), 0)
    file.close()
    assert.equal(readBackupNote(systemFiles, folder), null, text)
  }
})
