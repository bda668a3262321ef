import assert from 'node:assert/strict'
import type { MetadataPut, TagMetadata } from '../../src/historian/contract.ts'
import { parseTagPattern } from '../../src/historian/tag-pattern.ts'
import { writeBatch } from '../../src/historian/write-batch.ts'
import { compareNames } from '../../src/series/tag-names.ts'
import { assertPoints, EVER, points } from './points.ts'
import type { Bench, Promised } from './subject.ts'

const NONE: TagMetadata = { description: null, units: null, stepped: false }

/** Names that break naive code; every one of them is a tag of its own. */
export const HOSTILE_NAMES = [
  "it's",
  '"quoted"',
  'per%cent',
  'under_score',
  'semi;colon',
  '; DROP TABLE points; --',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the name is what others expand
  '${jndi:ldap://x}',
  '../../etc/passwd',
  'a/b/c',
  ' leading and trailing ',
  'back\\slash',
  '*',
  '?',
  '[a-z]',
  '(comma, bracket)',
  'plant',
  'Plant',
  'PLANT',
  'é',
  'e\u0301',
  'ß',
  'ss',
  'ſ',
  'İ',
  'i',
  'ı',
  '\u{1F525}',
  '\u{1F525}\u{1F1F3}\u{1F1F4}',
  '\ufffd',
  '\uffff',
  '\ue000',
  '\u{10ffff}',
  '\u200b',
  '\u202eright to left',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '0',
  'x'.repeat(512),
  `${'x'.repeat(511)}y`,
  'ø'.repeat(512),
  '\u{1F525}'.repeat(256),
]

async function search(bench: Bench, text: string | null, after: string | null = null, limit = 1_000) {
  const pattern = text === null ? null : parseTagPattern(text)
  const page = await bench.historian.searchTags({ pattern, after, limit }, bench.context)
  return { names: page.tags.map(({ name }) => name), more: page.more }
}

