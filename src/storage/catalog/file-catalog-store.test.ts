import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { Damage } from '../damage.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { anyCommand, type Command, contentOf, contentOfModel, ModelCatalog, run } from './catalog.fixture.ts'
import { openCatalogStore, removeUnfinishedCatalogs } from './file-catalog-store.ts'
import { MemoryCatalog } from './memory-catalog.ts'
import type { CatalogRef } from './tag-catalog.ts'

const OWNER = '00000003'
const writerOf = (folder: string, token = OWNER) => openCatalogStore(systemFiles, folder, token)
const load = async (folder: string, ref: CatalogRef | null) =>
  (await openCatalogStore(systemFiles, folder, '').load(ref)) as MemoryCatalog

/** Does commands to a model and a catalog; gives the record of them. */
function change(catalog: MemoryCatalog, model: ModelCatalog, commands: readonly Command[]): Uint8Array[] {
  const draft = catalog.draft()
  for (const command of commands) run(command, model, draft)
  const changes = draft.take()
  if (changes === null) return []
  catalog.apply(changes)
  return [changes]
}

const records = fc.array(fc.array(anyCommand, { maxLength: 5 }), { maxLength: 12 })

test('what was flushed and the records since make the catalog, wherever flushes and owners come', async (t) => {
  const root = temporaryFolder(t)
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      records,
      fc.array(fc.nat(3), { minLength: 1, maxLength: 12 }),
      async (changes, ahead) => {
        const folder = join(root, `${number++}`)
        systemFiles.makeFolder(folder)
        const catalog = new MemoryCatalog()
        const model = new ModelCatalog()
        let ref: CatalogRef | null = null
        let [waiting, newer]: Uint8Array[][] = [[], []]
        for (const [index, commands] of changes.entries()) {
          const step = ahead[index % ahead.length]!
          const taken = change(catalog, model, commands)
          // Some are in the catalog already and not of what is flushed.
          if (step === 0) newer.push(...taken)
          else waiting.push(...newer.splice(0), ...taken)
          if (step < 2) continue
          const store = writerOf(folder, step === 3 ? `0000000${4 + (index % 5)}` : OWNER)
          ref = await store.append(catalog, waiting, ref)
          waiting = []
          assert.deepEqual(await store.check(ref), [])
          const read = await load(folder, ref)
          for (const record of newer) read.apply(record)
          assert.deepEqual(contentOf(read), contentOfModel(model))
          for (const { name } of model.byId.values()) assert.deepEqual(read.find(name), model.find(name))
        }
      },
    ),
    { numRuns: 60 },
  )
})

/** A store with a number of tags and where it is. */
async function filled(folder: string, tags: number, files = systemFiles) {
  const store = openCatalogStore(files, folder, OWNER)
  const catalog = new MemoryCatalog()
  const draft = catalog.draft()
  for (let i = 0; i < tags; i++) {
    draft.create({ name: `tag-${i}`, description: `of number ${i}`, units: 'bar', stepped: i % 2 === 0 })
  }
  const changes = draft.take()!
  catalog.apply(changes)
  return { store, catalog, ref: await store.append(catalog, [changes], null) }
}

function changeOne(catalog: MemoryCatalog, name: string, description: string): Uint8Array {
  const draft = catalog.draft()
  const before = draft.find(name)!
  draft.change(before, { ...before, description })
  const changes = draft.take()!
  catalog.apply(changes)
  return changes
}

