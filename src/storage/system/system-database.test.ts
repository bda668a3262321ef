import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { alias, allow } from '../../../test/contract/alias-store-promises.ts'
import { newKey } from '../../../test/contract/key-store-promises.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { until } from '../../../test/until.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { systemIn } from './system.fixture.ts'
import { openSystemDatabase, SYSTEM_DATABASE } from './system-database.ts'

const hasCode = (code: string) => (error: unknown) => (error as { code?: unknown }).code === code
const open = (folder: string, create = false) => openSystemDatabase(systemFiles, folder, { create })

/** Another process that makes aliases one after the other and says the name of each when it is made. */
function writeElsewhere(t: TestContext, folder: string, name: string): ChildProcess {
  const fixture = join(import.meta.dirname, 'system.fixture.ts')
  const script = `
    import { systemIn } from ${JSON.stringify(fixture)}
    const { aliases } = await systemIn({ after() {} }, ${JSON.stringify(folder)})
    for (let i = 0; ; i++) {
      const name = ${JSON.stringify(name)} + i
      await aliases.put({ name, tag: 'plant/FLOW', description: null, units: null }, () => {})
      process.stdout.write(name + '\\n')
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

test('what several processes were told is there after all were killed, and readers go on meanwhile', async (t) => {
  const folder = temporaryFolder(t)
  const here = await systemIn(t, folder)
  const key = newKey('one')
  await here.keys.add(key.record, key.digest)
  for (let round = 0; round < 3; round++) {
    const told: string[] = []
    const children = ['a', 'b'].map((name) => writeElsewhere(t, folder, `${name}-${round}-`))
    for (const child of children) {
      child.stdout!.on('data', (text) => told.push(...String(text).split('\n').slice(0, -1)))
    }
    while (told.length < 40) {
      assert.deepEqual(await here.keys.find(key.digest), key.record)
      await here.aliases.put(alias(`here-${round}-${told.length}`), allow)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map((child) => once(child, 'close')))
    const all = await here.aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 1e6 }))
    const names = new Set(all.map(({ name }) => name))
    assert.deepEqual(
      told.filter((name) => !names.has(name)),
      [],
    )
    assert.deepEqual(here.database.check(), [])
  }
})

test('of processes that make it at the same time all get the same one', async (t) => {
  for (let round = 0; round < 5; round++) {
    const folder = temporaryFolder(t)
    const stores = await Promise.all(Array.from({ length: 4 }, () => systemIn(t, folder)))
    for (const [i, { aliases }] of stores.entries()) await aliases.put(alias(`a${i}`), allow)
    for (const { aliases } of stores) {
      const all = await aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 9 }))
      assert.equal(all.length, 4)
    }
    const left = readdirSync(folder).filter((name) => name.includes('.new-'))
    assert.deepEqual(left, [])
  }
})

test('one that is missing, empty or something else is refused, and is not made anew', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, SYSTEM_DATABASE)
  await assert.rejects(open(folder), hasCode('DATA_DIR_UNUSABLE'))
  assert.deepEqual(readdirSync(folder), [])
  const other = new DatabaseSync(join(folder, 'other'))
  other.exec('CREATE TABLE any (thing)')
  other.close()
  for (const content of [Buffer.alloc(0), Buffer.alloc(8_192), readFileSync(join(folder, 'other'))]) {
    writeFileSync(path, content)
    for (const create of [false, true]) {
      await assert.rejects(open(folder, create), hasCode('DATA_DIR_UNUSABLE'))
      assert.deepEqual(readFileSync(path), content)
    }
  }
  rmSync(path)
  ;(await open(folder, true)).close()
  const newer = new DatabaseSync(path)
  newer.exec('PRAGMA user_version = 2')
  newer.close()
  await assert.rejects(open(folder), hasCode('DATA_DIR_NEWER'))
})

test('one that cannot be made is told, and can be made later', async (t) => {
  const folder = temporaryFolder(t)
  for (let failing = 0, hasFailed = true; hasFailed; failing++) {
    const files = new FailingFiles(systemFiles, (call, _path, number) =>
      number === failing && call !== 'remove' ? { code: 'ENOSPC' } : null,
    )
    hasFailed = false
    const path = join(folder, `${failing}`)
    try {
      ;(await openSystemDatabase(files, path, { create: true })).close()
    } catch (error) {
      hasFailed = true
      assert.ok(hasCode('DATA_DIR_UNUSABLE')(error))
    }
    const left = hasFailed && failing > 0 ? readdirSync(path) : []
    assert.deepEqual(
      left.filter((name) => name.includes('.new-')),
      [],
    )
    ;(await open(path, true)).close()
    if (!hasFailed) assert.ok(failing >= 3)
  }
})

test('a copy is one state, whoever writes meanwhile', async (t) => {
  const folder = temporaryFolder(t)
  const { aliases, database } = await systemIn(t, folder)
  for (let i = 0; i < 100; i++) await aliases.put(alias(`a${i}`), allow)
  const target = temporaryFolder(t)
  const [copied] = await Promise.all([
    database.copyTo(systemFiles, join(target, SYSTEM_DATABASE)),
    ...Array.from({ length: 20 }, (_, i) => aliases.put(alias(`b${i}`), allow)),
  ])
  assert.equal(copied, undefined)
  const copy = await systemIn(t, target)
  assert.deepEqual(copy.database.check(), [])
  const { aliases: count } = await copy.aliases.check()
  assert.ok(count >= 100 && count <= 120)
})

test('a page that is damaged is found by a check, and fails what needs it', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, SYSTEM_DATABASE)
  const first = await open(folder, true)
  first.close()
  const { aliases, database } = await systemIn(t, folder)
  for (let i = 0; i < 300; i++) await aliases.put({ ...alias(`a${i}`), description: 'x'.repeat(200) }, allow)
  database.close()
  const bytes = readFileSync(path)
  for (let at = 3 * 4_096; at < bytes.length; at += 4_096) bytes.fill(0xa5, at, at + 4_096)
  writeFileSync(path, bytes)
  const damaged = await systemIn(t, folder)
  assert.notDeepEqual(damaged.database.check(), [])
  const list = damaged.aliases.read((reader) => reader.list({ prefix: '', after: null, limit: 1_000 }))
  await assert.rejects(list, hasCode('ALIASES_UNAVAILABLE'))
  // Not of the folder that takes the copy.
  const copy = damaged.database.copyTo(systemFiles, join(temporaryFolder(t), SYSTEM_DATABASE))
  await assert.rejects(copy, { code: 'DATA_DIR_UNUSABLE', message: /cannot be used: the file is damaged$/ })
})

test('one whose first table is damaged is told by a check, and refuses what is asked of it', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, SYSTEM_DATABASE)
  const first = await open(folder, true)
  first.close()
  const bytes = readFileSync(path)
  bytes.fill(0xa5, 4_096)
  writeFileSync(path, bytes)
  const { database, keys, aliases } = await systemIn(t, folder)
  assert.notDeepEqual(database.check(), [])
  await assert.rejects(keys.firstStartKeysMade(), hasCode('KEYS_UNAVAILABLE'))
  await assert.rejects(aliases.check(), hasCode('ALIASES_UNAVAILABLE'))
  const refusal = await database
    .read(() => database.statement('SELECT * FROM meta').all())
    .catch((error) => error)
  assert.match(String(database.refusalOf(refusal)), /cannot be used: the file is damaged/)
})

test('a copy that cannot be written fails with what the system says', async (t) => {
  const { database } = await systemIn(t, temporaryFolder(t))
  const target = join(temporaryFolder(t), 'none', SYSTEM_DATABASE)
  await assert.rejects(database.copyTo(systemFiles, target), hasCode('EACCES'))
})

test('a change that a reader kept in the log is moved into the database as soon as the reader has ended', async (t) => {
  const folder = temporaryFolder(t)
  const { aliases } = await systemIn(t, folder)
  const log = () => readFileSync(join(folder, `${SYSTEM_DATABASE}-wal`)).length
  await aliases.put(alias('a'), allow)
  const reader = new DatabaseSync(join(folder, SYSTEM_DATABASE))
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM aliases').get()
  await aliases.put(alias('b'), allow)
  assert.ok(log() > 0)
  reader.exec('COMMIT')
  await until(() => log() === 0, 'the log is empty')
  reader.close()
})

test('a copy of keys and aliases is in WAL mode as soon as it has an owner, and changed by nobody else', async (t) => {
  const [folder, target] = [temporaryFolder(t), temporaryFolder(t)]
  const path = join(target, SYSTEM_DATABASE)
  const { aliases, database } = await systemIn(t, folder)
  await aliases.put(alias('a'), allow)
  await database.copyTo(systemFiles, path)
  const content = readFileSync(path)
  const mode = () => {
    const look = new DatabaseSync(path, { readOnly: true })
    const { journal_mode: found } = look.prepare('PRAGMA journal_mode').get()!
    look.close()
    return found
  }
  ;(await open(target)).close()
  assert.deepEqual(readFileSync(path), content)
  const owned = await openSystemDatabase(systemFiles, target, { create: true, owner: true })
  assert.equal(mode(), 'wal')
  owned.close()
  const { aliases: count } = await (await systemIn(t, target)).aliases.check()
  assert.equal(count, 1)
})
