import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { PACKED_PART, POINTS_PART, TAGS_PART } from '../../../test/fixtures/part-v1-content.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { BlockView } from '../blocks/block.ts'
import { Damage } from '../damage.ts'
import type { FileHandle, Files } from '../files/files.ts'
import { readFile } from '../files/files.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from './file-part-store.ts'
import { readFooter } from './footer.ts'
import { addChecksum, isSound } from './page-checksum.ts'
import { PageTable } from './page-table.ts'
import type { Part, PartInfo } from './part.ts'
import { readRun, textOf } from './parts.fixture.ts'
import { IndexPage } from './run-index.ts'
import { SmallPage } from './small-page.ts'
import { SummaryPage } from './summary-page.ts'
import { TagSet } from './tag-set.ts'
import { decodeTombstones } from './tombstones.ts'

const PLACES = 2_000
const NAME = '1.part'
const never = new AbortController().signal

/** Files that only one file is read from. */
function filesOf(bytes: Uint8Array): Files {
  const handle: Pick<FileHandle, 'path' | 'size' | 'readNow' | 'read' | 'close'> = {
    path: NAME,
    size: () => bytes.length,
    readNow(target, at) {
      const found = bytes.subarray(at, at + target.length)
      target.set(found)
      return found.length
    },
    async read(target, at) {
      return handle.readNow(target, at)
    },
    close() {},
  }
  return { open: () => handle } as unknown as Files
}

/** All that readers see of a part, tag by tag; `null` for what is damaged. */
function read(part: Part, tags: readonly number[]): (string | null)[] {
  return tags.flatMap((tag) => [
    attempt(() => textOf(readRun(part, tag)!)),
    attempt(() => {
      const run = part.run(tag)!
      const pages = Array.from({ length: run.pages }, (_, page) => run.pageSummary(page))
      const summaries = [run.blockSummary(0), ...pages]
      // Without one the points are read.
      return summaries.includes(null) && run.pages > 0 ? null : JSON.stringify(summaries)
    }),
  ])
}

function attempt<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if (error instanceof Damage) return null
    throw error
  }
}

const openIn = (bytes: Uint8Array, info: PartInfo) =>
  openPartStore(filesOf(bytes), '.', { cacheBytes: 1 << 20 }).open(info)

/** Small runs, large ones of one block and of more, and tombstones, in some 60 kB. */
let bytes: Uint8Array<ArrayBuffer>
let info: PartInfo
let expected: readonly (string | null)[]
const tags: number[] = []

before(async () => {
  const folder = process.env.TMPDIR ?? '/tmp'
  const name = `damage-${process.pid}.part`
  const store = openPartStore(systemFiles, folder, { cacheBytes: 0 })
  const writer = store.create(name, { firstSequence: 1, lastSequence: 9, replaces: ['0.part'] })
  const steady = (count: number): PointColumns => {
    const points = makeColumns(count)
    points.times.forEach((_, i) => {
      points.times[i] = i * 1_000_000 + ((i * 7_919) % 997)
      points.values[i] = i % 3 === 0 ? i / 7 : i / 10
    })
    return points
  }
  for (const [tag, count] of [
    ...Array.from({ length: 60 }, (_, i) => [i + 1, i + 1]),
    [70_000, 3_000],
    [70_001, 300],
  ]) {
    writer.add(tag!, steady(count!))
    tags.push(tag!)
  }
  writer.addTombstone({ tag: 3, from: 0, to: 5, sequence: 4 })
  const written = await writer.finish()
  bytes = readFile(systemFiles, `${folder}/${name}`)
  systemFiles.remove(`${folder}/${name}`)
  info = { ...written, name }
  expected = read(openIn(bytes, info), tags)
  assert.ok(!expected.includes(null))
})

