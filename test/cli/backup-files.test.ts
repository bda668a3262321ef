import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFileStore } from '../../src/storage/engine/open-file-store.ts'
import { mountSmallDisk, noSmallDisk } from '../durability/small-disk-mount.ts'
import { temporaryFolder, tidemark } from './run.ts'

/** Imports points of a tag, and has them in a part, as is done by and by. */
async function importTag(cwd: string, tag: string): Promise<void> {
  const rows = Array.from({ length: 5_000 }, (_, i) => `${1.7e12 + i * 1000},${Math.sqrt(i)}`)
  writeFileSync(join(cwd, 'points.csv'), `timestamp,${tag}\n${rows.join('\n')}\n`)
  const { code, stderr } = await tidemark(['import', 'points.csv', '--historian', 'local'], { cwd })
  assert.equal(code, 0, stderr)
  const folder = join(cwd, 'data', 'historians', 'local')
  const store = await openFileStore(folder, { historian: 'local', owner: true })
  await store.flush()
  await store.close()
}

const partsOf = (folder: string) => join(folder, 'historians', 'local', 'parts')
const partNames = (folder: string) => readdirSync(partsOf(folder)).filter((name) => name.endsWith('.part'))
const inode = (folder: string, name: string) => statSync(join(partsOf(folder), name)).ino

/** Turns a bit of the first part of a data directory. */
function damagePart(folder: string): void {
  const path = join(partsOf(folder), partNames(folder)[0]!)
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(path, bytes)
}

async function backup(cwd: string, args: readonly string[], code = 0) {
  const outcome = await tidemark(['backup', ...args], { cwd })
  assert.equal(outcome.code, code, outcome.stdout + outcome.stderr)
  return outcome
}

/** Files and bytes that a line of the output gives. */
function counted(stdout: string, way: string): { files: number; bytes: number } {
  const match = new RegExp(`^${way} ([\\d,]+) files?, ([\\d,]+) bytes`, 'm').exec(stdout)
  assert.ok(match !== null, stdout)
  const [files, bytes] = match.slice(1).map((text) => Number(text!.replaceAll(',', '')))
  return { files: files!, bytes: bytes! }
}

async function exported(cwd: string, data: string): Promise<string> {
  const { code, stdout, stderr } = await tidemark(['export', '--data-dir', data], { cwd })
  assert.equal(code, 0, stderr)
  return stdout
}

test('an incremental backup links what did not change from the earlier one, and is whole without it', async () => {
  const cwd = await temporaryFolder()
  await importTag(cwd, 'a')
  const monday = await backup(cwd, ['monday'])
  const first = partNames(join(cwd, 'monday'))
  assert.ok(first.length > 0)
  assert.match(monday.stdout, /^checked: good$/m)
  await importTag(cwd, 'b')
  const tuesday = await backup(cwd, ['tuesday', '--since', 'monday'])
  const reused = partNames(join(cwd, 'tuesday')).filter((name) => first.includes(name))
  assert.ok(reused.length > 0)
  for (const name of reused) {
    assert.equal(inode(join(cwd, 'tuesday'), name), inode(join(cwd, 'monday'), name))
    assert.notEqual(inode(join(cwd, 'tuesday'), name), inode(join(cwd, 'data'), name))
  }
  const bytes = reused.reduce((sum, name) => sum + statSync(join(partsOf(join(cwd, 'data')), name)).size, 0)
  assert.deepEqual(counted(tuesday.stdout, 'reused'), { files: reused.length, bytes })
  assert.match(tuesday.stdout, /^reused .* of \S+monday$/m)
  const expected = await exported(cwd, 'data')
  rmSync(join(cwd, 'monday'), { recursive: true })
  rmSync(join(cwd, 'data'), { recursive: true })
  assert.equal((await tidemark(['check', '--data-dir', 'tuesday'], { cwd })).code, 0)
  assert.equal(await exported(cwd, 'tuesday'), expected)
})

test('a damaged file of the earlier backup is told and copied again', async () => {
  const cwd = await temporaryFolder()
  await importTag(cwd, 'a')
  await backup(cwd, ['monday'])
  damagePart(join(cwd, 'monday'))
  const again = await backup(cwd, ['tuesday', '--since', 'monday'])
  assert.match(
    again.stderr,
    /^1 file, [\d,]+ bytes differ from those of \S+monday and were copied again: they are/,
  )
  assert.equal(counted(again.stdout, 'reused').files, partNames(join(cwd, 'monday')).length - 1)
  assert.equal((await tidemark(['check', '--data-dir', 'tuesday'], { cwd })).code, 0)
})

