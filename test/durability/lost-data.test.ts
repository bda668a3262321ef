import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { serve, temporaryFolder, tidemark } from '../cli/run.ts'
import { until } from '../until.ts'

const START_MS = Date.UTC(2026, 0, 1)
const DATA = 'data'

/** A data directory with keys and a historian that has points, made by a service that has ended. */
async function makeData(): Promise<string> {
  const cwd = await temporaryFolder()
  const service = await serve([], { cwd })
  const body = { createTags: true, points: { 'local/A': [{ timestamp: START_MS, value: 1 }] } }
  assert.equal((await service.post('/historian/write/points', body, service.writeKey)).status, 200)
  assert.equal(await service.stop(), 0)
  return cwd
}

/** Serve, check and backup must say what is lost, end with an error, and leave everything as it is. */
async function assertRefused(cwd: string, file: string, sentence: RegExp): Promise<void> {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  for (const args of [['check'], ['backup', 'copy'], ['serve', '--port', '0']]) {
    const { code, stdout, stderr } = await tidemark(args, { cwd })
    // 4 is what check gives for damage of one historian among others.
    assert.ok(code === 1 || (code === 4 && args[0] === 'check'), `${args[0]}: ${stdout}${stderr}`)
    assert.match(stdout + stderr, sentence, args[0])
    assert.equal(statSync(file, { throwIfNoEntry: false })?.size, size, args[0])
  }
  assert.ok(!existsSync(join(cwd, 'copy', 'system')))
}

test('a file of keys and aliases that has 0 bytes, or is missing, is not taken for a new one', async () => {
  const cwd = await makeData()
  const file = join(cwd, DATA, 'system', 'system.db')
  truncateSync(file)
  await assertRefused(cwd, file, /the file with its keys and aliases is empty/)
  rmSync(file)
  await assertRefused(cwd, file, /its keys and aliases, system\/system.db, are missing: restore a backup/)
})

test('keys and aliases that are missing beside historians are not made anew', async () => {
  const cwd = await makeData()
  const system = join(cwd, DATA, 'system')
  rmSync(system, { recursive: true })
  await assertRefused(
    cwd,
    join(system, 'system.db'),
    /its keys and aliases, .* are missing: restore a backup/,
  )
  assert.ok(!existsSync(system))
})

test('a historian whose manifest is missing, or has 0 bytes, is not taken for a new one', async () => {
  const cwd = await makeData()
  const folder = join(cwd, DATA, 'historians', 'local', 'manifest')
  const [name] = readdirSync(folder)
  const file = join(folder, name!)
  const content = readFileSync(file)
  truncateSync(file)
  await assertRefused(cwd, file, /manifest/)
  rmSync(file)
  await assertRefused(cwd, file, /it holds points but no manifest|there is no historian/)
  writeFileSync(file, content)
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
})

test('a historian whose folder is missing or empty is not taken for a new one, unless that is said', async () => {
  const cwd = await makeData()
  const folder = join(cwd, DATA, 'historians', 'local')
  for (const lose of [() => rmSync(folder, { recursive: true }), () => mkdirSync(folder)]) {
    lose()
    const { code, stderr } = await tidemark(['serve', '--port', '0'], { cwd })
    assert.equal(code, 1)
    assert.match(stderr, /its historian was there before and is not now: mount its disk, or restore a backup/)
  }
  assert.deepEqual(readdirSync(folder), [])
  writeFileSync(join(folder, 'begin-anew'), '')
  const service = await serve([], { cwd })
  assert.equal(await service.stop(), 0)
  assert.ok(!readdirSync(folder).includes('begin-anew'))
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
})

