import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { badSector, FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from './file-part-store.ts'
import { readFooter } from './footer.ts'
import { readRun, textOf, writePart } from './parts.fixture.ts'
import { salvagePart } from './salvage.ts'

const never = new AbortController().signal
const ORDER = { name: '1.part', newName: '2.part', known: null }
const TOMBSTONE = { tag: 2, from: 0, to: 5, sequence: 4 }

function noise(count: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = i * 1_000_000
    points.values[i] = ((i * 7_919) % 10_007) / 7
  }
  return points
}

const runs = Array.from({ length: 200 }, (_, i) => [i + 1, noise(i === 99 ? 9_000 : 100)] as const)

async function somePart(t: TestContext) {
  const folder = temporaryFolder(t)
  const store = openPartStore(systemFiles, folder, { cacheBytes: 1 << 20 })
  const info = await writePart(store, '1.part', { runs, tombstones: [TOMBSTONE] }, [3, 9])
  return { folder, store, info }
}

function damage(folder: string, at: number): void {
  const file = systemFiles.edit(`${folder}/1.part`)
  const byte = new Uint8Array(1)
  file.readNow(byte, at)
  file.writeNow(
    byte.map((value) => value ^ 1),
    at,
  )
  file.close()
}

test('all of a sound part is kept', async (t) => {
  const { folder, store, info } = await somePart(t)
  const kept = await salvagePart(systemFiles, folder, ORDER, never)
  assert.deepEqual([kept.points, kept.lost], [info.points, []])
  const { bytes: _, name: __, ...numbers } = kept.info!
  const { bytes: ___, name: ____, ...before } = info
  assert.deepEqual(numbers, before)
  assert.deepEqual(store.inspect('2.part').origin.replaces, ['1.part'])
  const part = store.open(kept.info!)
  for (const [tag, points] of runs) assert.equal(textOf(readRun(part, tag)!), textOf(points))
  assert.deepEqual([...part.tombstones], [TOMBSTONE])
  part.close()
})

test('what is intact of a damaged part is kept, and what is lost is said', async (t) => {
  const { folder, store, info } = await somePart(t)
  const part = store.open(info)
  const block = part.run(100)!
  assert.ok(block.blocks > 2)
  part.close()
  // One of the pages of small runs, and one block of the large one.
  damage(folder, 5_000)
  damage(folder, amidBlocks(folder))
  const kept = await salvagePart(systemFiles, folder, ORDER, never)
  assert.equal(kept.lost.length, 2, kept.lost.join('\n'))
  assert.match(kept.lost.join('\n'), /points of tags \d+ to \d+, those with few of them: .*checksum/)
  assert.match(kept.lost.join('\n'), /\d+ points of tag 100 from 1970-01-01T\S+ to \S+: .*checksum/)
  const copy = store.open(kept.info!)
  assert.deepEqual((await copy.check(never)).problems, [])
  let points = 0
  for (const [tag, expected] of runs) {
    const found = readRun(copy, tag)
    if (found === null) continue
    points += found.times.length
    const wanted = new Set(textOf(expected).split('\n'))
    assert.ok(
      textOf(found)
        .split('\n')
        .every((point) => wanted.has(point)),
    )
  }
  assert.equal(points, kept.points)
  assert.ok(points > info.points / 2 && points < info.points)
  copy.close()
})

/** Somewhere in a block of the large run, which is what takes most of the file. */
function amidBlocks(folder: string, end = tableAt(folder)): number {
  assert.ok(end > 40_000)
  return end >> 1
}

function tableAt(folder: string): number {
  const file = systemFiles.open(`${folder}/1.part`)
  const { table } = readFooter(file).sections
  file.close()
  return table.at
}

test('pages are found without the table, and without the footer where the manifest knows the part', async (t) => {
  const { folder, store, info } = await somePart(t)
  const end = tableAt(folder)
  damage(folder, end + 20)
  const found = await salvagePart(systemFiles, folder, ORDER, never)
  assert.deepEqual([found.points, found.info!.tombstones], [info.points, 1])
  assert.match(found.lost[0]!, /the table of pages: .*checksum/)
  damage(folder, info.bytes - 1)
  const unknown = await salvagePart(systemFiles, folder, { ...ORDER, newName: '3.part' }, never)
  assert.deepEqual([unknown.info, unknown.points], [null, 0])
  damage(folder, amidBlocks(folder, end))
  const { sections: _, ...old } = info
  const known = await salvagePart(systemFiles, folder, { ...ORDER, newName: '4.part', known: old }, never)
  assert.ok(known.points < info.points && known.points > info.points / 2)
  assert.match(known.lost.join('\n'), /its 1 tombstones.*\n.*\n\d+ points of tag 100 from/)
  // The manifest may know where the tombstones are.
  const placed = await salvagePart(systemFiles, folder, { ...ORDER, newName: '5.part', known: info }, never)
  assert.deepEqual([placed.points, placed.info!.tombstones], [known.points, 1])
  for (const kept of [found.info!, known.info!, placed.info!]) {
    assert.deepEqual([kept.firstSequence, kept.lastSequence], [3, 9])
    const part = store.open(kept)
    assert.deepEqual((await part.check(never)).problems, [])
    part.close()
  }
  assert.deepEqual(systemFiles.list(folder), ['1.part', '2.part', '4.part', '5.part'])
})

