import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { Meta, openDatabase, openEnvironment } from './environment.ts'
import { DATABASES } from './names.ts'
import { takeOwnership } from './owner.ts'

test('an owner lets go of the states that killed processes were reading', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const folder = temporaryFolder(t)
  const root = openEnvironment(folder)
  t.after(() => root.close())
  const meta = new Meta(openDatabase(root, DATABASES.meta))
  const ownership = takeOwnership(root, meta, folder, folder)
  const reader = fork(join(import.meta.dirname, '../../test/durability/hold-state.ts'), [folder])
  await once(reader, 'message')
  reader.kill('SIGKILL')
  await once(reader, 'exit')
  const isListed = () => new RegExp(`^\\s*${reader.pid}\\s`, 'm').test(root.readerList())
  assert.ok(isListed(), root.readerList())
  t.mock.timers.tick(3_000)
  assert.ok(!isListed(), root.readerList())
  await ownership.release()
})