test('a historian whose folder is missing or empty is missed by check and backup without the configuration', async () => {
  const cwd = await temporaryFolder()
  const own = join(cwd, 'own-folder')
  const config = join(cwd, 'plant.yaml')
  writeFileSync(config, `historians: {local: {type: embedded}, far: {type: embedded, path: ${own}}}\n`)
  const service = await serve(['--config', config], { cwd })
  const point = [{ timestamp: START_MS, value: 1 }]
  const body = { createTags: true, points: { 'local/A': point, 'far/A': point } }
  assert.equal((await service.post('/historian/write/points', body, service.writeKey)).status, 200)
  assert.equal(await service.stop(), 0)
  const check = (data = DATA) => tidemark(['check', '--data-dir', data], { cwd })
  assert.match((await check()).stdout, /^far +1 +1 +good\nlocal +1 +1 +good$|^local .*good\nfar .*good$/m)
  assert.equal((await tidemark(['backup', 'whole'], { cwd })).code, 0)

  const inside = join(cwd, DATA, 'historians', 'local')
  for (const [folder, name] of [
    [own, 'far'],
    [inside, 'local'],
  ] as const) {
    renameSync(folder, `${folder}.away`)
    for (const isEmpty of [false, true]) {
      if (isEmpty) mkdirSync(folder)
      const checked = await check()
      assert.equal(checked.code, 4, checked.stderr)
      assert.match(checked.stdout, new RegExp(`^${name} .*1 damaged$`, 'm'))
      const sentence = /its historian was there before and is not now: mount its disk, or restore a backup/
      assert.match(checked.stderr, sentence)
      const backup = await tidemark(['backup', 'copy'], { cwd })
      assert.equal(backup.code, 1)
      assert.match(backup.stderr, sentence)
      assert.deepEqual(readdirSync(join(cwd, 'copy')), [])
    }
    // Given up on purpose.
    writeFileSync(join(folder, 'begin-anew'), '')
    assert.equal((await check()).code, 0)
    rmSync(folder, { recursive: true })
    renameSync(`${folder}.away`, folder)
  }
  // The copies in a backup are its own: nothing outside of it is looked at.
  renameSync(own, `${own}.away`)
  assert.equal((await check('whole')).code, 0)
  rmSync(join(cwd, 'whole', 'elsewhere'), { recursive: true })
  assert.equal((await check('whole')).code, 4)
})

test('another historian in the folder of one is not taken for it, unless that is said', async () => {
  const [cwd, other] = [await makeData(), await makeData()]
  const folderOf = (of: string) => join(of, DATA, 'historians', 'local')
  const folder = folderOf(cwd)
  const away = `${folder}.away`
  renameSync(folder, away)
  cpSync(folderOf(other), folder, { recursive: true })
  const list = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = list()
  const refused =
    /it holds another historian than before, with the id [0-9a-f]{32} and not [0-9a-f]{32}: mount the/
  await assertRefused(cwd, join(folder, 'owner.lock'), refused)
  // No owner of it on another machine is superseded.
  assert.deepEqual(list(), files)
  const repair = await tidemark(['check', '--repair'], { cwd })
  assert.equal(repair.code, 4)
  assert.match(repair.stdout + repair.stderr, refused)

  writeFileSync(join(folder, 'historian-is-right'), '')
  for (let start = 0; start < 2; start++) {
    const service = await serve([], { cwd })
    assert.equal(await service.stop(), 0)
    assert.ok(!readdirSync(folder).includes('historian-is-right'))
  }
  // Now that one is the other one.
  rmSync(folder, { recursive: true })
  renameSync(away, folder)
  await assertRefused(cwd, join(folder, 'owner.lock'), refused)
})

test('an earlier state of a historian in its folder is not taken for it, unless that is said', async () => {
  const cwd = await makeData()
  const folder = join(cwd, DATA, 'historians', 'local')
  const serveOnce = async () => assert.equal(await (await serve([], { cwd })).stop(), 0)
  // As a snapshot of its disk has it; the data directory is on another one.
  cpSync(folder, join(cwd, 'snapshot'), { recursive: true })
  await serveOnce()
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
  rmSync(folder, { recursive: true })
  cpSync(join(cwd, 'snapshot'), folder, { recursive: true })
  const refused =
    /it holds an earlier state of its historian, from before it was served last: what came since is miss/
  await assertRefused(cwd, join(folder, 'owner.lock'), refused)
  writeFileSync(join(folder, 'historian-is-right'), '')
  for (let start = 0; start < 2; start++) await serveOnce()
  assert.ok(!readdirSync(folder).includes('historian-is-right'))
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
})