test('of pages that contradict each other none is kept, which is said', async (t) => {
  const { folder, info } = await somePart(t)
  const file = systemFiles.edit(`${folder}/1.part`)
  const pages = new Uint8Array(tableAt(folder))
  file.readNow(pages, 0)
  // The first pages again behind the others.
  file.writeNow(pages.subarray(8), pages.length)
  file.close()
  const { sections: _, ...old } = info
  const kept = await salvagePart(systemFiles, folder, { ...ORDER, known: old }, never)
  assert.deepEqual([kept.info, kept.points], [null, 0])
  assert.match(
    kept.lost.join('\n'),
    /all of its pages: the pages of a part are not in the order of their tags/,
  )
  assert.deepEqual(systemFiles.list(folder), ['1.part'])
})

test('an error of the system ends it, and nothing is left', async (t) => {
  const { folder } = await somePart(t)
  const files = new FailingFiles(systemFiles, (call) => (call === 'sync' ? { code: 'EIO' } : null))
  await assert.rejects(salvagePart(files, folder, ORDER, never), { code: 'EIO' })
  assert.deepEqual(systemFiles.list(folder), ['1.part'])
})

test('whatever is damaged, what is kept is true and what is lost is said', async (t) => {
  const { folder, store, info } = await somePart(t)
  const whole = systemFiles.open(`${folder}/1.part`)
  const bytes = new Uint8Array(info.bytes)
  whole.readNow(bytes, 0)
  whole.close()
  const expected = new Map(runs.map(([tag, points]) => [tag, new Set(textOf(points).split('\n'))]))
  for (let place = 0; place < 40; place++) {
    const at = Math.floor((place * info.bytes) / 40)
    const file = systemFiles.create(`${folder}/damaged.part`)
    file.writeNow(bytes, 0)
    // A sector of zeros, and a bit in each of two places.
    file.writeNow(new Uint8Array(Math.min(512, info.bytes - at)), at)
    for (const other of [(at + 50_000) % info.bytes, (at + 90_000) % info.bytes]) {
      file.writeNow(Uint8Array.of(bytes[other]! ^ 64), other)
    }
    file.close()
    const order = { name: 'damaged.part', newName: 'kept.part', known: info }
    const kept = await salvagePart(systemFiles, folder, order, never)
    assert.ok(kept.points >= info.points / 2, `${kept.points} points at ${at}`)
    const part = store.open(kept.info!)
    assert.deepEqual((await part.check(never)).problems, [])
    for (const tag of part.tags()) {
      const points = textOf(readRun(part, tag)!).split('\n')
      assert.ok(
        points.every((point) => expected.get(tag)!.has(point)),
        `tag ${tag}`,
      )
    }
    if (kept.points < info.points) assert.ok(kept.lost.length > 0)
    part.close()
    systemFiles.remove(`${folder}/damaged.part`)
    systemFiles.remove(`${folder}/kept.part`)
  }
})

test('what the disk does not give (EIO) is lost, and nothing else', async (t) => {
  const { folder, store, info } = await somePart(t)
  const table = tableAt(folder)
  for (const [number, bad] of [
    // A page of small runs or a block; the table of pages; the second half, with footer and index of the large run.
    [2, badSector('1.part', 8_192, 12_288)],
    [3, badSector('1.part', table, table + 8)],
    [4, badSector('1.part', table >> 1, info.bytes)],
  ] as const) {
    const order = { name: '1.part', newName: `${number}.part`, known: info }
    const kept = await salvagePart(new FailingFiles(systemFiles, bad), folder, order, never)
    assert.ok(kept.points > 9_000, `${kept.points} of ${info.points} points`)
    assert.match(kept.lost.join('\n'), /: the disk reports an error \(EIO\)/)
    const part = store.open(kept.info!)
    assert.deepEqual((await part.check(never)).problems, [])
    part.close()
  }
})