export function declareTagPromises(promised: Promised): void {
  promised('names are data, whatever they hold', async (bench) => {
    const { historian, context } = bench
    const tags = HOSTILE_NAMES.map((tag, index) => ({ tag, points: points([index, index]) }))
    await historian.write(writeBatch(tags, true), context)
    const entries = HOSTILE_NAMES.map((name) => ({
      name,
      metadata: { ...NONE, description: `about ${name}` },
    }))
    assert.deepEqual(
      await historian.putTags(entries, 'update', context),
      entries.map(() => 'stored'),
    )
    assert.deepEqual(
      await historian.findTags(HOSTILE_NAMES, context),
      entries.map(({ metadata }) => metadata),
    )
    const read = await historian.readRanges(
      HOSTILE_NAMES.map((tag) => ({ tag, ...EVER, order: 'asc', limit: 2 })),
      context,
    )
    read.forEach((result, index) => {
      assertPoints(result.points, points([index, index]), HOSTILE_NAMES[index])
    })
    const found = await search(bench, null)
    assert.deepEqual(
      found.names.filter((name) => HOSTILE_NAMES.includes(name)),
      HOSTILE_NAMES.toSorted(compareNames),
    )
  })

  promised('metadata of a missing tag is null, and of a tag made by a write is empty', async (bench) => {
    const { historian, context } = bench
    const tag = bench.tag()
    await historian.write(writeBatch([{ tag, points: points() }], true), context)
    assert.deepEqual(await historian.findTags([bench.tag(), tag], context), [null, NONE])
  })

  promised('whether tags exist is what their metadata says', async (bench) => {
    const { historian, context } = bench
    const [made, gone] = [bench.tag(), bench.tag()]
    for (const tag of [made, gone])
      await historian.write(writeBatch([{ tag, points: points() }], true), context)
    await historian.deleteTags?.([gone], false, context)
    const names = [bench.tag(), made, gone, made, ...HOSTILE_NAMES]
    const found = await historian.findTags(names, context)
    const wanted = Uint8Array.from(found, (metadata) => (metadata === null ? 0 : 1))
    assert.deepEqual([wanted[0], wanted[1], wanted[3]], [0, 1, 1])
    if (historian.hasTags !== undefined) assert.deepEqual(await historian.hasTags(names, context), wanted)
  })

  promised('create, update and upsert store as they say, and tell what they left alone', async (bench) => {
    const { historian, context } = bench
    const [one, two] = [bench.tag(), bench.tag()]
    const entry = (name: string, units: string) => ({
      name,
      metadata: { description: null, units, stepped: true },
    })
    const put = (mode: 'create' | 'update' | 'upsert', ...entries: ReturnType<typeof entry>[]) =>
      historian.putTags(entries, mode, context)
    assert.deepEqual(await put('update', entry(one, 'a')), ['missing'])
    assert.deepEqual(await put('create', entry(one, 'b')), ['stored'])
    assert.deepEqual(await put('create', entry(one, 'c'), entry(two, 'c')), ['exists', 'stored'])
    assert.deepEqual(await put('update', entry(two, 'd')), ['stored'])
    assert.deepEqual(await put('upsert', entry(one, 'e'), entry(two, 'e')), ['stored', 'stored'])
    const found = await historian.findTags([one, two], context)
    assert.deepEqual(
      found.map((metadata) => metadata?.units),
      ['e', 'e'],
    )
  })

  promised('metadata survives the round trip, and changing it leaves the points alone', async (bench) => {
    const { historian, context } = bench
    const tag = bench.tag()
    await historian.write(writeBatch([{ tag, points: points([1, 1]) }], true), context)
    const all: TagMetadata[] = [
      { description: '', units: '', stepped: true },
      { description: '\u{1F525} line\nbreak "quoted"', units: 'm³/h', stepped: false },
      { description: 'x'.repeat(20_000), units: null, stepped: true },
      NONE,
    ]
    for (const metadata of all) {
      await historian.putTags([{ name: tag, metadata }], 'upsert', context)
      assert.deepEqual(await historian.findTags([tag], context), [metadata])
    }
    const [read] = await historian.readRanges([{ tag, ...EVER, order: 'asc', limit: 2 }], context)
    assertPoints(read!.points, points([1, 1]))
  })

  promised('maxGap and states stay when a change leaves them out, and go with null', async (bench) => {
    const { historian, context } = bench
    const tag = bench.tag()
    const put = async (metadata: MetadataPut, mode: 'create' | 'update' | 'upsert' = 'update') => {
      await historian.putTags([{ name: tag, metadata }], mode, context)
      const [found] = await historian.findTags([tag], context)
      return found
    }
    const states = { '0': 'Closed', '1': 'Open "wide"\n\u{1F525}', '-1.5': "o'n" }
    const changes: readonly (readonly [MetadataPut, TagMetadata])[] = [
      [
        { ...NONE, maxGap: '90s' },
        { ...NONE, maxGap: '90s' },
      ],
      [
        { ...NONE, units: 'x' },
        { ...NONE, units: 'x', maxGap: '90s' },
      ],
      [
        { ...NONE, states },
        { ...NONE, stepped: true, maxGap: '90s', states },
      ],
      [
        { ...NONE, maxGap: null },
        { ...NONE, stepped: true, states },
      ],
      [
        { ...NONE, maxGap: '1d' },
        { ...NONE, stepped: true, maxGap: '1d', states },
      ],
      [
        { ...NONE, states: null },
        { ...NONE, maxGap: '1d' },
      ],
      [{ ...NONE, maxGap: null, states: null }, NONE],
    ]
    assert.deepEqual(await put({ ...NONE, maxGap: null, states: null }, 'create'), NONE)
    for (const [metadata, expected] of changes) assert.deepEqual(await put(metadata), expected)
    for (const [metadata, expected] of changes) assert.deepEqual(await put(metadata, 'upsert'), expected)
    const made = bench.tag()
    const entry = (name: string) => ({ name, metadata: { ...NONE, maxGap: 'PT5M', states } })
    await historian.putTags([entry(made), entry(tag)], 'upsert', context)
    assert.deepEqual(
      await historian.findTags([made, tag], context),
      [made, tag].map((name) => ({ ...entry(name).metadata, stepped: true })),
    )
    const page = await historian.searchTags(
      { pattern: parseTagPattern(made), after: null, limit: 2 },
      context,
    )
    assert.deepEqual(page.tags, [
      { name: made, metadata: { ...NONE, stepped: true, maxGap: 'PT5M', states } },
    ])
    await historian.write(writeBatch([{ tag: made, points: points([1, 1]) }], true), context)
    assert.deepEqual((await historian.findTags([made], context))[0]?.states, states)
  })

  promised('a search finds names and descriptions without regard to case', async (bench) => {
    const { historian, context } = bench
    const entries = [
      ['Find/Pump-1', 'Feed water pump'],
      ['Find/pump-2', null],
      ['find/Valve-1', 'beside the PUMP'],
      ['Find/Ærø', 'ÆRØ øy'],
      ['FIND/Σίσυφος', null],
    ] as const
    await historian.putTags(
      entries.map(([name, description]) => ({ name, metadata: { ...NONE, description } })),
      'create',
      context,
    )
    const cases: readonly (readonly [pattern: string, ...found: string[]])[] = [
      ['find/pump', 'Find/Pump-1', 'Find/pump-2'],
      ['find/*', 'FIND/Σίσυφος', 'Find/Pump-1', 'Find/pump-2', 'Find/Ærø', 'find/Valve-1'],
      ['*PUMP*', 'Find/Pump-1', 'Find/pump-2', 'find/Valve-1'],
      ['FIND/????-1', 'Find/Pump-1'],
      ['feed*', 'Find/Pump-1'],
      ['beside the ?ump', 'find/Valve-1'],
      ['find/ærø', 'Find/Ærø'],
      ['ærø*', 'Find/Ærø'],
      ['find/σίσυφοσ', 'FIND/Σίσυφος'],
      ['find/ΣΊΣΥΦΟΣ*', 'FIND/Σίσυφος'],
      ['find/pump-1x'],
      ['ind/pump*'],
      ['water find/', 'Find/Pump-1'],
      ['PUMP  beside', 'find/Valve-1'],
      ['"the pump" valve', 'find/Valve-1'],
      ['"pump the"'],
      ['pump beside water'],
      ['øy "find/ær"', 'Find/Ærø'],
    ]
    for (const [pattern, ...expected] of cases) {
      const { names, more } = await search(bench, pattern)
      assert.deepEqual(names, expected, pattern)
      assert.equal(more, false)
    }
  })

  promised('a search sees names and descriptions as they are now', async (bench) => {
    const { historian, context } = bench
    const name = 'Moving/One'
    const put = (description: string | null) =>
      historian.putTags([{ name, metadata: { ...NONE, description } }], 'upsert', context)
    await put('before it changed')
    assert.deepEqual((await search(bench, 'before it*')).names, [name])
    await put('after it changed')
    assert.deepEqual((await search(bench, 'before it*')).names, [])
    assert.deepEqual((await search(bench, 'after it*')).names, [name])
    await put(null)
    assert.deepEqual((await search(bench, 'after it*')).names, [])
    assert.deepEqual((await search(bench, 'moving/*')).names, [name])
  })

  promised('pages of a search join, in the order of code points, for any pattern', async (bench) => {
    const { historian, context } = bench
    const long = 'page/'.padEnd(300, '-')
    const names = [
      ...Array.from({ length: 40 }, (_, index) => `page/${(index * 7) % 40}`),
      ...Array.from({ length: 30 }, (_, index) => `${long}${(index * 11) % 30}`),
      `${long}`,
      'page/\uffff',
      'page/\u{1F525}',
      'Page/upper',
      'page/ÆØÅ',
    ]
    await historian.write(
      writeBatch(
        names.map((tag) => ({ tag, points: points() })),
        true,
      ),
      context,
    )
    const sorted = names.toSorted(compareNames)
    for (const pattern of ['page/*', '*age/*', 'PAGE/', 'page/-*']) {
      const matches = parseTagPattern(pattern)
      const expected = sorted.filter((name) => matches.matches(name, null))
      for (const limit of [1, 7, 1_000]) {
        const found: string[] = []
        for (let after: string | null = null, more = true; more; ) {
          const page = await search(bench, pattern, after, limit)
          assert.ok(page.names.length <= limit)
          found.push(...page.names)
          more = page.more
          after = page.names.at(-1) ?? null
          assert.ok(!more || page.names.length === limit)
        }
        assert.deepEqual(found, expected, `${pattern} by ${limit}`)
      }
    }
  })

  promised('hostile patterns are answered', async (bench) => {
    const { historian, context } = bench
    const name = 'a'.repeat(500)
    await historian.write(writeBatch([{ tag: name, points: points() }], true), context)
    for (const pattern of [
      `${'*a'.repeat(200)}*b`,
      `${'a*'.repeat(400)}b`,
      `${'?*'.repeat(300)}b`,
      '*'.repeat(5_000),
    ]) {
      const { names } = await search(bench, pattern)
      assert.equal(names.includes(name), /^\*+$/.test(pattern), pattern.slice(0, 20))
    }
  })
}