test('a file that is damaged since the earlier backup is not said to be damaged there', async () => {
  const cwd = await temporaryFolder()
  await importTag(cwd, 'a')
  await backup(cwd, ['monday'])
  damagePart(join(cwd, 'data'))
  const { stderr } = await backup(cwd, ['tuesday', '--since', 'monday'], 4)
  assert.doesNotMatch(stderr, /monday is damaged/)
  assert.match(stderr, /they are damaged there, or here where the check says so$/m)
  assert.match(stderr, /^local: part /m)
  assert.equal((await tidemark(['check', '--data-dir', 'monday'], { cwd })).code, 0)
})

test('a linked backup shares its files, says so, and does not count as the last backup', async () => {
  const cwd = await temporaryFolder()
  await importTag(cwd, 'a')
  const linked = await backup(cwd, ['linked', '--link'])
  const names = partNames(join(cwd, 'linked'))
  assert.ok(names.length > 0)
  for (const name of names) assert.equal(inode(join(cwd, 'linked'), name), inode(join(cwd, 'data'), name))
  assert.equal(counted(linked.stdout, 'linked').files, names.length)
  assert.match(linked.stderr, /What is linked is no second copy/)
  assert.ok(!existsSync(join(cwd, 'data', 'last-backup.json')))
  // Nothing is taken from it for a second copy.
  const copied = await backup(cwd, ['copied', '--since', 'linked'])
  assert.equal(counted(copied.stdout, 'reused').files, 0)
  for (const name of names) assert.notEqual(inode(join(cwd, 'copied'), name), inode(join(cwd, 'data'), name))
  assert.ok(existsSync(join(cwd, 'data', 'last-backup.json')))
  // What the service goes on with leaves the linked one as it was.
  const before = await exported(cwd, 'linked')
  await importTag(cwd, 'b')
  await importTag(cwd, 'a')
  assert.equal(await exported(cwd, 'linked'), before)
})

test('what is no earlier backup is refused, and nothing is left', async () => {
  const cwd = await temporaryFolder()
  await importTag(cwd, 'a')
  mkdirSync(join(cwd, 'half', 'unfinished-backup'), { recursive: true })
  for (const [since, sentence] of [
    ['none', /none cannot be used: it holds no finished backup/],
    ['half', /half cannot be used: it holds no finished backup/],
    ['data', /data cannot be used: it is the data directory, not a backup of it/],
  ] as const) {
    const { stderr } = await backup(cwd, ['copy', '--since', since], 1)
    assert.match(stderr, sentence)
    assert.ok(!existsSync(join(cwd, 'copy')))
  }
  await backup(cwd, ['copy', '--since', 'data', '--link'], 2)
  // A backup of another historian has nothing to give.
  rmSync(join(cwd, 'copy'), { recursive: true, force: true })
  const other = await temporaryFolder()
  await importTag(other, 'a')
  const { stdout } = await backup(cwd, ['copy', '--since', join(other, 'data')])
  assert.equal(counted(stdout, 'reused').files, 0)
})

test('a copy of damaged data says so, and ends with 4', async () => {
  const cwd = await temporaryFolder()
  await importTag(cwd, 'a')
  damagePart(join(cwd, 'data'))
  const { stderr } = await backup(cwd, ['copy'], 4)
  assert.match(stderr, /^local: .*part /m)
  assert.match(stderr, /holds stored data that are damaged/)
  // It is not the last backup.
  assert.ok(!existsSync(join(cwd, 'data', 'last-backup.json')))
  await backup(cwd, ['unread', '--unchecked'])
})

test('files cannot be linked to another disk, and are copied there from an earlier backup that is elsewhere', {
  skip: noSmallDisk,
}, async (t) => {
  const cwd = await temporaryFolder()
  await importTag(cwd, 'a')
  const disk = mountSmallDisk(t, 8)
  const refused = await backup(cwd, [join(disk, 'linked'), '--link'], 1)
  assert.match(refused.stderr, /files of the data directory cannot be linked there, only copied/)
  assert.deepEqual(readdirSync(join(disk, 'linked')), [])
  await backup(cwd, ['monday'])
  const { stdout } = await backup(cwd, [join(disk, 'tuesday'), '--since', 'monday'])
  assert.equal(counted(stdout, 'reused').files, 0)
  assert.equal((await tidemark(['check', '--data-dir', join(disk, 'tuesday')], { cwd })).code, 0)
})
