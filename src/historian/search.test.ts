import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { context, historianWith, writeCall } from '../../test/write/call.ts'
import type { ErrorBody } from '../errors/error-body.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { listHistorians, listWritableHistorians } from './lists.ts'
import { HistorianRegistry } from './registry.ts'
import { type SearchBody, searchTags } from './search.ts'

async function plant() {
  const plant = await historianWith('plant', ['FLOW', 'flow/raw', 'TEMP'])
  const metadata = { description: 'Outlet Flow', units: 'm3/h', stepped: true }
  await plant.putTags([{ name: 'FI-101', metadata }], 'create', context())
  return plant
}

async function found(query: Record<string, unknown>, historians = [plant()]): Promise<SearchBody> {
  const { outcome, body } = await searchTags(query, writeCall(await Promise.all(historians)))
  assert.equal(outcome, 'done', JSON.stringify(body))
  return body as SearchBody
}

async function addresses(query: Record<string, unknown>): Promise<readonly string[]> {
  return (await found(query)).tags.map((tag) => tag.qualifiedTagName)
}

async function failed(query: Record<string, unknown>): Promise<readonly [string, string, string]> {
  const { outcome, body } = await searchTags(query, writeCall([await plant()]))
  const { message, errors, issues } = body as ErrorBody
  assert.deepEqual(errors, [message])
  return [outcome, issues![0]!.code, message]
}

test('a tag is given with its address, its metadata and the empty field that clients look for', async () => {
  assert.deepEqual((await found({ search: 'FI-101' })).tags, [
    {
      tagName: 'FI-101',
      qualifiedTagName: 'plant/FI-101',
      historianName: 'plant',
      description: 'Outlet Flow',
      units: 'm3/h',
      stepped: true,
      metadata: {},
    },
  ])
})

test('a pattern is looked for in name and description without regard to case', async () => {
  assert.deepEqual(await addresses({ search: 'flow' }), ['plant/FI-101', 'plant/FLOW', 'plant/flow/raw'])
  assert.deepEqual(await addresses({ search: 't*' }), ['plant/TEMP'])
  assert.deepEqual(await addresses({ search: 'fl?w' }), ['plant/FLOW'])
})

test('without a pattern there are all tags, and a slash behind the historian does not matter', async () => {
  const all = ['plant/FI-101', 'plant/FLOW', 'plant/TEMP', 'plant/flow/raw']
  assert.deepEqual(await addresses({}), all)
  assert.deepEqual(await addresses({ search: '', historian: 'plant/' }), all)
  assert.deepEqual(await addresses({ historian: '' }), all)
})

test('an unknown historian is not found; a virtual one is there and lists nothing', async () => {
  assert.deepEqual(await failed({ historian: 'nowhere' }), [
    'not-found',
    'HISTORIAN_UNKNOWN',
    'Historian nowhere does not exist',
  ])
  assert.deepEqual(await addresses({ historian: 'calc' }), [])
})

for (const limit of ['0', '100001', '-1', '1.5', 'ten', '', ' 5', '1e3', '99999999999']) {
  test(`limit ${JSON.stringify(limit)} is refused`, async () => {
    assert.deepEqual(await failed({ limit }), [
      'refused',
      'INVALID_REQUEST',
      `Invalid limit ${limit}: a whole number from 1 to 100000 is expected`,
    ])
  })
}

test('a repeated parameter and an endless pattern are refused', async () => {
  assert.equal((await failed({ limit: ['1', '2'] }))[2], 'Invalid limit ["1","2"]: one value is expected')
  assert.match(
    (await failed({ search: 'x'.repeat(1_001) }))[2],
    /a text of at most 1000 characters is expected$/,
  )
})

test('an unknown parameter is warned about, the key is not', async () => {
  const { warnings } = await found({ serach: 'x', apikey: 'secret' })
  assert.deepEqual(warnings, ['Unknown field serach in the query was ignored; search was meant?'])
  assert.equal('warnings' in (await found({ apikey: 'secret' })), false)
})

