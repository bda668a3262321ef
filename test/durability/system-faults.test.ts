import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { DatabaseKeyStore } from '../../src/storage/system/key-database.ts'
import { systemIn } from '../../src/storage/system/system.fixture.ts'
import { SYSTEM_DATABASE } from '../../src/storage/system/system-database.ts'
import { serve, temporaryFolder as serviceFolder } from '../cli/run.ts'
import { alias, allow } from '../contract/alias-store-promises.ts'
import { newKey } from '../contract/key-store-promises.ts'
import { findServer } from '../servers/required.ts'
import { until, untilDone } from '../until.ts'
import { temporaryFolder } from './folder.ts'
import { fillDisk, mountSmallDisk, noSmallDisk } from './small-disk-mount.ts'

const strace = findServer('strace', 'strace')
const prlimit = findServer('prlimit', 'prlimit')
const SCRIPT = join(import.meta.dirname, 'failing-system.ts')
/** A process that hangs is killed after so long, which fails the test. */
const PATIENCE_MS = 600_000

function run(command: string, args: readonly string[]): { readonly failures: number } {
  const limits = { encoding: 'utf8', timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const
  const { stdout, stderr, status, signal } = spawnSync(command, args, limits)
  assert.deepEqual([status, signal], [0, null], stderr)
  const { failures, problems } = JSON.parse(stdout.trim().split('\n').at(-1)!)
  assert.deepEqual(problems, [])
  return { failures }
}

/**
 * SQLite makes its calls itself, beside the layer of files: the system fails them. A life makes about as many calls as
 * there are between two that fail, so that another one fails in each life.
 */
for (const [call, error, when, lives, isOfFile] of [
  ['pwrite64', 'EIO', '5+97', 60, false],
  ['pwrite64', 'ENOSPC', '7+89', 60, false],
  ['fsync', 'EIO', '3+17', 40, false],
  ['ftruncate', 'EIO', '2+11', 30, false],
  ['pread64', 'EIO', '3+13', 40, true],
  ['openat', 'EMFILE', '3+7', 30, true],
  ['mmap', 'ENOMEM', '1+5', 30, true],
] as const) {
  test(`keys and aliases: ${error} at any ${call} is an error of what it meets, and nothing acknowledged is lost`, {
    skip: strace.skip,
  }, (t) => {
    const folder = join(temporaryFolder(t), 'system')
    const paths = ['', '-wal', '-shm'].flatMap((suffix) => ['-P', join(folder, SYSTEM_DATABASE + suffix)])
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}`]
    const args = ['-f', '-q', '-o', '/dev/null', ...(isOfFile ? paths : []), ...inject]
    const { failures } = run(strace.path!, [...args, process.execPath, SCRIPT, folder, String(lives)])
    t.diagnostic(`${failures} failures in ${lives} lives`)
    assert.ok(failures >= 10, `${failures} failures`)
  })
}

test('keys and aliases: files that may not grow beyond any length fail what needs more, and nothing acknowledged is lost', {
  skip: prlimit.skip,
}, (t) => {
  const folder = join(temporaryFolder(t), 'system')
  const command = `trap '' XFSZ; exec "$0" "$@"`
  const { failures } = run('bash', ['-c', command, process.execPath, SCRIPT, folder, '70', prlimit.path!])
  t.diagnostic(`${failures} failures`)
  assert.ok(failures >= 100, `${failures} failures`)
})

const isFull = (error: unknown) =>
  error instanceof TidemarkError &&
  error.code.endsWith('_UNAVAILABLE') &&
  /: the disk is full/.test(error.message)

test('keys and aliases on a full disk are read, changes fail with the reason, and succeed once there is room', {
  skip: noSmallDisk,
}, async (t) => {
  const disk = mountSmallDisk(t, 1)
  const folder = join(disk, 'system')
  const filler = join(disk, 'filler')
  const one = newKey('one')
  let { keys, aliases, database } = await systemIn(t, folder)
  await keys.add(one.record, one.digest)
  await aliases.put(alias('a'), allow)
  for (let round = 0; round < 5; round++) {
    fillDisk(filler)
    // Pages that are there take some more.
    let added = 0
    const add = async () => {
      const { record, digest } = newKey(`${round}-${added}`)
      await keys.add(record, digest)
      added++
    }
    for (let isRefused = false; !isRefused; ) {
      isRefused = await add().then(
        () => false,
        (error: unknown) => {
          assert.ok(isFull(error), String(error))
          return true
        },
      )
    }
    if (round % 2 === 1) {
      database.close()
      ;({ keys, aliases, database } = await systemIn(t, folder))
    }
    const look = async () => {
      assert.deepEqual(await new DatabaseKeyStore(database).find(one.digest), one.record)
      assert.deepEqual(await aliases.read((reader) => reader.get('a')), alias('a'))
      const listed = await keys.list()
      assert.equal(listed.filter(({ name }) => name.startsWith(`${round}-`)).length, added)
    }
    await look()
    rmSync(filler)
    await untilDone(add, isFull)
    await look()
    assert.deepEqual(database.check(), [])
  }
})

test('damage of the log beside keys and aliases, which a kill left, makes them no others', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, SYSTEM_DATABASE)
  const { aliases, database } = await systemIn(t, folder)
  await aliases.put(alias('a0'), allow)
  // Somebody who reads keeps later changes in the log.
  const reader = new DatabaseSync(path)
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM aliases').get()
  for (let i = 1; i < 30; i++) await aliases.put(alias(`a${i}`, `plant/${i}`), allow)
  const copy = temporaryFolder(t)
  copyFileSync(path, join(copy, SYSTEM_DATABASE))
  const whole = { file: readFileSync(path), log: readFileSync(`${path}-wal`) }
  reader.close()
  database.close()
  assert.ok(whole.log.length > 100_000)
  const lengths = new Set<number>()
  for (let i = 0; i < 300; i++) {
    const at = (i * 104_729) % whole.log.length
    const log = i % 8 === 7 ? whole.log.subarray(0, at) : Buffer.from(whole.log)
    if (i > 0 && i % 8 !== 7) log[at]! ^= 1 << (i % 8)
    const target = join(copy, SYSTEM_DATABASE)
    rmSync(`${target}-shm`, { force: true })
    writeFileSync(target, whole.file)
    writeFileSync(`${target}-wal`, log)
    const opened = await systemIn(t, copy)
    const found = await opened.aliases.read((all) => all.list({ prefix: '', after: null, limit: 100 }))
    // All changes up to some moment.
    const expected = Array.from({ length: found.length }, (_, n) =>
      n === 0 ? alias('a0') : alias(`a${n}`, `plant/${n}`),
    )
    assert.deepEqual(
      found.toSorted((x, y) => Number(x.name.slice(1)) - Number(y.name.slice(1))),
      expected,
    )
    if (i === 0) assert.equal(found.length, 30)
    lengths.add(found.length)
    assert.deepEqual(opened.database.check(), [])
    opened.database.close()
  }
  assert.ok(lengths.size > 10)
})

test('a service says at its start how many keys cannot be read, and makes no first ones anew', async () => {
  const cwd = await serviceFolder()
  const first = await serve([], { cwd })
  const key = first.writeKey
  assert.equal(await first.stop(), 0)
  const database = new DatabaseSync(join(cwd, 'data', 'system', SYSTEM_DATABASE))
  // As a flipped bit leaves them: what says that they were made, and where the one of them is looked for.
  database.exec("UPDATE meta SET name = 'keys-mbde' WHERE name = 'keys-made'")
  // A digest may have a zero, where a text would end.
  const isRead = `instr(entry, CAST('"scope":"read"' AS BLOB)) > 0`
  database.exec(`UPDATE keys SET place = x'0000000000000000' WHERE ${isRead}`)
  database.close()
  const again = await serve([], { cwd })
  await until(() => /1 of 2 API keys cannot be read: make them anew/.test(again.stderr()), 'it is told')
  const { status } = await again.post('/historian/multi', { requests: {} }, key)
  assert.notEqual(status, 401)
  assert.equal(await again.stop(), 0)
})
