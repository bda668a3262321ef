import assert from 'node:assert/strict'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { modelOf, open, printed, STEPS, signal } from '../../../test/durability/workload.ts'
import { until } from '../../../test/until.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { parseArchiveName } from '../archive/archive-file.ts'
import type { FileStore } from '../engine/file-store.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { systemFiles } from '../files/system-files.ts'
import { repairHistorian } from './repair-historian.ts'

const repair = (folder: string) => repairHistorian(systemFiles, folder, { historian: 'plant' }, signal)

const write = (store: FileStore, tag: string, ...times: readonly number[]) => {
  const points = makeColumns(times.length)
  points.times.set(times)
  return store.write(writeBatch([{ tag, points }], true), signal)
}

/** Makes a historian with fifty tags, of which the manifest is gone. Gives what it had. */
async function makeWithoutManifest(folder: string) {
  const store = await open(systemFiles, folder)
  for (let i = 0; i < 50; i++) await write(store, `tag ${i}`, i)
  await store.flush()
  const model = await modelOf(store)
  await store.close()
  rmSync(join(folder, 'manifest'), { recursive: true })
  return model
}

const catalogOf = (folder: string) =>
  join(folder, 'catalog', readdirSync(join(folder, 'catalog')).sort().at(-1)!)

test('without a manifest nothing that was deleted comes back, whatever files still wait to be removed', async (t) => {
  const base = temporaryFolder(t)
  const folder = join(base, 'plant')
  const store = await openFileStore(folder, {
    historian: 'plant',
    owner: true,
    limits: {
      flush: { points: 1e9, records: 1e9, ageMs: 1e9 },
      merge: { partitionBytes: 5_000, fanIn: 2, largestBytes: 1 << 22 },
      unlinkSoonestMs: 1e9,
      unlinkAfterMs: 1e9,
      reserveBytes: 0,
    },
    files: { ...systemFiles },
  })
  t.after(() => store.close())
  const more = [...STEPS, STEPS[2]!, ...STEPS.slice(0, 6)]
  for (const [i, step] of more.entries()) {
    await step.run(store)
    const image = join(base, `image-${i}`)
    cpSync(folder, image, { recursive: true })
    rmSync(join(image, 'manifest'), { recursive: true })
    rmSync(join(image, 'owner.lock'))
    assert.deepEqual((await repair(image)).lost, [], `after ${i}, ${step.name}`)
    const again = await open(systemFiles, image)
    assert.equal(printed(await modelOf(again)), printed(await modelOf(store)), `after ${i}, ${step.name}`)
    await again.close()
  }
})

test('a tag that is made after the catalog was lost does not show the points of another one', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(systemFiles, folder)
  await write(store, 'a', 1, 2, 3)
  await write(store, 'b', 4, 5)
  await store.flush()
  await write(store, 'a', 6)
  await store.close()
  rmSync(join(folder, 'manifest'), { recursive: true })
  rmSync(catalogOf(folder))
  await repair(folder)
  for (let round = 0; round < 2; round++) {
    const again = await open(systemFiles, folder)
    await write(again, `new ${round}`, 7)
    const found = await modelOf(again)
    assert.deepEqual([...found.get(`new ${round}`)!.points.keys()], [7])
    await again.flush()
    assert.deepEqual((await again.check(signal)).problems, [])
    await again.close()
  }
})

test('without a manifest tags stay whose file ends in what a kill left of an append', async (t) => {
  const base = temporaryFolder(t)
  const folder = join(base, 'plant')
  const model = await makeWithoutManifest(folder)
  const whole = readFileSync(catalogOf(folder))
  for (const length of [1, 7, 8, 20, 500]) {
    const image = join(base, `image-${length}`)
    cpSync(folder, image, { recursive: true })
    // The beginning of a block, and zeros.
    appendFileSync(catalogOf(image), Buffer.concat([whole.subarray(16, 16 + length), Buffer.alloc(length)]))
    const { lost } = await repair(image)
    assert.ok(lost.length <= 1, lost.join('\n'))
    const again = await open(systemFiles, image)
    assert.equal(printed(await modelOf(again)), printed(model), `${length} bytes more`)
    await again.close()
  }
})

