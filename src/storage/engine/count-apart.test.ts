import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/durability/folder.ts'
import { randomOf } from '../../../test/durability/random.ts'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { systemFiles } from '../files/system-files.ts'
import { openPartStore } from '../parts/file-part-store.ts'
import type { Tombstone } from '../parts/part.ts'
import { writePart } from '../parts/parts.fixture.ts'
import { NO_WATERMARK } from '../retention/tag-watermarks.ts'
import { countApart } from './count-apart.ts'
import { PACE } from './layered-blocks.fixture.ts'
import type { LivePart } from './part-set.ts'
import { countAll } from './plan-changes.ts'
import { blocksOf } from './tag-sources.ts'

const TAGS = 200
const PARTS = 4
const random = randomOf(20261129)

/** Points a second apart. */
function pointsFrom(start: number, count: number): PointColumns {
  const points = makeColumns(count)
  for (let i = 0; i < count; i++) {
    points.times[i] = (start + i) * 1_000_000
    points.values[i] = random(1_000) / 8
  }
  return points
}

const someTags = (share: number) =>
  Array.from({ length: TAGS }, (_, i) => i + 1).filter(() => random(100) < share)

/** Times of part i begin at 1,000 i: some reach into those of the next one. */
const someRun = (part: number) =>
  pointsFrom(1_000 * part + random(100), random(20) === 0 ? 950 + random(300) : 1 + random(300))

test('what is counted of a tag at once is what its blocks have, in parts and in memory', async (t) => {
  const store = openPartStore(systemFiles, temporaryFolder(t), { cacheBytes: 1 << 20 })
  const parts: LivePart[] = []
  const tombstones = new Map<number, readonly Tombstone[]>()
  for (let i = 0; i < PARTS; i++) {
    const runs = someTags(60).map((tag) => [tag, someRun(i)] as const)
    const info = await writePart(store, `${i}.part`, { runs, tombstones: [] }, [i + 1, i + 1])
    parts.push({ info, part: store.open(info), damage: null })
  }
  t.after(() => {
    for (const { part } of parts) part!.close()
  })
  for (const tag of someTags(10)) {
    tombstones.set(tag, [{ tag, from: 1_500e6, to: 1_600e6, sequence: 9 }])
  }
  const inMemory = new Map(someTags(40).map((tag) => [tag, [someRun(PARTS - random(2))]]))
  const set = { parts, tombstones: (tag: number) => tombstones.get(tag) ?? [], lostTombstones: null }
  const memory = {
    layers: (tag: number) => inMemory.get(tag) ?? [],
    tombstones: () => [],
  }
  let apart = 0
  for (let tag = 1; tag <= TAGS; tag++) {
    const found = countApart(tag, set, memory, NO_WATERMARK)
    const held = { layers: memory.layers(tag), tombstones: [], watermark: NO_WATERMARK }
    const wanted = await countAll(
      () => blocksOf(tag, set, held),
      PACE,
      () => false,
    )
    if (found !== null) {
      assert.equal(found, wanted, `tag ${tag}`)
      apart++
    } else if (!tombstones.has(tag)) {
      const places = parts.filter(({ part }) => part!.has(tag)).length + held.layers.length
      assert.ok(places > 1, `tag ${tag} has its points in one place`)
    }
    if (tombstones.has(tag)) assert.equal(found, null)
    assert.equal(countApart(tag, set, memory, 0), null, 'retention hides some')
    const taken = { ...memory, tombstones: () => [{ tag, from: 0, to: 1, sequence: 10 }] }
    assert.equal(countApart(tag, set, taken, NO_WATERMARK), null, 'some are taken away')
    const lost = { ...set, lostTombstones: parts[0]! }
    assert.equal(countApart(tag, lost, memory, NO_WATERMARK), null, 'what is taken away is not known')
  }
  assert.ok(apart > TAGS / 2 && apart < TAGS, `${apart} tags`)
})
