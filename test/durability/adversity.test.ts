import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDataDirectory } from '../../src/storage/directory/data-directory.ts'
import { temporaryFolder } from './folder.ts'

/** A user to whom rights are denied, who root is not. */
const SOMEBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
/** A process that hangs is killed after so long, which fails the test. */
const PATIENCE_MS = 300_000

/** What a process of that user says when it wants to own a data directory. */
async function ownAsSomebody(path: string): Promise<string> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'own-directory.ts'), [path], {
    ...SOMEBODY,
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  })
  const answer = await new Promise<string>((resolve) => {
    child.once('message', (message) => resolve(String(message)))
    child.once('exit', (code) => resolve(`exit ${code}`))
  })
  child.kill('SIGKILL')
  return answer
}

test('a directory that may not be written to is refused and left as it is', {
  skip: process.platform === 'win32',
}, async (t) => {
  const base = temporaryFolder(t)
  chmodSync(base, 0o755)
  const path = join(base, 'data')
  await (await openDataDirectory(path, { owner: true })).close()
  const system = join(path, 'system')
  const before = readdirSync(system)
  chmodSync(path, 0o755)
  chmodSync(system, 0o555)
  for (const file of before) chmodSync(join(system, file), 0o444)
  assert.equal(await ownAsSomebody(path), 'DATA_DIR_UNUSABLE')
  // Nor one that must be made first, where that is not allowed.
  chmodSync(base, 0o555)
  assert.equal(await ownAsSomebody(join(base, 'other')), 'DATA_DIR_UNUSABLE')
  chmodSync(base, 0o755)
  chmodSync(system, 0o755)
  for (const file of before) chmodSync(join(system, file), 0o644)
  assert.deepEqual(readdirSync(system), before)
  await (await openDataDirectory(path, { owner: true })).close()
})
