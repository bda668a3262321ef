import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCommand, ModelCatalog, namesOf, run } from './catalog.fixture.ts'
import { MemoryCatalog } from './memory-catalog.ts'
import { RecentTags } from './recent-tags.ts'
import type { TagFields } from './tag-catalog.ts'

const groups = fc.array(fc.array(anyCommand, { maxLength: 6 }), { maxLength: 8 })

function withTags(tags: readonly TagFields[]): MemoryCatalog {
  const catalog = new MemoryCatalog()
  const draft = catalog.draft()
  for (const tag of tags) draft.create(tag)
  catalog.apply(draft.take()!)
  return catalog
}

const PLAIN = { description: null, units: null, stepped: false }

test('records and ids are those of the catalog after each change, whatever was looked up before', () => {
  fc.assert(
    fc.property(groups, fc.boolean(), (changes, isReplaced) => {
      const model = new ModelCatalog()
      const state = { catalog: new MemoryCatalog() }
      const recent = new RecentTags(state)
      const names = namesOf(changes.flat())
      const applied: Uint8Array[] = []
      for (const commands of changes) {
        const draft = state.catalog.draft()
        for (const command of commands) run(command, model, draft)
        const bytes = draft.take()
        if (bytes !== null) {
          state.catalog.apply(bytes)
          applied.push(bytes)
        }
        if (isReplaced) {
          state.catalog = new MemoryCatalog()
          for (const one of applied) state.catalog.apply(one)
        }
        for (const name of names) {
          assert.deepEqual(recent.find(name), model.find(name))
          assert.equal(recent.idOf(name), model.find(name)?.id ?? 0)
        }
      }
    }),
  )
})

test('records of more tags than are held are those of the catalog', () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `T${i}`)
  const recent = new RecentTags({ catalog: withTags(names.map((name) => ({ ...PLAIN, name }))) })
  for (let round = 0; round < 2; round++) {
    names.forEach((name, i) => {
      assert.equal(recent.find(name)!.id, i + 1)
    })
  }
  assert.equal(recent.idOf('T7'), 8)
  assert.equal(recent.find('T20000'), null)
})

test('a record is made once as long as it is short', () => {
  const states = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i, `state ${i}`]))
  const tags = [
    { ...PLAIN, name: 'short' },
    { ...PLAIN, name: 'named', states: { 0: 'Closed', 1: 'Open' } },
    { ...PLAIN, name: 'long', description: 'x'.repeat(600) },
    { ...PLAIN, name: 'of many states', states },
  ]
  const recent = new RecentTags({ catalog: withTags(tags) })
  const found = tags.map(({ name }) => recent.find(name))
  const isKept = tags.map(({ name }, i) => recent.find(name) === found[i])
  assert.deepEqual(isKept, [true, true, false, false])
  assert.deepEqual(recent.find('of many states')!.states, states)
})