test('without a manifest a catalog that was being written anew does not take the place of the whole one', async (t) => {
  const folder = temporaryFolder(t)
  const model = await makeWithoutManifest(folder)
  const path = catalogOf(folder)
  const whole = readFileSync(path)
  writeFileSync(path.replace('-00000001.tags', '-00000002.tags'), whole.subarray(0, whole.length - 30))
  await repair(folder)
  const again = await open(systemFiles, folder)
  assert.equal(printed(await modelOf(again)), printed(model))
  await again.close()
})

test('of a damaged catalog the tags before the damage are kept, and the points of the others show as those of none', async (t) => {
  const base = temporaryFolder(t)
  const folder = join(base, 'plant')
  const store = await open(systemFiles, folder)
  await write(store, 'first', 1)
  await store.flush()
  const { size } = statSync(catalogOf(folder))
  await write(store, 'second', 2)
  await store.flush()
  await write(store, 'third', 3)
  await store.close()
  for (const [what, damage] of [
    [
      'a flipped bit',
      (bytes: Buffer) => Buffer.from(bytes).fill(bytes[size + 12]! ^ 1, size + 12, size + 13),
    ],
    ['a missing end', (bytes: Buffer) => bytes.subarray(0, size + 5)],
    ['a missing file', () => null],
  ] as const) {
    const image = join(base, what)
    cpSync(folder, image, { recursive: true })
    const damaged = damage(readFileSync(catalogOf(image)))
    if (damaged === null) rmSync(catalogOf(image))
    else writeFileSync(catalogOf(image), damaged)
    await assert.rejects(open(systemFiles, image), { code: 'STORAGE_CORRUPT' })
    const { isSound, lost } = await repair(image)
    assert.deepEqual([isSound, lost.length], [false, 1], what)
    assert.match(lost[0]!, /of the catalog .* said of tags/)
    const again = await open(systemFiles, image)
    await write(again, 'new', 7)
    const found = await modelOf(again)
    const expected = damaged === null ? ['new', 'third'] : ['first', 'new', 'third']
    assert.deepEqual([...found.keys()].sort(), expected, what)
    assert.deepEqual([...found.get('new')!.points.keys()], [7], what)
    assert.deepEqual([...found.get('third')!.points.keys()], [3], what)
    assert.deepEqual((await again.check(signal)).problems, [])
    await again.close()
    assert.equal((await repair(image)).isSound, true)
  }
})

test('what waits for the archive still does after a repair of a part', async (t) => {
  const base = temporaryFolder(t)
  const [folder, archive] = [join(base, 'plant'), join(base, 'archive')]
  const openArchived = () =>
    openFileStore(folder, {
      historian: 'plant',
      owner: true,
      archive: { folder: archive, everyMs: 20, keepBytes: 1 << 30 },
    })
  const before = await openArchived()
  await write(before, 'a', 1)
  await write(before, 'a', 2)
  await before.flush()
  await write(before, 'a', 3)
  await before.close()
  const [part] = readdirSync(join(folder, 'parts'))
  const bytes = readFileSync(join(folder, 'parts', part!))
  bytes[20]! ^= 1
  writeFileSync(join(folder, 'parts', part!), bytes)
  assert.deepEqual((await repair(folder)).aside, [part])
  mkdirSync(archive)
  const store = await openArchived()
  t.after(() => store.close())
  const archived = () =>
    readdirSync(archive, { recursive: true, encoding: 'utf8' })
      .map((path) => parseArchiveName(basename(path)))
      .filter((one) => one !== null)
  await until(() => archived().some(({ lastSequence }) => lastSequence === 3), 'all is archived')
  // How the records are divided depends on when the archive was looked at.
  const lasts = new Set([0, ...archived().map(({ lastSequence }) => lastSequence)])
  for (const { firstSequence } of archived()) assert.ok(lasts.has(firstSequence - 1), `${firstSequence}`)
})
