import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { UNFINISHED_FOLDER } from '../directory/layout.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { intoNewDirectory } from './new-directory.ts'

const { signal } = new AbortController()

test('of two backups that come to one folder at the same moment the second one says that another is under way', async (t) => {
  const target = join(temporaryFolder(t), 'target')
  // The first one makes its folder behind the look of the second.
  const late: Files = {
    ...systemFiles,
    makeNewFolder(path) {
      if (path.endsWith(UNFINISHED_FOLDER)) mkdirSync(path)
      systemFiles.makeNewFolder(path)
    },
  }
  await assert.rejects(
    intoNewDirectory(late, target, signal, async () => {}),
    { code: 'DATA_DIR_UNUSABLE', message: /a backup into it was not finished, or is under way/ },
  )
  assert.deepEqual(readdirSync(target), [UNFINISHED_FOLDER])
})