test('changes are appended, until the file holds more of the past than of the present', async (t) => {
  const folder = temporaryFolder(t)
  const { store, catalog, ref: first } = await filled(folder, 5_000)
  let ref = first
  let largest = 0
  for (let i = 0; i < 300; i++) {
    const before = ref
    ref = await store.append(catalog, [changeOne(catalog, `tag-${i % 10}`, `${i} ${'x'.repeat(2_000)}`)], ref)
    if (ref.name === before.name) assert.ok(ref.bytes < before.bytes + 2_500)
    largest = Math.max(largest, ref.bytes)
    assert.equal(statSync(join(folder, ref.name)).size, ref.bytes)
  }
  const names = readdirSync(folder)
  assert.ok(names.length > 1 && names.length < 10, names.join())
  assert.equal(ref.name, names.at(-1))
  assert.ok(largest < 2 * (catalog.entries.bytes + 5 * catalog.size) + 70_000)
  assert.deepEqual(contentOf(await load(folder, ref)), contentOf(catalog))
})

test('ids of tags that are gone are not given again after the file was written anew', async (t) => {
  const folder = temporaryFolder(t)
  const { catalog } = await filled(folder, 10)
  const draft = catalog.draft()
  for (let i = 5; i < 10; i++) draft.remove(draft.find(`tag-${i}`)!)
  catalog.apply(draft.take()!)
  const read = await load(folder, await writerOf(folder, '00000004').append(catalog, [], null))
  assert.equal(read.size, 5)
  assert.equal(read.draft().create({ name: 'x', description: null, units: null, stepped: false }).id, 11)
})

test('a file of few tags among the ids of many that are gone is written and read', async (t) => {
  const folder = temporaryFolder(t)
  const catalog = new MemoryCatalog()
  for (let round = 0; round < 5; round++) {
    const draft = catalog.draft()
    for (let i = 0; i < 10_000; i++) {
      draft.create({ name: `${round} ${i}`, description: null, units: null, stepped: false })
    }
    for (let i = 0; i < 10_000; i++) if (i !== 9_000) draft.remove(draft.find(`${round} ${i}`)!)
    catalog.apply(draft.take()!)
  }
  const read = await load(folder, await writerOf(folder).append(catalog, [], null))
  assert.deepEqual(contentOf(read), contentOf(catalog))
  assert.deepEqual([read.size, read.nextId], [5, 50_001])
})

test('of a file only what the manifest says counts, and another owner leaves it alone', async (t) => {
  const folder = temporaryFolder(t)
  const { store, catalog, ref } = await filled(folder, 100)
  const content = contentOf(catalog)
  const longer = await store.append(catalog, [changeOne(catalog, 'tag-1', 'changed')], ref)
  assert.equal(longer.name, ref.name)
  assert.deepEqual(contentOf(await load(folder, ref)), content)
  // The file's end was never told to anybody: it is written over.
  const shorter = await store.append(catalog, [changeOne(catalog, 'tag-1', '')], ref)
  assert.deepEqual(contentOf(await load(folder, shorter)), contentOf(catalog))
  const other = await writerOf(folder, '00000004').append(catalog, [], shorter)
  assert.equal(other.name, '00000004-00000001.tags')
  const bytes = readFileSync(join(folder, ref.name))
  await writerOf(folder, '00000004').append(catalog, [changeOne(catalog, 'tag-2', 'changed')], other)
  assert.deepEqual(readFileSync(join(folder, ref.name)), bytes)
})

test('whatever fails, the file of the last manifest stays as it was, and the next flush succeeds', async (t) => {
  for (const fault of [{ code: 'EIO' }, { code: 'ENOSPC', short: true }]) {
    for (const isNew of [false, true]) {
      for (let failing = 0, hasFailed = true; hasFailed; failing++) {
        const folder = temporaryFolder(t)
        const files = new FailingFiles(systemFiles)
        const { store, catalog, ref } = await filled(folder, 2_000, files)
        const content = contentOf(catalog)
        const waiting = isNew
          ? Array.from({ length: 60 }, (_, i) => changeOne(catalog, `tag-${i}`, 'x'.repeat(9_000)))
          : [changeOne(catalog, 'tag-1', 'changed')]
        if (isNew) for (let i = 0; i < 60; i++) waiting.push(changeOne(catalog, `tag-${i}`, ''))
        files.calls = 0
        files.plan = (_call, _path, number) => (number === failing ? fault : null)
        hasFailed = await store.append(catalog, waiting, ref).then(
          (next) => {
            assert.equal(next.name !== ref.name, isNew)
            return false
          },
          (error) => {
            assert.equal(error.code, fault.code)
            return true
          },
        )
        const wasSync = files.calls
        files.plan = () => null
        assert.deepEqual(contentOf(await load(folder, ref)), content)
        const next = await store.append(catalog, waiting, ref)
        assert.deepEqual(contentOf(await load(folder, next)), contentOf(catalog), `${failing} ${wasSync}`)
        if (!hasFailed) assert.ok(failing >= (isNew ? 4 : 3), `${failing} calls`)
      }
    }
  }
})

