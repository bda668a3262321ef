import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { type Damage, damageOf } from '../damage.ts'
import { badSector, FailingFiles } from '../files/failing-files.fixture.ts'
import type { Files } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from './file-part-store.ts'
import { readFooter } from './footer.ts'
import { PageTable } from './page-table.ts'
import type { Part, PartInfo } from './part.ts'
import { readRun, textOf, writePart } from './parts.fixture.ts'

/*
 * A part with small runs and large ones in turn; ids of tags are even, so that between any two there is none. Whatever
 * is damaged, a tag answers as it is, or with Damage.
 */

const TAGS = 300
const STEP = 7_919

function noise(seed: number, count: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = i * 1_000_000
    points.values[i] = (((i + seed) * STEP) % 10_007) / 7
  }
  return points
}

const runs = Array.from(
  { length: TAGS },
  (_, i) => [2 * (i + 1), noise(i, i % 40 === 39 ? 2_000 : 40)] as const,
)
const EXPECTED = new Map(runs.map(([tag, points]) => [tag, textOf(points)]))
const TOMBSTONES = [{ tag: 2, from: 0, to: 5, sequence: 4 }]

async function somePart(t: TestContext, content = runs) {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 1 << 20 })
  const info = await writePart(store, '1.part', { runs: content, tombstones: TOMBSTONES }, [3, 9])
  const file = systemFiles.open(`${folder}/1.part`)
  const bytes = new Uint8Array(info.bytes)
  file.readNow(bytes, 0)
  const { sections } = readFooter(file)
  file.close()
  return { folder, info, bytes, sections }
}

/** Opens what is intact of a part that is stored so; `null` for nothing. Asserts that it is refused otherwise. */
async function recovered(folder: string, info: PartInfo, bytes: Uint8Array, files: Files = systemFiles) {
  systemFiles.remove(`${folder}/1.part`)
  const file = systemFiles.create(`${folder}/1.part`)
  file.writeNow(bytes, 0)
  file.close()
  const store = openPartStore(files, folder, { cacheBytes: 1 << 20 })
  let damage: Damage | null = null
  try {
    store.open(info).close()
  } catch (error) {
    damage = damageOf(error)
  }
  assert.ok(damage !== null, 'it is opened')
  return store.recover(info, damage, new AbortController().signal)
}

/** Reads all tags, and those between: what is read is right. Gives the tags that fail. */
function failing(part: Part, what: string): ReadonlySet<number> {
  const failed = new Set<number>()
  for (let tag = 1; tag <= 2 * TAGS + 2; tag++) {
    try {
      const found = part.has(tag) ? readRun(part, tag) : null
      assert.equal(found === null ? undefined : textOf(found), EXPECTED.get(tag), `${what}: tag ${tag}`)
    } catch (error) {
      damageOf(error)
      failed.add(tag)
    }
  }
  return failed
}

test('of a part without its footer all tags answer', async (t) => {
  const { folder, info, bytes, sections } = await somePart(t)
  const end = sections.largeTags.at + sections.largeTags.bytes
  for (const at of [0, end, end + 40, info.bytes - 20, info.bytes - 1]) {
    const flipped = bytes.slice()
    flipped[at]! ^= 4
    const part = (await recovered(folder, info, flipped))!
    assert.deepEqual([...failing(part, `byte ${at}`)], [])
    assert.deepEqual([...part.tombstones], TOMBSTONES)
    part.close()
  }
  const part = (await recovered(folder, info, bytes.slice(0, end)))!
  assert.deepEqual([...failing(part, 'cut')], [])
  part.close()
})

test('without its sets of tags or its tombstones all tags answer, and it is seen that tombstones are lost', async (t) => {
  const { folder, info, bytes, sections } = await somePart(t)
  for (const [name, { at }] of Object.entries(sections)) {
    if (name === 'table') continue
    const flipped = bytes.slice()
    flipped[at + 12]! ^= 4
    const part = (await recovered(folder, info, flipped))!
    assert.deepEqual([...failing(part, name)], [])
    assert.equal(part.tombstones.length, name === 'tombstones' ? 0 : 1)
    part.close()
  }
})

