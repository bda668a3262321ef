import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { findServer } from '../servers/required.ts'
import { PROJECT, temporaryFolder, tidemark } from './run.ts'

const BIN = join(PROJECT, 'bin', 'tidemark.js')
const strace = findServer('strace', 'strace')

/** A data directory with a historian that is some hundred kilobytes large. */
async function makeData(cwd: string): Promise<void> {
  const rows = Array.from({ length: 20_000 }, (_, i) => `${1.7e12 + i * 1000},${Math.sqrt(i)}`)
  writeFileSync(join(cwd, 'a.csv'), `timestamp,a\n${rows.join('\n')}\n`)
  const { code, stderr } = await tidemark(['import', 'a.csv', '--historian', 'local'], { cwd })
  assert.equal(code, 0, stderr)
}

/** Copies into `copy`, and kills the process as soon as something stands there. */
async function killBackup(cwd: string): Promise<void> {
  const child = spawn(process.execPath, [BIN, 'backup', 'copy'], { cwd, stdio: 'ignore' })
  const exited = once(child, 'exit')
  while (!existsSync(join(cwd, 'copy', 'unfinished-backup', 'system')) && child.exitCode === null)
    await setImmediate()
  child.kill('SIGKILL')
  await exited
}

test('a backup is on disk, files and folders, before it is said to be done', {
  skip: strace.skip,
}, async () => {
  const cwd = realpathSync(await temporaryFolder())
  await makeData(cwd)
  const calls =
    'write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,rmdir,unlinkat'
  const log = join(cwd, 'calls')
  const args = [
    '-f',
    '-y',
    '-s',
    '300',
    '-e',
    `trace=${calls}`,
    '-o',
    log,
    process.execPath,
    BIN,
    'backup',
    'copy',
  ]
  const run = spawnSync(strace.path!, args, { cwd, encoding: 'utf8' })
  assert.equal(run.status, 0, run.stderr)
  const lines = readFileSync(log, 'utf8').split('\n')
  const done = lines.findIndex((line) => /write\(1<.*"Copied /.test(line))
  assert.ok(done > 0)
  const copy = join(cwd, 'copy')
  /** Of the last line of what was done to the place; a call that another thread interrupts has two. */
  const last = (pattern: RegExp) => lines.slice(0, done).findLastIndex((line) => pattern.test(line))
  const synced = (path: string) =>
    last(new RegExp(`f(data)?sync\\(\\d+<${path}>\\) += 0|f(data)?sync\\(\\d+<${path}>`))
  const finished = last(new RegExp(`rename\\w*\\(.*"${copy}/system"`))
  assert.ok(finished > 0, lines.filter((line) => line.includes('rename')).join('\n'))
  const copied = lines.join('\n').matchAll(/\d+<([^>]*unfinished-backup\/[^>]+\.(?:db|part|tags|wal))>/g)
  const files = new Set(Array.from(copied, ([, path]) => path!))
  assert.ok(
    [...files].some((path) => path.endsWith('.wal')) && [...files].some((path) => path.endsWith('.db')),
  )
  for (const path of files) {
    const written = last(new RegExp(`write\\w*\\(\\d+<${path}>`))
    assert.ok(written > 0 && synced(path) > written && synced(path) < finished, `${path} is synced`)
  }
  for (const folder of ['', '/system', '/historians', '/historians/local', '/historians/local/wal']) {
    assert.ok(synced(`${copy}/unfinished-backup${folder}`) > 0, `the folder ${folder} is synced`)
  }
  assert.ok(synced(copy) > finished)
  // The folder itself is new.
  assert.ok(synced(cwd) > last(new RegExp(`mkdir\\w*\\(.*"${copy}"`)))
})

test('a backup that was killed is none, and is told from one', {
  skip: process.platform === 'win32',
}, async () => {
  const cwd = await temporaryFolder()
  await makeData(cwd)
  // It can be faster than the kill.
  for (let round = 0; round < 20; round++) {
    await rm(join(cwd, 'copy'), { recursive: true, force: true })
    await killBackup(cwd)
    // Some of it may be in its place already: the folder `system` comes last.
    if (!existsSync(join(cwd, 'copy', 'system'))) break
  }
  const left = readdirSync(join(cwd, 'copy'))
  assert.ok(left.includes('unfinished-backup') && !left.includes('system'), left.join())
  const checked = await tidemark(['check', '--data-dir', 'copy'], { cwd })
  assert.equal(checked.code, 1)
  assert.match(checked.stderr, /copy cannot be used: it is a backup that was not finished/)
  const served = await tidemark(['serve', '--port', '0', '--data-dir', 'copy'], { cwd })
  assert.equal(served.code, 1)
  assert.match(served.stderr, /it is a backup that was not finished/)
  const again = await tidemark(['backup', 'copy'], { cwd })
  assert.equal(again.code, 1)
  assert.match(again.stderr, /a backup into it was not finished, or is under way/)
  assert.deepEqual(readdirSync(join(cwd, 'copy')), left)
})

test('a backup that finds no room leaves nothing, and is made when there is some', {
  skip: process.platform === 'win32',
}, async () => {
  const cwd = await temporaryFolder()
  await makeData(cwd)
  mkdirSync(join(cwd, 'copy'))
  // The size of files is limited instead.
  const command = `trap '' XFSZ; ulimit -f 120; exec "$0" "$1" backup copy`
  const failed = spawnSync('bash', ['-c', command, process.execPath, BIN], { cwd, encoding: 'utf8' })
  assert.equal(failed.status, 1, failed.stderr)
  assert.match(failed.stderr, /cannot be used: (the file may not grow any further|the disk is full)/)
  assert.deepEqual(readdirSync(join(cwd, 'copy')), [])
  const made = await tidemark(['backup', 'copy'], { cwd })
  assert.equal(made.code, 0, made.stderr)
  assert.deepEqual(readdirSync(join(cwd, 'copy')).sort(), ['historians', 'system'])
  assert.equal((await tidemark(['check', '--data-dir', 'copy'], { cwd })).code, 0)
})
