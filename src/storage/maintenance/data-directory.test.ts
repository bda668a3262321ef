import assert from 'node:assert/strict'
import { mkdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newKey } from '../../../test/contract/key-store-promises.ts'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { modelOf, open, printed, STEPS, signal } from '../../../test/durability/workload.ts'
import { historianDirectory, openDataDirectory } from '../directory/data-directory.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { backupDataDirectory } from './backup.ts'
import { checkDataDirectory } from './check-data-directory.ts'
import { repairDataDirectory } from './repair-data-directory.ts'

test('a historian on files is checked and backed up with its data directory, beside its owner', async (t) => {
  const folder = temporaryFolder(t)
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')]
  const directory = await openDataDirectory(data, { owner: true })
  const place = historianDirectory(data, 'plant')
  const store = await open(systemFiles, place)
  for (const step of STEPS) await step.run(store)
  const model = await modelOf(store)
  const checked = await checkDataDirectory(data, signal)
  assert.equal(checked.isSound, true)
  assert.deepEqual(
    checked.historians.map(({ historian, check }) => [historian, check?.tags]),
    [['plant', model.size]],
  )
  const elsewhere = [{ name: 'far', folder: join(folder, 'far') }]
  const far = await open(systemFiles, elsewhere[0]!.folder)
  await STEPS[0]!.run(far)
  await backupDataDirectory(data, copy, signal, { mode: 'copy', since: null, elsewhere })
  await far.close()
  await store.close()
  await directory.close()

  const restored = await open(systemFiles, historianDirectory(copy, 'plant'))
  assert.equal(printed(await modelOf(restored)), printed(model))
  await restored.close()
  const [part] = systemFiles.list(join(place, 'parts'))
  truncateSync(join(place, 'parts', part!), 100)
  const broken = await checkDataDirectory(data, signal)
  assert.equal(broken.isSound, false)
  assert.match(broken.historians[0]!.check!.problems[0]!, /part /)
  rmSync(join(place, 'wal'), { recursive: true })
  assert.equal((await checkDataDirectory(data, signal)).isSound, false)
})

test('a check says that a key cannot be read', async (t) => {
  const data = temporaryFolder(t)
  const directory = await openDataDirectory(data, { owner: true })
  for (const name of ['one', 'two']) {
    const { record, digest } = newKey(name)
    await directory.keys.add(record, digest)
  }
  assert.deepEqual((await checkDataDirectory(data, signal)).system, [])
  directory.system
    .statement('UPDATE keys SET entry = substr(entry, 1, 40) WHERE place = (SELECT min(place) FROM keys)')
    .run()
  const { keys, isSound, system } = await checkDataDirectory(data, signal)
  assert.deepEqual([keys, isSound, system], [2, false, ['1 of 2 keys cannot be read: make them anew']])
  await directory.close()
})

test('a note of a historian that cannot be read is told by a check, and removed by a repair', async (t) => {
  const data = temporaryFolder(t)
  const directory = await openDataDirectory(data, { owner: true })
  const store = await open(systemFiles, historianDirectory(data, 'plant'))
  await STEPS[0]!.run(store)
  for (const name of ['plant', 'other']) {
    await directory.known.add({ name, folder: null, ...store.identity, lastSequence: null })
  }
  await store.close()
  // What was noted of `other` stands under the name of a historian that never was.
  directory.system.statement("UPDATE meta SET name = 'historian:othes' WHERE name = 'historian:other'").run()
  await directory.close()
  const { isSound, system, historians } = await checkDataDirectory(data, signal)
  assert.equal(isSound, false)
  assert.deepEqual(system, [
    '1 of 2 notes of historians that were opened before cannot be read: a repair removes them, and the next start makes them anew',
  ])
  assert.deepEqual(
    historians.map(({ historian, failure }) => [historian, failure]),
    [['plant', null]],
  )
  await repairDataDirectory(data, () => {}, signal)
  assert.equal((await checkDataDirectory(data, signal)).isSound, true)
})

test('where historians have a disk of their own, the folder lost+found of the disk is none of them', async (t) => {
  const data = temporaryFolder(t)
  await (await openDataDirectory(data, { owner: true })).close()
  mkdirSync(join(data, 'historians', 'lost+found'), { recursive: true })
  assert.deepEqual((await checkDataDirectory(data, signal)).historians, [])
  await backupDataDirectory(data, join(temporaryFolder(t), 'copy'), signal)
})

test('what keeps the files of a historian from being read is not said of the folder that takes the copy', async (t) => {
  const [data, target] = [temporaryFolder(t), join(temporaryFolder(t), 'copy')]
  const directory = await openDataDirectory(data, { owner: true })
  const place = historianDirectory(data, 'plant')
  const store = await open(systemFiles, place)
  await STEPS[0]!.run(store)
  await store.close()
  await directory.close()
  const options = { mode: 'copy', since: null, elsewhere: [] } as const
  const denied = (path: string) => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'open', path })
  }
  const refused = (changed: Partial<Files>, message: RegExp) =>
    assert.rejects(backupDataDirectory(data, target, signal, options, { ...systemFiles, ...changed }), {
      code: 'DATA_DIR_UNUSABLE',
      message,
    })
  const openIt = (path: string) => (path.startsWith(place) ? denied(path) : systemFiles.open(path))
  await refused({ open: openIt }, /historians\/plant cannot be used: permission to read its files is missing/)
  await refused(
    { create: denied },
    /unfinished-backup\/historians\/plant cannot be used: permission to write/,
  )
})
