import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTagPattern } from '../../historian/tag-pattern.ts'
import { Catalog } from './catalog.ts'
import { NO_METADATA } from './tag-list.ts'

const context = { signal: new AbortController().signal }

async function namesOf(
  catalog: Catalog,
  text: string | null = null,
  after: string | null = null,
  limit = 100,
) {
  const pattern = text === null ? null : parseTagPattern(text)
  const { tags, more } = await catalog.search({ pattern, after, limit }, context)
  return [tags.map(({ name }) => name).join(' '), more]
}

test('tags are listed in the order of code points, page by page', async () => {
  const names = ['b', 'a', '\u{1F525}', '\uffff', 'B']
  const catalog = new Catalog(async (take) => {
    for (const name of names) take(name, NO_METADATA)
  }, 60)
  assert.deepEqual(await namesOf(catalog), ['B a b \uffff \u{1F525}', false])
  assert.deepEqual(await namesOf(catalog, null, 'B', 2), ['a b', true])
  assert.deepEqual(await namesOf(catalog, null, 'b', 2), ['\uffff \u{1F525}', false])
  assert.deepEqual(await namesOf(catalog, 'b'), ['B b', false])
})

const made = (catalog: Catalog, name: string) => catalog.update(name, (before) => before ?? NO_METADATA)

test('changes are seen at once, also those made while the list is read', async () => {
  let during = () => {}
  let reads = 0
  const catalog = new Catalog(async (take) => {
    reads++
    take('old', NO_METADATA)
    take('gone', NO_METADATA)
    during()
  }, 60)
  during = () => {
    made(catalog, 'new')
    catalog.remove('gone')
  }
  assert.deepEqual(await namesOf(catalog), ['new old', false])
  made(catalog, 'newer')
  catalog.remove('new')
  catalog.update('old', () => ({ ...NO_METADATA, description: 'newer, too' }))
  assert.deepEqual(await namesOf(catalog, 'newer'), ['newer old', false])
  made(catalog, 'old')
  assert.deepEqual(await namesOf(catalog, 'newer'), ['newer old', false])
  assert.equal(reads, 1)
})

test('an old list is read anew once for all callers that need it at the same time', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  let reads = 0
  const catalog = new Catalog(async (take) => {
    reads++
    await new Promise((resolve) => setImmediate(resolve))
    take(`read ${reads}`, NO_METADATA)
  }, 0.05)
  const both = [
    ['read 1', false],
    ['read 1', false],
  ]
  assert.deepEqual(await Promise.all([namesOf(catalog), namesOf(catalog)]), both)
  now = 50
  assert.deepEqual(await Promise.all([namesOf(catalog), namesOf(catalog)]), both)
  now = 51
  assert.deepEqual(await namesOf(catalog), ['read 2', false])
})

test('a reading that failed fails its own call, and the next one reads', async () => {
  let fails = true
  const catalog = new Catalog(async (take) => {
    if (fails) throw new Error('down')
    take('x', NO_METADATA)
  }, 60)
  await assert.rejects(namesOf(catalog), /down/)
  fails = false
  assert.deepEqual(await namesOf(catalog), ['x', false])
})
