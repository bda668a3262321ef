import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { modelOf, open, signal } from '../../../test/durability/workload.ts'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { planReplay } from '../archive/read-archive.ts'
import type { FileStore } from '../engine/file-store.ts'
import { openFileStore } from '../engine/open-file-store.ts'
import { FailingFiles } from '../files/failing-files.fixture.ts'
import { systemFiles } from '../files/system-files.ts'
import { listManifests, readManifest } from '../manifest/manifest-file.ts'
import { AlreadyOwned } from '../ownership/ownership.ts'
import { LogRewriter } from '../wal/log-rewriter.ts'
import { SEGMENT_HEADER_BYTES, segmentName } from '../wal/segment.ts'
import { repairHistorian } from './repair-historian.ts'
import {
  asideIn,
  assertTakesWrites,
  CONSEQUENCE,
  contentOf,
  flipBit,
  groupsIn,
  harmRecord,
  live,
  repair,
  segmentsIn,
  write,
} from './repaired-log.fixture.ts'

const DAMAGES: readonly { readonly what: string; harm(path: string): void }[] = [
  { what: 'the last record is changed', harm: (path) => harmRecord(path, groupsIn(path).length - 2) },
  { what: 'the header is changed', harm: (path) => flipBit(path, 20) },
  { what: 'the random numbers in the header are changed', harm: (path) => flipBit(path, 41) },
  {
    what: 'the header and the first group are changed',
    harm: (path) => [20, 70].map((at) => flipBit(path, at)),
  },
  { what: 'the end is missing', harm: (path) => truncateSync(path, groupsIn(path).at(-1)! - 4) },
  { what: 'all but the header is missing', harm: (path) => truncateSync(path, SEGMENT_HEADER_BYTES) },
  { what: 'the file is empty', harm: (path) => truncateSync(path, 0) },
  { what: 'the file is missing', harm: (path) => rmSync(path) },
]

/** What each of them costs of two records. */
const COSTS: Readonly<Record<string, readonly string[]>> = {
  'the header is changed': [],
  'the random numbers in the header are changed': [],
  'the last record is changed': ['b'],
  'the end is missing': ['b'],
  'the header and the first group are changed': ['a'],
}

for (const isAccepted of [false, true]) {
  for (const { what, harm } of DAMAGES) {
    test(`${what} of a segment that ${isAccepted ? 'a later' : 'the last'} owner accepted: a repair keeps the rest, and changes are taken again`, async (t) => {
      const folder = temporaryFolder(t)
      await live(folder, async (store) => {
        await write(store, 'flushed')
        await store.flush()
        for (const tag of ['a', 'b']) await write(store, tag)
      })
      if (isAccepted) await live(folder, (store) => write(store, 'c'))
      const segments = segmentsIn(folder)
      harm(segments[0]!)
      const { isSound, isLogAnew, lost, aside } = await repair(folder)
      assert.deepEqual([isSound, isLogAnew], [false, true])
      const costs = COSTS[what] ?? ['a', 'b']
      assert.equal(lost.length > 0, costs.length > 0, lost.join('\n'))
      if (costs.length > 0) {
        assert.match(lost[0]!, /^records? /)
        assert.match(lost.at(-1)!, CONSEQUENCE)
      }
      const rest = ['a', 'b', ...(isAccepted ? ['c'] : [])].filter((tag) => !costs.includes(tag))
      assert.deepEqual(Object.keys(await contentOf(folder)), [...rest, 'flushed'].sort())
      const there = segments.filter((path) => !(what === 'the file is missing' && path === segments[0]))
      assert.deepEqual(
        [...aside],
        there.map((path) => path.slice(-21)),
      )
      assert.deepEqual(asideIn(folder), [...aside])
      await assertTakesWrites(folder)
    })
  }
}

test('lost records are named by their numbers, with what is wrong', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['a', 'b', 'c', 'd', 'e', 'f']) await write(store, tag)
  })
  const [path] = segmentsIn(folder)
  harmRecord(path!, 1)
  harmRecord(path!, 4)
  flipBit(path!, groupsIn(path!)[3]! + 10)
  const { lost } = await repair(folder)
  assert.deepEqual(lost.slice(0, -1), [
    'record 2 of the log: the checksum of record 2 of the log is wrong',
    'records 4 to 5 of the log',
    lost[2],
  ])
  assert.match(lost[2]!, /^bytes \d+ to \d+ of a segment of the log cannot be read$/)
  assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'c', 'f'])
})

/** Has the log go on in another segment: a group of the one before has failed, of which nothing counts. */
async function nextSegment(files: FailingFiles, store: FileStore): Promise<void> {
  files.plan = (call) => (call === 'sync' ? { code: 'EIO' } : null)
  await assert.rejects(write(store, 'unknown'), { code: 'WRITE_OUTCOME_UNKNOWN' })
  files.plan = () => null
}

