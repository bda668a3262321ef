import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { claimOwnership, currentToken } from './claim.ts'
import { AlreadyOwned, type Ownership, Superseded } from './ownership.ts'

const claim = (folder: string) => claimOwnership(systemFiles, folder)

/** Another process that claims the historian and keeps it; ends with the test. */
async function ownElsewhere(t: TestContext, folder: string): Promise<ChildProcess> {
  const script = `
    import { claimOwnership } from ${JSON.stringify(join(import.meta.dirname, 'claim.ts'))}
    import { systemFiles } from ${JSON.stringify(join(import.meta.dirname, '../files/system-files.ts'))}
    const ownership = claimOwnership(systemFiles, ${JSON.stringify(folder)})
    console.log(ownership.token)
    setInterval(() => ownership.isSuperseded, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout!, 'data')
  return child
}

test('each owner has a higher token than all before, and only the newest claims stay', (t) => {
  const folder = temporaryFolder(t)
  assert.equal(currentToken(systemFiles, folder), 0)
  for (let token = 1; token < 20; token++) {
    const ownership = claim(folder)
    assert.equal(ownership.token, token)
    assert.equal(currentToken(systemFiles, folder), token)
    ownership.check()
    ownership.release()
    ownership.release()
  }
  assert.deepEqual(readdirSync(join(folder, 'owner')), ['00000012', '00000013'])
})

test('a historian has one owner in a process', (t) => {
  const folder = temporaryFolder(t)
  const ownership = claim(folder)
  assert.throws(() => claim(folder), AlreadyOwned)
  assert.throws(() => claim(folder), AlreadyOwned)
  ownership.check()
  ownership.release()
  claim(folder).release()
})

test('an owner that stands still stays the owner, and one that is killed is none at once', async (t) => {
  const folder = temporaryFolder(t)
  const owner = await ownElsewhere(t, folder)
  assert.throws(() => claim(folder), AlreadyOwned)
  owner.kill('SIGSTOP')
  assert.throws(() => claim(folder), AlreadyOwned)
  owner.kill('SIGCONT')
  assert.throws(() => claim(folder), AlreadyOwned)
  owner.kill('SIGSTOP')
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  const ownership = claim(folder)
  assert.equal(ownership.token, 2)
  ownership.release()
  // SQLite wrote nothing.
  assert.equal(readFileSync(join(folder, 'owner.lock')).length, 0)
  assert.deepEqual(readdirSync(folder), ['owner', 'owner.lock'])
})

test('an owner finds a successor that its lock did not keep away, however many came after it', (t) => {
  for (let successors = 1; successors < 6; successors++) {
    const folder = temporaryFolder(t)
    const ownership = claim(folder)
    // As another kernel does that shares the files and not the locks.
    for (let i = 0; i < successors; i++) claim(withOtherLock(folder, i)).release()
    assert.throws(() => ownership.check(), Superseded)
    ownership.release()
  }
})

test('an owner that did not find its claim once is none any more, also when the claim is there again', (t) => {
  const folder = temporaryFolder(t)
  const ownership = claim(folder)
  const path = join(folder, 'owner', '00000001')
  // As a network file system may have it for a moment.
  systemFiles.rename(path, `${path}.away`)
  assert.throws(() => ownership.check(), Superseded)
  systemFiles.rename(`${path}.away`, path)
  assert.throws(() => ownership.check(), Superseded)
  ownership.release()
})

/** A folder with the same claims and a lock of its own. */
function withOtherLock(folder: string, number: number): string {
  const beside = join(folder, `beside-${number}`)
  systemFiles.makeFolder(beside)
  symlinkSync(join(folder, 'owner'), join(beside, 'owner'))
  return beside
}

test('a claim that fails in any way leaves nobody the owner, and can be tried again', (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  claimOwnership(files, folder).release()
  const calls = files.calls
  assert.ok(calls > 3)
  for (let failing = 0; failing < 8; failing++) {
    files.calls = 0
    files.plan = (call, _path, number) => (number === failing && call !== 'remove' ? { code: 'EIO' } : null)
    let failed = false
    try {
      claimOwnership(files, folder).release()
    } catch (error) {
      failed = true
      assert.equal((error as { code?: unknown }).code, 'EIO')
    }
    assert.equal(failed, failing < 4, `call ${failing}`)
    files.plan = () => null
    const before = currentToken(files, folder)
    const ownership = claimOwnership(files, folder)
    assert.equal(ownership.token, before + 1)
    ownership.check()
    ownership.release()
  }
})

test('a token that files have is not used again where its claim is missing, and who had the one before is superseded', (t) => {
  const folder = temporaryFolder(t)
  const first = claimOwnership(systemFiles, folder)
  const second = claimOwnership(systemFiles, withOtherLock(folder, 1), 3)
  assert.equal(second.token, 4)
  assert.throws(() => first.check(), Superseded)
  second.check()
  second.release()
  rmSync(join(folder, 'owner'), { recursive: true })
  first.release()
  assert.equal(claimOwnership(systemFiles, folder, 4).token, 5)
})

test('of two kernels that claim at once, where tokens are passed over, one stays the owner', (t) => {
  const folder = temporaryFolder(t)
  const first = claimOwnership(systemFiles, folder)
  first.release()
  const files = new FailingFiles(systemFiles)
  const others: Ownership[] = []
  files.plan = (call, path) => {
    // Just before the last claim of the first, when its others are there.
    if (call === 'create' && path.endsWith('00000005') && others.length === 0) {
      others.push(claimOwnership(systemFiles, withOtherLock(folder, 1)))
    }
    return null
  }
  assert.throws(() => claimOwnership(files, folder, 4), AlreadyOwned)
  assert.equal(others.length, 1)
  others[0]!.check()
  others[0]!.release()
})

test('a file with a number far above all owners keeps a historian from being claimed', (t) => {
  const folder = temporaryFolder(t)
  claim(folder).release()
  assert.throws(() => claimOwnership(systemFiles, folder, 0x7fffffff), /the number 7fffffff, far above/)
  assert.deepEqual(readdirSync(join(folder, 'owner')), ['00000001'])
  claim(folder).release()
})
