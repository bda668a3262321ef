import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { literalPrefix, narrowest, parseTagPattern } from '../../historian/tag-pattern.ts'
import { compareNames, foldCase } from '../../series/tag-names.ts'
import { MemoryCatalog } from '../catalog/memory-catalog.ts'
import { caseVariants } from './case-variants.ts'
import type { Search } from './search.ts'
import { searchTags, searchWith } from './search-tags.ts'

interface Tag {
  readonly name: string
  readonly description: string | null
}

/** Characters that meet in one case. */
const PLAIN = [...'aAbBkS/- øØßσς水\u{10428}\u{10400}']
/** With all that fold to ASCII from elsewhere, and half a character: the bytes of texts with them tell less. */
const OPAQUE = [...PLAIN, ...'iIKsſı\ud800\u212a']
const character = fc.constantFrom(...OPAQUE)
const textOf = (characters: readonly string[]) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...characters), maxLength: 6 }),
    fc
      .string({ unit: fc.constantFrom(...characters), maxLength: 3 })
      .map((end) => `${'aB-'.repeat(50)}${end}`),
  )
const text = textOf(OPAQUE)
const tagsOf = (characters: readonly string[]) =>
  fc.uniqueArray(fc.record({ name: textOf(characters), description: fc.option(textOf(characters)) }), {
    selector: ({ name }) => name,
    maxLength: 40,
  })
const tags = fc.oneof(tagsOf(OPAQUE), tagsOf(PLAIN))
const pattern = fc.option(
  fc.string({
    unit: fc.oneof(character, fc.constantFrom('*', '*', '?', ' ', '"')),
    minLength: 1,
    maxLength: 8,
  }),
)

function catalogOf(entries: readonly Tag[], records = 3): MemoryCatalog {
  const catalog = new MemoryCatalog()
  for (let at = 0; at < entries.length; at += records) add(catalog, entries.slice(at, at + records))
  return catalog
}

function add(catalog: MemoryCatalog, entries: readonly Tag[]): void {
  const draft = catalog.draft()
  for (const entry of entries) draft.create({ units: null, stepped: false, ...entry })
  const changes = draft.take()
  if (changes !== null) catalog.apply(changes)
}

function searchOf(text: string | null, after: string | null, limit: number): Search {
  if (text === null) return { matches: null, foldedPrefix: '', after, limit }
  const pattern = parseTagPattern(text)
  const glob = narrowest(pattern)
  const { matches } = pattern
  return { matches, foldedPrefix: literalPrefix(glob), foldedPattern: foldCase(glob), after, limit }
}

function expected(entries: readonly Tag[], { matches, after, limit }: Search) {
  const found = entries
    .filter(({ name, description }) => matches?.(name, description) ?? true)
    .filter(({ name }) => after === null || compareNames(name, after) > 0)
    .sort((a, b) => compareNames(a.name, b.name))
  return { names: found.slice(0, limit).map(({ name }) => name), more: found.length > limit }
}

/** Lets others in after every so many looks, and does something then. */
function paceOf(every: number, then: () => void = () => {}) {
  let looks = 0
  return {
    isDue: () => ++looks % every === 0,
    pause: async () => then(),
  }
}

async function search(catalog: MemoryCatalog, wanted: Search, pace = paceOf(3)) {
  const page = await searchTags(catalog, wanted, pace)
  return { names: page.tags.map(({ name }) => name), more: page.more }
}

test('a search finds what a look at each tag finds, in order, by pages, whatever its pattern', async () => {
  await fc.assert(
    fc.asyncProperty(
      tags,
      pattern,
      fc.option(text),
      fc.integer({ min: 1, max: 50 }),
      async (entries, text, after, limit) => {
        const wanted = searchOf(text, after, limit)
        const catalog = catalogOf(entries)
        assert.deepEqual(await search(catalog, wanted), expected(entries, wanted))
        // Without hints it is the same.
        const bare = { matches: wanted.matches, foldedPrefix: '', after, limit }
        assert.deepEqual(await search(catalog, bare), expected(entries, wanted))
        // So it is on the ways that searches of many tags go.
        for (const descriptions of [0, 100]) {
          const { tags, more } = await searchWith({ descriptions, sample: 1 })(catalog, wanted, paceOf(3))
          const names = tags.map(({ name }) => name)
          assert.deepEqual({ names, more }, expected(entries, wanted))
        }
      },
    ),
    { numRuns: 700 },
  )
})

test('characters that become ASCII in lower case are found by it, and the other way round', async () => {
  for (const [character, ascii] of [
    ['\u0131', 'i'],
    ['\u017f', 's'],
    ['\u212a', 'k'],
  ] as const) {
    const entries = [`x${character}123`, `x${ascii}123`, `x${ascii.toUpperCase()}123`, 'x0123'].map(
      (name) => {
        return { name, description: null }
      },
    )
    const catalog = catalogOf(entries)
    for (const pattern of [`x${ascii}1*`, `${ascii}123`, `*${character}123`, `*${ascii}1?3`, character]) {
      for (const sample of [1, 100]) {
        const run = searchWith({ descriptions: 100, sample })
        const { tags } = await run(catalog, searchOf(pattern, null, 9), paceOf(3))
        assert.equal(tags.length, 3, `${pattern} ${sample}`)
      }
    }
  }
})

