import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { historianWith, writeCall } from '../../test/write/call.ts'
import type { ErrorBody } from '../errors/error-body.ts'
import { compareNames } from '../series/tag-names.ts'
import { type BrowseBody, browseTags } from './browse.ts'
import { HistorianRegistry } from './registry.ts'
import type { VisibleAliases } from './visible-aliases.ts'

const NAMES = ['A', 'T1.', 'T1.FLOW', 'T1.PUMP_A/RUNS', 'T1.PUMP_B/RUNS', 'T1.TEMP', 'T2.FLOW', 'T2', 'Z/']

async function level(query: Record<string, unknown>, names: readonly string[] = NAMES): Promise<BrowseBody> {
  const plant = await historianWith('plant', names)
  const { outcome, body } = await browseTags({ historian: 'plant', ...query }, writeCall([plant]))
  assert.equal(outcome, 'done', JSON.stringify(body))
  return body as BrowseBody
}

const shown = ({ branches, tags, next }: BrowseBody) => ({
  branches,
  tags: tags.map(({ tagName }) => tagName),
  hasMore: next !== undefined,
})

test('a level has the branches and the tags directly below it', async () => {
  assert.deepEqual(shown(await level({})), {
    branches: ['T1.', 'T2.'],
    tags: ['A', 'T1.', 'T2', 'Z/'],
    hasMore: false,
  })
  assert.deepEqual(shown(await level({ prefix: 'T1.' })), {
    branches: ['T1.PUMP_'],
    tags: ['T1.FLOW', 'T1.TEMP'],
    hasMore: false,
  })
  assert.deepEqual(shown(await level({ prefix: 'T1.PUMP_' })).branches, ['T1.PUMP_A/', 'T1.PUMP_B/'])
  assert.deepEqual(shown(await level({ prefix: 't1.' })), { branches: [], tags: [], hasMore: false })
})

test('the separators of the request are used', async () => {
  const { branches, tags } = shown(await level({ separators: '/' }))
  assert.deepEqual(branches, ['T1.PUMP_A/', 'T1.PUMP_B/'])
  assert.deepEqual(tags, ['A', 'T1.', 'T1.FLOW', 'T1.TEMP', 'T2', 'T2.FLOW', 'Z/'])
})

test('a branch with more tags than a page whose names go on with the last code point is passed over', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `A.\u{10ffff}${index}`)
  assert.deepEqual(shown(await level({}, [...names, 'B'])), { branches: ['A.'], tags: ['B'], hasMore: false })
})

test('tags are named by the name of what was browsed, however the request writes it', async () => {
  const metadata = { description: null, units: null, stepped: false }
  const aliases = {
    searchTags: async () => ({ tags: [{ name: 'FLOW', metadata }], more: false }),
  } as unknown as VisibleAliases
  const call = { ...writeCall([]), historians: new HistorianRegistry([], () => aliases) }
  const { body } = await browseTags({ historian: 'Aliases' }, call)
  const [tag] = (body as BrowseBody).tags
  assert.deepEqual([tag?.historianName, tag?.qualifiedTagName], ['aliases', 'aliases/FLOW'])
})

test('what cannot be browsed is refused with a sentence', async () => {
  const plant = await historianWith('plant', NAMES)
  const refused = async (query: Record<string, unknown>) => {
    const { outcome, body } = await browseTags(query, writeCall([plant]))
    return [outcome, (body as ErrorBody).message]
  }
  assert.deepEqual(await refused({}), [
    'refused',
    'historian is missing: tags are browsed in one historian, which GET /historian/list names',
  ])
  assert.deepEqual(await refused({ historian: 'nowhere' }), ['not-found', 'Historian nowhere does not exist'])
  assert.deepEqual(await refused({ historian: 'plant', limit: '1001' }), [
    'refused',
    'Invalid limit 1001: a whole number from 1 to 1000 is expected',
  ])
  const { next } = await level({ limit: '1' })
  const [outcome] = await refused({ historian: 'plant', prefix: 'T1.', cursor: next })
  assert.equal(outcome, 'refused', 'a cursor of another level')
})

test('pages join to what one look at all names gives', async () => {
  const name = fc
    .array(fc.constantFrom('A', 'b', '.', '/', '_', '\u{1f600}', '\ue000', '\u{10ffff}'), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { maxLength: 30 }),
      fc.constantFrom('', 'A', 'A.', '.'),
      fc.integer({ min: 1, max: 5 }),
      async (names, prefix, limit) => {
        const branches = new Set<string>()
        const tags: string[] = []
        for (const one of names.filter((text) => text.startsWith(prefix) && text !== prefix)) {
          const rest = one.slice(prefix.length)
          const end = rest.search(/[./_]/)
          if (end < 0 || end === rest.length - 1) tags.push(one)
          else branches.add(prefix + rest.slice(0, end + 1))
        }
        const found = { branches: [] as string[], tags: [] as string[] }
        let cursor: string | undefined
        do {
          const page = await level({ prefix, limit: String(limit), ...(cursor && { cursor }) }, names)
          assert.ok(page.branches.length + page.tags.length <= limit)
          found.branches.push(...page.branches)
          found.tags.push(...page.tags.map(({ tagName }) => tagName))
          cursor = page.next
        } while (cursor !== undefined)
        assert.deepEqual(found, {
          branches: [...branches].sort(compareNames),
          tags: tags.sort(compareNames),
        })
      },
    ),
    { numRuns: 200 },
  )
})

test('the deadline ends a look at a level whose historian does not end with its signal', async () => {
  const hung = await historianWith('plant', NAMES)
  hung.searchTags = () => new Promise(() => {})
  const { outcome } = await browseTags({ historian: 'plant' }, writeCall([hung], { deadlineSeconds: 0.01 }))
  assert.equal(outcome, 'deadline')
})
