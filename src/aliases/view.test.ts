import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alwaysDue } from '../../test/always-due.ts'
import { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { NOON } from '../../test/multi-harness.ts'
import { SIGNATURES } from '../calc/functions/index.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { HistorianRegistry } from '../historian/registry.ts'
import { UTC } from '../time/zone.ts'
import { MemoryAliasStore } from './memory-store.fixture.ts'
import { type AliasView, aliasViews } from './view.ts'

const ALIASES = 40
const context = { signal: new AbortController().signal }
const nameOf = (i: number) => `alias ${i + 100}`
const names = Array.from({ length: ALIASES }, (_, i) => nameOf(i))

interface Plant {
  readonly store: MemoryAliasStore
  readonly view: AliasView
  /** Aliases parsed so far: each parse asks for the time. */
  readonly parses: () => number
  /** Reads of the store so far. */
  readonly reads: () => number
}

/** Every second alias leads nowhere, which shows to whoever sees all historians. */
function plant(): Plant {
  const store = new MemoryAliasStore(
    Object.fromEntries(names.map((name, i) => [name, i % 2 === 0 ? 'calc/ADD(local/A, 1)' : 'aliases/none'])),
  )
  let parses = 0
  const clock = () => {
    parses++
    return NOON
  }
  const language = { signatures: SIGNATURES, defaultHistorian: null, clock, zone: UTC }
  const view = aliasViews(store, language)(new HistorianRegistry([new MemoryHistorian('local')]))
  const read = store.read.bind(store)
  let reads = 0
  store.read = (work) => {
    reads++
    return read(work)
  }
  return { store, view, parses: () => parses, reads: () => reads }
}

test('a page parses its own aliases and the one that shows that there are more', async () => {
  const { view, parses } = plant()
  const { aliases, more } = await view.list({ prefix: '', after: null, limit: 1 }, context)
  assert.deepEqual([aliases.map(({ name }) => name), more], [[nameOf(0)], true])
  assert.equal(parses(), 2)
})

test('whether there are aliases is known from the first ones', async () => {
  const { view, parses } = plant()
  assert.equal(await view.exist(context), true)
  assert.ok(parses() <= 2, `${parses()} parses`)
})

for (const [title, run] of [
  ['a list', (view: AliasView) => view.list({ prefix: '', after: null, limit: ALIASES }, context)],
  ['the last page of a list', (view) => view.list({ prefix: '', after: nameOf(0), limit: ALIASES }, context)],
  ['a search', (view) => view.searchTags({ pattern: null, after: null, limit: ALIASES }, context)],
  ['a look-up of metadata', (view) => view.findTags(names, context)],
  [
    'a look-up of names that are not there',
    (view) =>
      view.findTags(
        names.map((name) => `no ${name}`),
        context,
      ),
  ],
  ['a search for uses', (view) => view.findUses(new Set(['local/A']), 3, context)],
  ['a dry run of renames', (view) => view.follow(new Map([['local/A', 'local/B']]), true, context)],
] as const satisfies readonly (readonly [string, (view: AliasView) => Promise<unknown>])[]) {
  test(`${title} yields after each alias when that is due, and gives the same`, async (t) => {
    const atOnce = plant()
    const expected = await run(atOnce.view)
    const sliced = plant()
    const rests = alwaysDue(t)
    assert.deepEqual(await run(sliced.view), expected)
    assert.ok(rests() >= ALIASES - 2, `${rests()} rests`)
    assert.ok(sliced.reads() >= ALIASES - 1, `${sliced.reads()} reads`)
  })
}

test('an alias stays what it was when it was first seen, although it changes between two slices', async (t) => {
  const { store, view } = plant()
  alwaysDue(t)
  await store.put({ name: 'a', tag: 'aliases/z', description: null, units: null }, () => {})
  await store.put({ name: 'z', tag: 'local/A', description: 'before', units: null }, () => {})
  const read = store.read
  store.read = async (work) => {
    const result = await read(work)
    await store.put({ name: 'z', tag: 'local/B', description: 'after', units: null }, () => {})
    return result
  }
  const { aliases } = await view.list({ prefix: '', after: null, limit: 100 }, context)
  assert.equal(aliases.length, ALIASES + 2)
  assert.deepEqual(aliases.at(-1), { name: 'z', tag: 'local/A', description: 'before', units: null })
})

test('a call that has ended looks at no more aliases', async (t) => {
  const { view, reads } = plant()
  alwaysDue(t)
  const controller = new AbortController()
  const found = view.findTags(names, { signal: controller.signal })
  controller.abort(new Error('gone'))
  await assert.rejects(found, /gone/)
  assert.equal(reads(), 1)
})

test('an alias that would lead too far is refused after as many as lead there, to a key with a list, too', async () => {
  const large = `calc/ADD(${Array(2000).fill('1').join(',')})`
  const many = names.map((name) => `'aliases/${name}'`)
  const store = new MemoryAliasStore(Object.fromEntries(names.map((name) => [name, large])))
  let parses = 0
  const clock = () => {
    parses++
    return NOON
  }
  const language = { signatures: SIGNATURES, defaultHistorian: null, clock, zone: UTC }
  for (const seesAll of [true, false]) {
    parses = 0
    const historians = new HistorianRegistry([new MemoryHistorian('local')], null, seesAll)
    const view = aliasViews(store, language)(historians)
    const alias = { name: 'all', tag: `calc/ADD(${many.join(',')})`, description: null, units: null }
    await assert.rejects(view.put(alias), { code: 'ALIAS_LIMIT' })
    assert.ok(parses <= 5, `${parses} parses`)
  }
})

test('what somebody else changes of an alias while renames are followed stays', async () => {
  const { store, view } = plant()
  const put = store.put.bind(store)
  const theirs = { name: nameOf(0), tag: 'calc/ADD(local/A, 1)', description: 'by another', units: 'm' }
  let changes = 0
  store.put = async (alias, check) => {
    if (alias.name === nameOf(0) && changes++ === 0) await put(theirs, () => {})
    return put(alias, check)
  }
  const followed = await view.follow(new Map([['local/A', 'local/B']]), false, context)
  const tag = 'calc/ADD(local/B, 1)'
  assert.deepEqual(followed[0], { alias: nameOf(0), outcome: tag })
  assert.deepEqual(store.get(nameOf(0)), { ...theirs, tag })
})

test('an alias that others change again and again while a rename is followed is said to have changed', async () => {
  const { store, view } = plant()
  const put = store.put.bind(store)
  let changes = 0
  store.put = async (alias, check) => {
    const theirs = { name: alias.name, tag: 'calc/ADD(local/A, 1)', description: `${changes++}`, units: null }
    if (alias.name === nameOf(0)) await put(theirs, () => {})
    return put(alias, check)
  }
  const followed = await view.follow(new Map([['local/A', 'local/B']]), false, context)
  const { outcome } = followed[0]!
  assert.ok(outcome instanceof TidemarkError && outcome.code === 'ALIAS_CHANGED')
  assert.equal(store.get(nameOf(0))?.tag, 'calc/ADD(local/A, 1)')
})