test('an earlier state from within the last run of the service is not taken for its end', async () => {
  const cwd = await temporaryFolder()
  const folder = join(cwd, DATA, 'historians', 'local')
  const write = async (service: Awaited<ReturnType<typeof serve>>, tag: string) => {
    const body = { createTags: true, points: { [`local/${tag}`]: [{ timestamp: START_MS, value: 1 }] } }
    assert.equal((await service.post('/historian/write/points', body, service.writeKey)).status, 200)
  }
  const service = await serve([], { cwd })
  await write(service, 'A')
  // As a snapshot of its disk has it.
  cpSync(folder, join(cwd, 'snapshot'), { recursive: true })
  await write(service, 'B')
  assert.equal(await service.stop(), 0)
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
  renameSync(folder, join(cwd, 'whole'))
  cpSync(join(cwd, 'snapshot'), folder, { recursive: true })
  const refused =
    /it holds an earlier state of its historian, from before its service ended: what came since is miss/
  await assertRefused(cwd, join(folder, 'owner.lock'), refused)
  // The right one is taken as before.
  renameSync(folder, join(cwd, 'refused'))
  cpSync(join(cwd, 'whole'), folder, { recursive: true })
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
  rmSync(folder, { recursive: true })
  renameSync(join(cwd, 'refused'), folder)
  writeFileSync(join(folder, 'historian-is-right'), '')
  for (let start = 0; start < 2; start++) assert.equal(await (await serve([], { cwd })).stop(), 0)
  assert.ok(!readdirSync(folder).includes('historian-is-right'))
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
})

test('an earlier state from within a run that was killed is not taken for what it left', async () => {
  const cwd = await temporaryFolder()
  const folder = join(cwd, DATA, 'historians', 'local')
  const write = async (service: Awaited<ReturnType<typeof serve>>, tag: string, count: number) => {
    const points = Array.from({ length: count }, (_, i) => ({ timestamp: START_MS + i, value: i }))
    const body = { createTags: true, points: { [`local/${tag}`]: points } }
    assert.equal((await service.post('/historian/write/points', body, service.writeKey)).status, 200)
  }
  const service = await serve([], { cwd })
  await write(service, 'A', 1)
  cpSync(folder, join(cwd, 'snapshot'), { recursive: true })
  // So many are flushed as soon as nothing more comes.
  await write(service, 'B', 30_000)
  const database = new DatabaseSync(join(cwd, DATA, 'system', 'system.db'), { readOnly: true })
  const noted = database.prepare("SELECT value FROM meta WHERE name = 'historian:local'")
  await until(() => JSON.parse(String(noted.get()!.value)).lastSequence !== null, 'it is noted')
  database.close()
  await service.kill()
  cpSync(folder, join(cwd, 'whole'), { recursive: true })
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
  rmSync(folder, { recursive: true })
  cpSync(join(cwd, 'snapshot'), folder, { recursive: true })
  const claims = readdirSync(join(folder, 'owner'))
  await assertRefused(cwd, join(folder, 'owner.lock'), /it holds an earlier state of its historian/)
  assert.deepEqual(readdirSync(join(folder, 'owner')), claims)
  rmSync(folder, { recursive: true })
  cpSync(join(cwd, 'whole'), folder, { recursive: true })
  assert.equal(await (await serve([], { cwd })).stop(), 0)
})

test('a backup is taken for its historian, where it was copied to and restored to, and after a repair', async () => {
  const cwd = await makeData()
  const serveOnce = async (data: string) => {
    const service = await serve(['--data-dir', data], { cwd })
    assert.equal(await service.stop(), 0)
  }
  assert.equal((await tidemark(['backup', 'copy'], { cwd })).code, 0)
  assert.equal((await tidemark(['restore', 'copy', 'restored'], { cwd })).code, 0)
  cpSync(join(cwd, 'copy'), join(cwd, 'by-hand'), { recursive: true })
  for (const data of ['restored', 'by-hand']) {
    assert.equal((await tidemark(['check', '--data-dir', data], { cwd })).code, 0)
    await serveOnce(data)
    await serveOnce(data)
  }
  // The historian alone, in the folder that it had.
  const folder = join(cwd, DATA, 'historians', 'local')
  rmSync(folder, { recursive: true })
  cpSync(join(cwd, 'copy', 'historians', 'local'), folder, { recursive: true })
  await serveOnce(DATA)
  rmSync(join(folder, 'manifest'), { recursive: true })
  const repaired = await tidemark(['check', '--repair'], { cwd })
  assert.match(repaired.stdout, /local/)
  assert.match(
    repaired.stderr,
    /^local: the manifest was made anew: earlier backups .* end before that, make a backup$/m,
  )
  await serveOnce(DATA)
  assert.equal((await tidemark(['check'], { cwd })).code, 0)
})

test('data of an older format are refused, and left as they are', async () => {
  for (const folder of ['system', 'historians/local']) {
    const cwd = await makeData()
    const file = join(cwd, DATA, folder, 'data.mdb')
    writeFileSync(file, 'x'.repeat(8_192))
    await assertRefused(cwd, file, /it holds data in format 2 of a development version/)
  }
})