for (const isManifestThere of [true, false]) {
  const manifest = isManifestThere ? 'with a manifest' : 'without a manifest'
  /** A log of three segments, with two changes in each. */
  const threeSegments = async (folder: string) => {
    const files = new FailingFiles(systemFiles)
    const change = async (store: FileStore) => {
      for (const tag of ['a', 'b', 'c', 'd', 'e', 'f']) {
        await write(store, tag)
        if (tag === 'b' || tag === 'd') await nextSegment(files, store)
      }
    }
    await live(folder, change, files)
    if (!isManifestThere) rmSync(join(folder, 'manifest'), { recursive: true })
    return segmentsIn(folder)
  }

  test(`of a log with a segment missing in the middle all else is kept, ${manifest}`, async (t) => {
    const folder = temporaryFolder(t)
    const [, second] = await threeSegments(folder)
    rmSync(second!)
    const { lost } = await repair(folder)
    // Only the segment that is missing said that the sync of what is there as record 3 had failed.
    const other = 'if that was in a segment that is missing or damaged, and not what is there'
    assert.ok(lost.includes(`what was acknowledged as record 3 of the log, ${other}`), lost.join('\n'))
    assert.ok(lost.includes('record 4 of the log'), lost.join('\n'))
    assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'b', 'e', 'f', 'unknown'])
    await assertTakesWrites(folder)
  })

  test(`of a log whose last segment is missing all else is kept, and it is told, ${manifest}`, async (t) => {
    const folder = temporaryFolder(t)
    const segments = await threeSegments(folder)
    rmSync(segments[2]!)
    const { lost } = await repair(folder)
    assert.match(
      lost.join('\n'),
      /what was acknowledged as record 5 of the log, if that was in a segment that/,
    )
    assert.match(lost.join('\n'), /record 6 of the log|records 6 to 6/)
    assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'b', 'c', 'd', 'unknown'])
    await assertTakesWrites(folder)
  })

  test(`a group that its owner gave up does not take the place of another one behind a damaged header, ${manifest}`, async (t) => {
    const folder = temporaryFolder(t)
    const [, second, third] = await threeSegments(folder)
    for (const path of [second!, third!]) flipBit(path, 50)
    assert.deepEqual((await repair(folder)).lost, [])
    assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'b', 'c', 'd', 'e', 'f'])
    await assertTakesWrites(folder)
  })

  test(`damage of the published end is told, never cut; what was not published and is torn is cut, ${manifest}`, async (t) => {
    const folder = temporaryFolder(t)
    const [first, , third] = await threeSegments(folder)
    harmRecord(third!, 1)
    // As a power cut leaves the next group, which nobody was answered for.
    const bytes = readFileSync(third!)
    const [start, second, end] = groupsIn(third!)
    bytes.copy(bytes, end!, start, second! - 8)
    writeFileSync(third!, bytes.subarray(0, end! + second! - start! - 8))
    harmRecord(first!, 0)
    const { lost } = await repair(folder)
    assert.match(lost[0]!, /^record 1 of the log/)
    assert.match(lost[1]!, /^record 6 of the log/)
    assert.deepEqual(Object.keys(await contentOf(folder)), ['b', 'c', 'd', 'e'])
    await assertTakesWrites(folder)
  })

  test(`a part, the catalog and the log are repaired together, ${manifest}`, async (t) => {
    const folder = temporaryFolder(t)
    await live(folder, async (store) => {
      for (const tag of ['p', 'q']) await write(store, tag, 1)
      await store.flush()
      await write(store, 'r', 2)
      await store.flush()
      for (const tag of ['x', 'y', 'z']) await write(store, tag, 3)
      await write(store, 'r', 4)
    })
    if (!isManifestThere) rmSync(join(folder, 'manifest'), { recursive: true })
    const [part] = readdirSync(join(folder, 'parts')).sort()
    flipBit(join(folder, 'parts', part!), 20)
    const catalog = join(folder, 'catalog', readdirSync(join(folder, 'catalog')).at(-1)!)
    truncateSync(catalog, readFileSync(catalog).length - 3)
    harmRecord(segmentsIn(folder)[0]!, 1)
    const { isSound, isLogAnew, lost } = await repair(folder)
    assert.deepEqual([isSound, isLogAnew], [false, true])
    for (const what of [/^part .*points/, /of the catalog/, /^record 5 of the log/])
      assert.ok(
        lost.some((one) => what.test(one)),
        `${what}: ${lost.join('\n')}`,
      )
    const found = await contentOf(folder)
    // What made r was in the catalog; it has points in the log, and in a part.
    assert.deepEqual([found.x, found.y, found.z], [[3], undefined, [3]])
    assert.deepEqual(found['recovered-3'], [2, 4])
    await assertTakesWrites(folder)
  })
}