test('pages join without gap or repeat, in the order of addresses, whatever the page', async () => {
  // `-` and `.` come before the slash: by name alone, `a` would stand before `a-b`.
  const historians = ['a', 'a-b', 'a.c', 'ab', 'empty'].map((name) =>
    historianWith(name, name === 'empty' ? [] : ['x', 'X', 'é', '😀', '\ue000', 'x/y', "it's"]),
  )
  const all = (await found({}, historians)).tags.map((tag) => tag.qualifiedTagName)
  assert.equal(all.length, 28)
  assert.deepEqual(
    all,
    all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  )
  for (const limit of [1, 3, 7, 14, 27, 28]) {
    const joined: string[] = []
    let cursor: string | undefined
    do {
      const page: SearchBody = await found({ limit: String(limit), ...(cursor && { cursor }) }, historians)
      joined.push(...page.tags.map((tag) => tag.qualifiedTagName))
      assert.ok(page.tags.length === limit || page.next === undefined)
      cursor = page.next
    } while (cursor !== undefined)
    assert.deepEqual(joined, all, `limit ${limit}`)
  }
})

test('an answer that is complete has no cursor, not even when it is full', async () => {
  assert.equal((await found({ limit: '4' })).next, undefined)
  assert.notEqual((await found({ limit: '3' })).next, undefined)
})

test('a cursor of another search, or one that was changed, is refused', async () => {
  const { next } = await found({ search: 'flow', limit: '1' })
  assert.deepEqual(await addresses({ search: 'flow', cursor: next }), ['plant/FLOW', 'plant/flow/raw'])
  const expected = ['refused', 'INVALID_CURSOR', 'Invalid cursor']
  assert.deepEqual(await failed({ search: 'temp', cursor: next }), expected)
  assert.deepEqual(await failed({ search: 'flow', historian: 'plant', cursor: next }), expected)
  assert.deepEqual(await failed({ search: 'flow', cursor: `${next} ` }), expected)
  assert.deepEqual(await failed({ cursor: '' }), expected)
  assert.deepEqual(await failed({ cursor: 'A'.repeat(100_000) }), expected)
})

test('a cursor that was made up is refused', async () => {
  const historian = await plant()
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), async (cursor) => {
      const { outcome } = await searchTags({ cursor }, writeCall([historian]))
      assert.equal(outcome, 'refused')
    }),
  )
})

test('a cursor goes on even when its historian is no longer visible', async () => {
  const [a, b] = await Promise.all([historianWith('a', ['x', 'y']), historianWith('b', ['z'])])
  const first = await searchTags({ limit: '1' }, writeCall([a, b]))
  const { next } = first.body as SearchBody
  const second = await searchTags({ cursor: next }, writeCall([b]))
  assert.deepEqual(
    (second.body as SearchBody).tags.map((tag) => tag.qualifiedTagName),
    ['b/z'],
  )
})

test('a historian that cannot be asked fails the search: a list with a hole would pass for the whole', async () => {
  const down = await historianWith('down')
  down.searchTags = async () => {
    throw new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'down', reason: 'no route' })
  }
  const { outcome, body } = await searchTags({}, writeCall([await plant(), down]))
  assert.equal(outcome, 'unavailable')
  assert.deepEqual((body as ErrorBody).errors, ['Historian down could not be reached: no route'])
})

test('a driver that gives pages of its own size is asked again', async () => {
  const historian = await historianWith('h', ['a', 'b', 'c', 'd'])
  const inner = historian.searchTags.bind(historian)
  historian.searchTags = (query, callContext) => inner({ ...query, limit: 1 }, callContext)
  const { body } = await searchTags({ limit: '3' }, writeCall([historian]))
  assert.equal((body as SearchBody).tags.length, 3)
})

test('the lists hold the historians that the caller may see, sorted, and the writable ones of them', async () => {
  const historians = new HistorianRegistry([
    await historianWith('b'),
    await historianWith('a', [], { writable: false }),
    await historianWith('secret'),
  ]).viewFor(['a', 'b'])
  const { signal } = new AbortController()
  assert.deepEqual(await listHistorians(historians, { signal }), {
    historians: [{ name: 'a' }, { name: 'b' }],
  })
  assert.deepEqual(listWritableHistorians(historians), { historians: [{ name: 'b' }] })
})

test('the deadline ends a search whose historian does not end with its signal', async () => {
  const hung = await plant()
  hung.searchTags = () => new Promise(() => {})
  const { outcome } = await searchTags({}, writeCall([hung], { deadlineSeconds: 0.01 }))
  assert.equal(outcome, 'deadline')
})
