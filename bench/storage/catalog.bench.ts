import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { literalPrefix, parseTagPattern } from '../../src/historian/tag-pattern.ts'
import { foldCase } from '../../src/series/tag-names.ts'
import { openCatalogStore } from '../../src/storage/catalog/file-catalog-store.ts'
import { MemoryCatalog } from '../../src/storage/catalog/memory-catalog.ts'
import { systemFiles } from '../../src/storage/files/system-files.ts'
import { Pacer } from '../../src/storage/pause.ts'
import { searchTags } from '../../src/storage/search/search-tags.ts'
import { expect, type Measurement, measure, seededRandom } from '../measure.ts'

// A catalog of a million tags in memory: making them, finding them by name, searching them, and their file. Names come
// in no order.

const TAGS = 1_000_000
const A_RECORD = 10_000
const LOOK_UPS = 100_000
const LIMIT = 1_000
const WORDS = ['Feed water', 'Steam', 'pump', 'valve', 'Temperature', 'level', 'Boiler', 'main', 'pressure']

const measurements: Measurement[] = []
const random = seededRandom(1)
const order = Uint32Array.from({ length: TAGS }, (_, i) => i)
for (let i = TAGS - 1; i > 0; i--) {
  const other = Math.floor(random() * (i + 1))
  ;[order[i], order[other]] = [order[other]!, order[i]!]
}
const nameOf = (i: number) =>
  `PLANT${i % 2}/AREA${String(Math.floor(i / 1000)).padStart(4, '0')}/UNIT-${String(i % 1000).padStart(4, '0')}.PV`
const descriptionOf = (i: number) => `${WORDS[i % 9]} ${WORDS[Math.floor(i / 7) % 9]} ${i}`

const catalog = new MemoryCatalog()
const start = performance.now()
const before = process.memoryUsage().external
let texts = 0
for (let at = 0; at < TAGS; at += A_RECORD) {
  const draft = catalog.draft()
  for (const i of order.subarray(at, at + A_RECORD)) {
    const [name, description] = [nameOf(i), descriptionOf(i)]
    texts += name.length + description.length
    if (draft.idOf(name) === 0) draft.create({ name, description, units: 'bar', stepped: false })
  }
  catalog.apply(draft.take()!)
}
const elapsed = performance.now() - start
expect(catalog.size === TAGS, 'tags')
const bytes = (process.memoryUsage().external - before - texts) / TAGS
measurements.push({
  name: 'storage/catalog/make',
  runs: 1,
  medianMs: elapsed,
  p99Ms: elapsed,
  items: TAGS,
  note: `${bytes.toFixed(0)} bytes a tag beside its name and description`,
})

const names = Array.from({ length: LOOK_UPS }, () => nameOf(Math.floor(random() * TAGS)))
const rounds = { warmUps: 2, runs: 10 }
measurements.push(
  await measure(
    'storage/catalog/id-of',
    () => expect(!names.some((name) => catalog.idOf(name) === 0), 'ids'),
    { ...rounds, items: LOOK_UPS },
  ),
  await measure(
    'storage/catalog/find',
    () => expect(!names.some((name) => catalog.find(name)?.name !== name), 'tags'),
    { ...rounds, items: LOOK_UPS },
  ),
)

async function search(label: string, text: string | null): Promise<void> {
  const matches = text === null ? null : parseTagPattern(text).matches
  let found = 0
  for (let i = 0; i < TAGS && found < LIMIT; i++) {
    if (matches?.(nameOf(i), descriptionOf(i)) ?? true) found++
  }
  const run = async () => {
    const pacer = new Pacer()
    const pace = { isDue: () => pacer.isDue(), pause: () => pacer.pause() }
    const hints =
      text === null
        ? { foldedPrefix: '' }
        : { foldedPrefix: literalPrefix(text), foldedPattern: foldCase(text) }
    const { tags } = await searchTags(catalog, { matches, ...hints, after: null, limit: LIMIT }, pace)
    expect(tags.length === found, `${label} finds ${tags.length}`)
  }
  // The first one puts the texts in order, which is a figure of its own.
  const first = performance.now()
  await run()
  const note = `the first one ${(performance.now() - first).toFixed(0)} ms`
  measurements.push(await measure(`storage/catalog/search/${label}`, run, { ...rounds, note }))
}

await search('all', null)
await search('prefix', 'plant1/area0500/*')
await search('prefix-of-half', 'plant1/*')
await search('prefix-of-description', 'feed water pump 12*')
await search('nothing', 'zzzzz')
await search('rare', 'unit-0777.pv')
await search('half', 'plant1')
await search('stars', '*a*a*a*b')
await search('no-ascii', 'ø')

const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
const store = openCatalogStore(systemFiles, folder, '00000001')
let ref = await store.append(catalog, [], null)
measurements.push(
  await measure(
    'storage/catalog/write-file',
    async () => {
      ref = await store.append(catalog, [], null)
    },
    { warmUps: 0, runs: 3, items: TAGS, note: `${(ref.bytes / TAGS).toFixed(0)} bytes a tag` },
  ),
  await measure(
    'storage/catalog/load-file',
    async () => expect((await store.load(ref)).size === TAGS, 'loaded tags'),
    { warmUps: 1, runs: 3, items: TAGS },
  ),
)
rmSync(folder, { recursive: true })
console.log(JSON.stringify(measurements))
