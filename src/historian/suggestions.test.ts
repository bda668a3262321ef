import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issue } from '../errors/tidemark-error.ts'
import type { Historian, TagPage } from './contract.ts'
import type { HistorianView } from './registry.ts'
import { withSuggestions } from './suggestions.ts'

/** A view of one historian, of which only the search is used. */
function viewOf(searchTags: Historian['searchTags']): HistorianView {
  const historian = { name: 'local', searchTags } as Historian
  const find = (name: string) => (name === 'local' ? historian : null)
  return { find, list: () => [historian], aliases: null, seesAll: true } as unknown as HistorianView
}

const MISSING = [issue('TAG_NOT_FOUND', { historian: 'local', tag: 'FLWO' }, { tag: 'local/FLWO' })]
const context = { signal: new AbortController().signal }
const metadata = { description: null, units: null, stepped: false }

test('a historian that does not answer gives no suggestions, and holds nothing up for long', async () => {
  const silent = viewOf(() => new Promise<TagPage>(() => {}))
  assert.deepEqual(await withSuggestions(MISSING, silent, context), MISSING)
})

test('a historian that fails gives none either', async () => {
  const failing = viewOf(() => Promise.reject(new Error('broken')))
  assert.deepEqual(await withSuggestions(MISSING, failing, context), MISSING)
})

test('the same missing tag is searched for once in a while', async () => {
  let searches = 0
  const view = viewOf(async () => {
    searches++
    return { tags: [{ name: 'FLOW', metadata }], more: false }
  })
  for (let i = 0; i < 3; i++) {
    const [found] = await withSuggestions(MISSING, view, context)
    assert.deepEqual(found!.suggestions, ['local/FLOW'])
  }
  assert.equal(searches, 1)
})

test('other issues are left as they are', async () => {
  const others = [issue('INVALID_STATUS', { input: 'x', historian: 'local', tag: 'A' }, { tag: 'local/A' })]
  const view = viewOf(() => Promise.reject(new Error('not called')))
  assert.equal(await withSuggestions(others, view, context), others)
})