test('of a part that is cut the tags before the cut answer, with and without what the manifest repeats', async (t) => {
  const { folder, info, bytes, sections } = await somePart(t)
  const { sections: _, ...old } = info
  for (const known of [info, old]) {
    let before = 2 * TAGS + 2
    for (let at = sections.table.at; at > 0; at -= 5_003) {
      const part = (await recovered(folder, known, bytes.slice(0, at)))!
      const failed = [...failing(part, `cut at ${at}`)]
      part.close()
      assert.ok(failed.length <= 2 * TAGS + 2)
      // Those that answer are the first ones, but for large runs, whose page of the index comes later.
      const first = failed.find((tag) => (tag / 2) % 40 !== 0) ?? 2 * TAGS + 2
      assert.ok(first <= before, `cut at ${at}: ${first} after ${before}`)
      before = first
      if (at === sections.table.at) assert.deepEqual(failed, [])
    }
    assert.ok(before < 100)
  }
})

test('whatever is damaged beside the end of a part, tags answer as they are or fail, and most answer', async (t) => {
  const { folder, info, bytes, sections } = await somePart(t)
  let failed = 0
  const places = 60
  for (let place = 0; place < places; place++) {
    const at = 8 + Math.floor((place * (sections.table.at - 8)) / places)
    const damaged = bytes.slice()
    damaged.fill(0, at, at + 512)
    // Its end is lost, too.
    damaged.fill(0, place % 2 === 0 ? sections.table.at + 8 : sections.smallTags.at)
    const part = (await recovered(folder, info, damaged))!
    failed += failing(part, `zeros at ${at}`).size
    part.close()
  }
  assert.ok(failed / places < TAGS, `${failed / places} tags on average`)
})

test('what is beside a sector that the disk does not give (EIO) answers', async (t) => {
  const { folder, info, bytes, sections } = await somePart(t)
  for (const from of [sections.table.at, sections.smallTags.at, info.bytes - 100]) {
    const files = new FailingFiles(systemFiles, badSector('1.part', from))
    const part = (await recovered(folder, info, bytes, files))!
    assert.deepEqual([...failing(part, `from ${from}`)], [])
    part.close()
  }
})

test('nothing of another part, or of pages that contradict each other, is taken for it', async (t) => {
  const { folder, info, bytes } = await somePart(t)
  const other = { ...info, points: info.points + 1 }
  assert.equal(await recovered(folder, other, bytes), null)
  // More tags than the manifest knows, and no footer.
  const fewer = { ...info, tags: info.tags - 1 }
  assert.equal(await recovered(folder, fewer, bytes.slice(0, info.bytes - 1)), null)
  // The first pages again behind the others.
  const { at } = info.sections!.table
  const again = new Uint8Array(2 * at)
  again.set(bytes.slice(0, at))
  again.set(bytes.slice(8, at), at)
  const { sections: _, ...old } = info
  assert.equal(await recovered(folder, old, again), null)
})

test('where all pages are found and are not those of the manifest no tag is taken for absent', async (t) => {
  const { folder, info, bytes, sections } = await somePart(t)
  const { at, bytes: length } = sections.table
  const pages = new PageTable(bytes.slice(at, at + length)).small
  const damaged = bytes.slice()
  damaged.fill(0, sections.smallTags.at)
  const table = { at: pages.at(2), bytes: length }
  const part = await recovered(folder, { ...info, sections: { ...sections, table } }, damaged)
  assert.equal(part, null)
})

test('a sound page of another file is not taken for one of the part', async (t) => {
  const later = runs.map(([tag, points]) => {
    const times = points.times.map((time) => time + 1e12)
    return [tag, { ...points, times }] as const
  })
  const other = await somePart(t, later)
  const { folder, info, bytes, sections } = await somePart(t)
  const half = sections.table.at >> 1
  for (const lost of [sections.table, sections.smallTags]) {
    const damaged = bytes.slice()
    damaged.set(other.bytes.subarray(0, half))
    damaged[lost.at + 12]! ^= 4
    damaged[info.bytes - 1]! ^= 4
    const part = await recovered(folder, info, damaged)
    // Pages that are cut in the middle are lost with those of the other file.
    const failed = failing(part!, `without ${lost.at}`)
    assert.ok(failed.size < 2 * TAGS, `${failed.size} tags`)
    part!.close()
  }
})