test('a log is repaired as soon as no process owns the historian, and the next owner of its folder may have known it', async (t) => {
  const folder = temporaryFolder(t)
  const store = await open(systemFiles, folder)
  await write(store, 'a')
  await assert.rejects(repair(folder), AlreadyOwned)
  await write(store, 'b')
  await store.close()
  const versionNow = () => {
    const manifests = join(folder, 'manifest')
    return readManifest(systemFiles, manifests, listManifests(systemFiles, manifests).at(-1)!).version
  }
  const { id, token } = versionNow()
  harmRecord(segmentsIn(folder)[0]!, 0)
  const before = { id, token, lastSequence: 2 }
  await repairHistorian(systemFiles, folder, { historian: 'plant', before }, signal)
  // Again, before anybody has opened it.
  harmRecord(segmentsIn(folder)[0]!, 0)
  await repairHistorian(systemFiles, folder, { historian: 'plant', before }, signal)
  assert.notEqual(versionNow().id, id)
  const again = await openFileStore(folder, { historian: 'plant', owner: true, before })
  await again.checkHealth(signal)
  await write(again, 'c')
  await again.close()
})

test('a log that is too long for one segment is written to several, and read as it was', async (t) => {
  const folder = temporaryFolder(t)
  const count = 1_500_000
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = i * 3 + (i % 2)
    points.values[i] = i
  }
  const tags = ['a', 'b', 'c', 'd']
  await live(folder, async (store) => {
    for (const tag of tags) await store.write(writeBatch([{ tag, points }], true), signal)
    for (const tag of ['e', 'f']) await write(store, tag)
  })
  harmRecord(segmentsIn(folder)[0]!, 4)
  assert.equal((await repair(folder)).lost.length, 2)
  assert.equal(segmentsIn(folder).length, 2)
  const store = await open(systemFiles, folder)
  for (const tag of tags) {
    const [read] = await store.readRanges([{ tag, from: 0, to: 1e9, order: 'asc', limit: 1e7 }], signal)
    assert.deepEqual(read!.points.times, points.times)
    assert.deepEqual(read!.points.values, points.values)
  }
  assert.deepEqual(
    (await store.findTags(['e', 'f'], signal)).map((tag) => tag?.name),
    [undefined, 'f'],
  )
  await store.close()
})

test('a change that came through an archive before the damage is in it still, and what follows has an archive of its own', async (t) => {
  const base = temporaryFolder(t)
  const folder = join(base, 'plant')
  const archive = join(base, 'archive')
  for (const one of [folder, archive]) mkdirSync(one)
  const openArchived = () =>
    openFileStore(folder, {
      historian: 'plant',
      owner: true,
      limits: { reserveBytes: 0 },
      archive: { folder: archive, everyMs: 1e9, keepBytes: 1e9 },
    })
  const first = await openArchived()
  for (const tag of ['a', 'b']) await write(first, tag)
  await first.close()
  const archives = join(archive, 'plant')
  const [id] = readdirSync(archives)
  const archivedOf = (one: string) => readdirSync(join(archives, one)).sort()
  const before = archivedOf(id!)
  harmRecord(segmentsIn(folder)[0]!, 0)
  await repair(folder)
  const again = await openArchived()
  await write(again, 'c')
  await again.close()
  assert.deepEqual(archivedOf(id!), before)
  // It leads from a backup that is made now, of which the log has three records, to all that came since.
  const anew = readdirSync(archives).find((one) => one !== id)!
  const archived = { folder: join(archives, anew), id: anew }
  const { steps, lastSequence } = planReplay(systemFiles, archived, 3, null, signal)
  assert.deepEqual([steps.length, lastSequence], [1, 4])
})

test('without a manifest what a repair was about to write, as it was cut off, does not stand for what is there', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['a', 'b']) await write(store, tag)
  })
  const wal = join(folder, 'wal')
  const rewriter = new LogRewriter(systemFiles, wal, 9, 1, () => 0, 1)
  for (let number = 1; number < 5; number++) {
    rewriter.fill(number)
    rewriter.endGroup()
  }
  rewriter.finish()
  // The first one comes to its name when all others have theirs.
  rmSync(join(wal, segmentName(9, 1)))
  rmSync(join(folder, 'manifest'), { recursive: true })
  assert.deepEqual((await repair(folder)).lost, [])
  assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'b'])
})

test('a repair of the log that finds no room leaves it as it was, and is made when there is some', async (t) => {
  const folder = temporaryFolder(t)
  await live(folder, async (store) => {
    for (const tag of ['a', 'b', 'c']) await write(store, tag)
  })
  const [path] = segmentsIn(folder)
  harmRecord(path!, 1)
  const before = readFileSync(path!)
  for (const call of ['create', 'write', 'sync', 'rename'] as const) {
    const files = new FailingFiles(systemFiles, (one, at) =>
      one === call && at.includes('.wal') ? { code: 'ENOSPC', short: true } : null,
    )
    await assert.rejects(repair(folder, files), { code: 'ENOSPC' })
    assert.deepEqual([segmentsIn(folder), asideIn(folder)], [[path], []])
    assert.deepEqual(readFileSync(path!), before)
    assert.deepEqual(
      readdirSync(join(folder, 'wal')).filter((name) => name.endsWith('.new')),
      [],
    )
    // It is read as before.
    const store = await open(systemFiles, folder)
    assert.deepEqual([...(await modelOf(store)).keys()], ['a', 'c'])
    await store.close()
  }
  await repair(folder)
  assert.deepEqual(Object.keys(await contentOf(folder)), ['a', 'c'])
})