test('after a sync that failed nothing more is written to the file', async (t) => {
  const folder = temporaryFolder(t)
  const files = new FailingFiles(systemFiles)
  const { store, catalog, ref } = await filled(folder, 100, files)
  files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
  const changes = changeOne(catalog, 'tag-1', 'changed')
  await assert.rejects(store.append(catalog, [changes], ref), { code: 'EIO' })
  files.plan = () => null
  const next = await store.append(catalog, [changes], ref)
  assert.notEqual(next.name, ref.name)
})

test('what is damaged, cut or missing is Damage, and a check says so', async (t) => {
  const folder = temporaryFolder(t)
  const { store, catalog, ref: first } = await filled(folder, 12)
  const ref = await store.append(catalog, [changeOne(catalog, 'tag-1', 'changed')], first)
  const path = join(folder, ref.name)
  const bytes = readFileSync(path)
  const expectDamage = async (what: string) => {
    await assert.rejects(load(folder, ref), Damage, what)
    assert.notDeepEqual(await store.check(ref), [], what)
  }
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const damaged = Buffer.from(bytes)
    damaged[bit >> 3]! ^= 1 << (bit & 7)
    writeFileSync(path, damaged)
    await expectDamage(`bit ${bit}`)
  }
  for (let size = bytes.length - 1; size >= 0; size--) {
    writeFileSync(path, bytes)
    truncateSync(path, size)
    await expectDamage(`${size} bytes`)
  }
  writeFileSync(path, Buffer.alloc(bytes.length))
  await expectDamage('zeros')
  for (const name of ['00000009-00000001.tags', '../escape.tags', '']) {
    await assert.rejects(load(folder, { name, bytes: 50 }), Damage, name)
    assert.equal((await store.check({ name, bytes: 50 })).length, 1)
  }
  // A block of an earlier content of the same place of another file, or moved within the file.
  const [blockA, rest] = [bytes.subarray(16, first.bytes), bytes.subarray(first.bytes)]
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 16), rest, blockA]))
  await expectDamage('blocks that changed places')
})

test('a file with a name is whole, wherever the writing of it was cut off', async (t) => {
  let isCut = true
  for (let failing = 0; isCut; failing++) {
    isCut = false
    const folder = temporaryFolder(t)
    const files = new FailingFiles(systemFiles, (_call, _path, number) => {
      isCut ||= number >= failing
      return number >= failing ? { code: 'EIO', short: true } : null
    })
    await filled(folder, 20_000, files).catch((error) => assert.equal(error.code, 'EIO'))
    const names = readdirSync(folder)
    const named = names.filter((name) => name.endsWith('.tags'))
    for (const name of named) {
      const { size } = statSync(join(folder, name))
      assert.equal((await load(folder, { name, bytes: size })).size, 20_000, `${failing}`)
    }
    // What is left of others is in nobody's way, and is removed by a repair.
    const { ref } = await filled(folder, 10)
    assert.ok(!names.includes(ref.name), `${failing}`)
    removeUnfinishedCatalogs(systemFiles, folder)
    assert.deepEqual(readdirSync(folder), [...named, ref.name])
  }
})