test('a flipped bit is found, and what it does not touch is read as before', async () => {
  const step = bytes.length / PLACES
  const tableAt = readFooter(filesOf(bytes).open('')).sections.table.at
  for (let place = 0; place < PLACES; place++) {
    const at = Math.floor(place * step)
    const flipped = bytes.slice()
    flipped[at]! ^= 1 << (place % 8)
    const part = attempt(() => openIn(flipped, info))
    if (part === null) continue
    const found = read(part, tags)
    assert.ok(
      found.every((text, i) => text === null || text === expected[i]),
      `bit ${place % 8} of byte ${at}`,
    )
    assert.ok((await part.check(never)).problems.length > 0, `byte ${at} is found`)
    // Of pages and blocks only the tags of one are lost; all are with the table of pages.
    if (at < tableAt)
      assert.ok(
        found.some((text) => text !== null),
        `byte ${at}`,
      )
    part.close()
  }
})

test('a file that was cut or that grew is no part', () => {
  for (let place = 0; place < PLACES; place++) {
    const cut = bytes.subarray(0, Math.floor((place * bytes.length) / PLACES))
    assert.throws(() => openIn(cut, info), Damage)
    assert.throws(() => readFooter(filesOf(cut).open('')), Damage)
  }
  assert.throws(() => openIn(Uint8Array.of(...bytes, 0), info), Damage)
})

test('zeros in place of a piece of the file are found', async () => {
  for (let at = 0; at < bytes.length; at += 512) {
    const zeroed = bytes.slice()
    zeroed.fill(0, at, at + 512)
    const part = attempt(() => openIn(zeroed, info))
    if (part === null) continue
    assert.ok(read(part, tags).every((text, i) => text === null || text === expected[i]))
    assert.ok((await part.check(never)).problems.length > 0, `at ${at}`)
    part.close()
  }
})

test('whatever a page with a right checksum says, it is read or damaged', async () => {
  const pages: [Uint8Array<ArrayBuffer>, (page: Uint8Array<ArrayBuffer>) => unknown][] = []
  const folder = `${import.meta.dirname}/../../../test/fixtures/part-v1`
  for (const { name } of [POINTS_PART, TAGS_PART, PACKED_PART]) {
    const all = readFile(systemFiles, `${folder}/${name}`)
    const { sections } = readFooter(filesOf(all).open(''))
    const cut = ({ at, bytes }: { at: number; bytes: number }) => all.slice(at, at + bytes)
    const table = new PageTable(cut(sections.table))
    const readSmall = (page: Uint8Array<ArrayBuffer>) => {
      const small = new SmallPage(page)
      for (let run = 0; run < small.tags.length; run++) attempt(() => small.points(run))
    }
    for (let i = 0; i < table.small.count; i++) {
      pages.push([cut({ at: table.small.at(i), bytes: table.small.bytes(i) }), readSmall])
    }
    for (let i = 0; i < table.index.count; i++) {
      const page = cut({ at: table.index.at(i), bytes: table.index.bytes(i) })
      pages.push([page, (other) => new IndexPage(other)])
      const { columns } = new IndexPage(page.slice())
      const at = columns.runAt[0]!
      const size = columns.sizes[0]!
      const view = new BlockView()
      pages.push([all.slice(at, at + size), (block) => view.open(block, block.length).columns()])
      pages.push([all.slice(at + size, at + size + 200), (other) => new SummaryPage(other)])
    }
    pages.push([cut(sections.table), (page) => new PageTable(page)])
    pages.push([cut(sections.tombstones), decodeTombstones])
    pages.push([cut(sections.smallTags), (page) => [...new TagSet(page)].length])
    pages.push([cut(sections.largeTags), (page) => new TagSet(page).has(7)])
  }
  assert.ok(pages.filter(([page]) => isSound(page)).length >= pages.length - 2)
  const change = fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(0, 127, 128, 255)))
  fc.assert(
    fc.property(
      fc.nat(pages.length - 1),
      fc.array(change, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      (number, changes, isHead) => {
        const [page, parse] = pages[number]!
        const changed = page.slice()
        for (const [at, value] of changes)
          changed[at % (isHead ? Math.min(64, page.length) : page.length)] = value
        addChecksum(changed)
        attempt(() => parse(changed))
      },
    ),
    { numRuns: 20_000 },
  )
})