test('a search sees what was changed since the last one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(tags, { maxLength: 4 }), pattern, fc.nat(), async (rounds, text, seed) => {
      const catalog = new MemoryCatalog()
      const model = new Map<string, Tag>()
      const wanted = searchOf(text, null, 10)
      for (const [round, entries] of rounds.entries()) {
        const draft = catalog.draft()
        for (const [i, entry] of entries.entries()) {
          const found = draft.find(entry.name)
          if (found === null) draft.create({ units: null, stepped: false, ...entry })
          else if ((seed + i + round) % 3 === 0) draft.remove(found)
          else draft.change(found, { ...found, ...entry })
          if (found !== null && (seed + i + round) % 3 === 0) model.delete(entry.name)
          else model.set(entry.name, entry)
        }
        const changes = draft.take()
        if (changes !== null) catalog.apply(changes)
        assert.deepEqual(await search(catalog, wanted), expected([...model.values()], wanted))
      }
    }),
  )
})

/** Enough for several chunks of memory, most of which change. */
const MANY = Array.from({ length: 12_000 }, (_, i) => ({
  name: `${i % 2 === 0 ? 'Area' : 'area'}/${(i * 7_919) % 12_000}`,
  description: `${i % 3 === 0 ? 'Feed' : 'feed'} pump ${i} ${'x'.repeat(250)}`,
}))

test('tags that nobody changes are found while all others change between two slices', async () => {
  const catalog = catalogOf(MANY, 4_000)
  const kept = MANY.filter((_, i) => i % 10 === 0)
  const others = MANY.filter((_, i) => i % 10 !== 0)
  let round = 0
  const change = () => {
    round++
    const draft = catalog.draft()
    for (const { name } of others.slice((round * 500) % 10_000).slice(0, 500)) {
      const found = draft.find(name)!
      draft.change(found, { ...found, description: `other ${round} ${'y'.repeat(250)}` })
    }
    catalog.apply(draft.take()!)
  }
  for (const pattern of ['area/*', 'feed pump*', '*PUMP*', 'AREA/1*', '*9']) {
    const wanted = searchOf(pattern, null, 20_000)
    const names = new Set((await search(catalog, wanted, paceOf(150, change))).names)
    const missing = expected(kept, wanted).names.filter((name) => !names.has(name))
    assert.deepEqual(missing, [], pattern)
    const current = MANY.map(({ name }) => catalog.find(name)!)
    const now = await search(catalog, { ...wanted, limit: 5_000 })
    assert.deepEqual(now, expected(current, { ...wanted, limit: 5_000 }), pattern)
  }
  assert.ok(round > 20, `${round} rounds`)
})

test('descriptions with the same beginning are found while their order changes whenever others are let in', async () => {
  const catalog = catalogOf(MANY, 4_000)
  const kept = MANY.filter((_, i) => i % 10 !== 0)
  const wanted = searchOf('feed pump*', null, 20_000)
  await search(catalog, wanted)
  let changes = 0
  const change = () => {
    // The order of names would never be up to date.
    if (changes === 60) return
    const draft = catalog.draft()
    const found = draft.find(MANY[10 * changes++]!.name)!
    draft.change(found, { ...found, description: `feed pump ${changes}` })
    catalog.apply(draft.take()!)
    // As another search that has the order brought up to date.
    while (!catalog.texts.order('description').step());
  }
  const names = new Set((await search(catalog, wanted, paceOf(1, change))).names)
  assert.equal(changes, 60)
  assert.deepEqual(
    expected(kept, wanted).names.filter((name) => !names.has(name)),
    [],
  )
})

test('pages join while they are built from an order that changes', async () => {
  const catalog = catalogOf(MANY.slice(0, 6_000), 1_000)
  for (const pattern of [null, 'area/*', '*pump*', 'feed pump 1*']) {
    const all: string[] = []
    for (let after: string | null = null, more = true; more; after = all.at(-1)!) {
      const page: { names: string[]; more: boolean } = await search(catalog, searchOf(pattern, after, 700))
      all.push(...page.names)
      more = page.more
    }
    assert.deepEqual(all, expected(MANY.slice(0, 6_000), searchOf(pattern, null, 1e9)).names, String(pattern))
  }
})

test('a search lets others in as often as it is told to, whatever it finds', async () => {
  const catalog = catalogOf(MANY, 4_000)
  for (const pattern of ['area/*', 'feed pump*', 'pump', '*9', 'no such text', '*', 'ø', '~']) {
    await search(catalog, searchOf(pattern, null, 5))
    let rests = 0
    let due = false
    const pace = {
      isDue: () => {
        assert.ok(!due, `${pattern}: it was due before`)
        due = true
        return true
      },
      pause: async () => {
        rests++
        due = false
      },
    }
    await search(catalog, searchOf(pattern, null, 5), pace)
    assert.ok(rests >= 5, `${pattern}: ${rests}`)
  }
})

test('a search that is told to end ends, and the next one goes on', async () => {
  const catalog = catalogOf(MANY, 4_000)
  const reason = new Error('over')
  for (let i = 0; i < 3; i++) {
    const pace = { isDue: () => true, pause: () => Promise.reject(reason) }
    await assert.rejects(search(catalog, searchOf('*', null, 10), pace), reason)
  }
  const wanted = searchOf('*', null, 10)
  assert.deepEqual(await search(catalog, wanted), expected(MANY, wanted))
})

test('the cases of a character are all that fold to it', () => {
  const byFold = new Map<string, string[]>()
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code)
    const folded = foldCase(character)
    byFold.set(folded, [...(byFold.get(folded) ?? []), character])
  }
  for (const [folded, characters] of byFold) assert.deepEqual(caseVariants(folded), characters)
})
