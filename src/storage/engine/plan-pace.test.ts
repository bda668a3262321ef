import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeBatch } from '../../historian/write-batch.ts'
import { makeColumns } from '../../series/columns.ts'
import { MemoryCatalog } from '../catalog/memory-catalog.ts'
import type { CatalogDraft } from '../catalog/tag-catalog.ts'
import type { ReadPace } from '../pause.ts'
import { NO_WATERMARK, TagWatermarks } from '../retention/tag-watermarks.ts'
import { EngineErrors } from './engine-errors.ts'
import { type Draft, planSpanDeletes, planTagDeletes } from './plan-changes.ts'
import { planPuts, planRenames } from './plan-tags.ts'
import { planWrites } from './plan-writes.ts'
import { blocksOf } from './tag-sources.ts'

const TAGS = 20_000
/** Looks at the clock after which others are let in, and those between two of which they are. */
const SLICE = 100

const errors = new EngineErrors('plant')
const names = Array.from({ length: TAGS }, (_, i) => `tag ${i}`)
const NOTHING = { parts: [], tombstones: () => [], lostTombstones: null }

/** A catalog with all tags, and what counts the calls of it, and those for watermarks, between two rests. */
function counted() {
  const catalog = new MemoryCatalog()
  const filling = catalog.draft()
  for (const name of names) filling.create({ name, description: null, units: null, stepped: false })
  catalog.apply(filling.take()!)
  let calls = 0
  let most = 0
  let rests = 0
  const pace: ReadPace = {
    isDue: () => calls >= SLICE,
    pause: async () => {
      calls = 0
      rests++
    },
  }
  const counting = <T extends object>(counted: T): T =>
    new Proxy(counted, {
      get(target, key) {
        const value = Reflect.get(target, key) as unknown
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          most = Math.max(most, ++calls)
          return (value as (...args: unknown[]) => unknown).apply(target, args)
        }
      },
    })
  const watermarks = counting(new TagWatermarks())
  const change: Draft = {
    catalog: counting<CatalogDraft>(catalog.draft()),
    pace,
    errors,
    blocksOf: (tag) => blocksOf(tag, NOTHING, { layers: [], tombstones: [], watermark: NO_WATERMARK }),
    knownCount: () => null,
    remove: () => {},
    watermarkOf: () => NO_WATERMARK,
    watermarkOfName: () => NO_WATERMARK,
    removeHidden: async () => {},
  }
  return { catalog, watermarks, change, found: () => ({ most, rests }) }
}

const requests: Readonly<Record<string, (of: ReturnType<typeof counted>) => Promise<unknown>>> = {
  'points of as many new tags': ({ catalog, change }) => {
    const points = makeColumns(1)
    const batch = writeBatch(
      names.map((name) => ({ tag: `new ${name}`, points })),
      true,
    )
    const state = { catalog, retention: null, watermarks: new TagWatermarks() }
    return planWrites([{ write: batch, isWhole: false }], state, change.catalog, change.pace, errors)
  },
  'points of tags with rules of retention': ({ catalog, watermarks, change }) => {
    const points = makeColumns(1)
    const batch = writeBatch(
      names.map((tag) => ({ tag, points })),
      false,
    )
    const retention = { clock: 1, matches: ['tag 1*', '*'], watermarks: [-1, -2] }
    return planWrites(
      [{ write: batch, isWhole: false }],
      { catalog, retention, watermarks },
      change.catalog,
      change.pace,
      errors,
    )
  },
  metadata: ({ change }) =>
    planPuts(
      change.catalog,
      change.pace,
      names.map((name) => ({ name, description: 'text', units: null, stepped: true })),
      'upsert',
    ),
  renames: ({ change }) =>
    planRenames(
      change,
      names.map((from) => ({ from, to: `${from} of before` })),
      false,
    ),
  'deletions of points': ({ change }) =>
    planSpanDeletes(
      change,
      names.map((tag) => ({ tag, from: 0, to: 10 })),
    ),
  'deletions of tags': ({ change }) => planTagDeletes(change, names, () => false),
}

for (const [what, make] of Object.entries(requests)) {
  test(`others are let in while a request with very many tags is worked out: ${what}`, async () => {
    const of = counted()
    await make(of)
    const { most, rests } = of.found()
    assert.ok(rests >= TAGS / SLICE / 2, `${rests} rests`)
    assert.ok(most <= 2 * SLICE, `${most} calls without a rest`)
  })
}
