import assert from 'node:assert/strict'
import { statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../test/durability/folder.ts'
import { Meta, openDatabase, openEnvironment, type Root } from './environment.ts'
import { takeOwnershipWhenRoom } from './late-ownership.ts'
import { DATA_FILE, DATABASES, LEASE_FILE, META } from './names.ts'
import { identityOf } from './process-identity.ts'

const RETRY_MS = 3_000

/** An environment on a disk that is full as long as it is said to be: what a transaction has put is not committed. */
function openOnFullDisk(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const folder = temporaryFolder(t)
  const root = openEnvironment(folder)
  t.after(() => root.close())
  const meta = new Meta(openDatabase(root, DATABASES.meta))
  const disk = { isFull: true }
  const limited = {
    transactionSync: (change: () => unknown) => {
      let hasPut = false
      const { put } = meta
      meta.put = (...entry) => {
        hasPut = true
        return disk.isFull ? Promise.resolve(true) : put.apply(meta, entry)
      }
      try {
        root.transactionSync(change as never)
      } finally {
        meta.put = put
      }
      if (hasPut && disk.isFull) throw Object.assign(new Error('No space left on device'), { code: 28 })
    },
    transaction: (change: () => unknown) => root.transaction(change as never),
    resetReadTxn: () => root.resetReadTxn(),
    readerCheck: () => root.readerCheck(),
  } as unknown as Root
  /** Enters an owner as another process would. */
  const enter = (change: object) => {
    const { ino: inode } = statSync(join(folder, DATA_FILE))
    const owner = { ...identityOf(process.pid), token: 'other', inode, ...change }
    root.transactionSync(() => meta.put(META.owner, owner))
  }
  return { folder, root, meta, disk, limited, enter }
}

test('an owner that came first is told without saying where the data are', async (t) => {
  const { folder, root, meta, disk, limited, enter } = openOnFullDisk(t)
  const ownership = takeOwnershipWhenRoom(limited, meta, folder, folder)
  assert.equal(ownership.missing, 'the disk is full')
  let taken = 0
  ownership.onTaken(() => taken++)
  enter({})
  t.mock.timers.tick(RETRY_MS)
  assert.equal(ownership.missing, 'another process owns them by now')

  root.transactionSync(() => meta.remove(META.owner))
  disk.isFull = false
  t.mock.timers.tick(RETRY_MS)
  assert.deepEqual([ownership.missing, ownership.isHeld(), taken], [null, true, 1])
  await ownership.release()
})

test('trying in vain does not make a dead owner look alive', async (t) => {
  const { folder, meta, disk, limited, enter } = openOnFullDisk(t)
  // In another container: only its lease tells whether it lives.
  enter({ pidNamespace: 'pid:[1]' })
  const lease = join(folder, LEASE_FILE)
  for (const hasLease of [false, true]) {
    if (hasLease) utimesSync(lease, 1, 1)
    const ownership = takeOwnershipWhenRoom(limited, meta, folder, folder)
    assert.equal(ownership.missing, 'the disk is full')
    t.mock.timers.tick(RETRY_MS)
    assert.equal(ownership.missing, 'the disk is full')
    disk.isFull = false
    t.mock.timers.tick(RETRY_MS)
    assert.equal(ownership.missing, null)
    await ownership.release()
    enter({ pidNamespace: 'pid:[1]' })
    disk.isFull = true
  }
})
