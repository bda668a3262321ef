// Specification, sections 4.1 to 4.4; interface, sections 7 (metadata and search) and 9 (corrections).
import assert from 'node:assert/strict'
import test from 'node:test'
import { conformance, type Json } from './service.ts'

const { get, post, multi, write, read, refusal } = await conformance()
const NONE = { description: null, units: null, stepped: false }
const create = (entries: unknown, more = {}) => post('/historian/metadata/create', { entries, ...more })
const update = (entries: unknown, more = {}) => post('/historian/metadata/update', { entries, ...more })
const stored = async (...tags: string[]) => (await post('/historian/metadata/get', { tags })).body.entries

test('create stores description, units and stepped, and answers handledEntries and errors', async () => {
  const metadata = { description: 'Flow', units: 'm³/h', stepped: true }
  const { status, body } = await create({ 'local/C1': metadata, 'local/C2': {} })
  assert.equal(status, 200)
  assert.deepEqual(body, { handledEntries: { 'local/C1': metadata, 'local/C2': NONE }, errors: {} })
  assert.deepEqual(await stored('local/C1', 'local/C2'), { 'local/C1': metadata, 'local/C2': NONE })
})

test('Omitted or null fields are stored as null, null, false', async () => {
  const { body } = await create({ 'local/NULLS': { description: null, units: null, stepped: null } })
  assert.deepEqual(body.handledEntries, { 'local/NULLS': NONE })
})

test('an empty text is a text', async () => {
  const { body } = await create({ 'local/EMPTY': { description: '', units: '' } })
  assert.deepEqual(body.handledEntries, { 'local/EMPTY': { description: '', units: '', stepped: false } })
})

test('Tag <address> already exists: only updateIfExists true overwrites', async () => {
  await create({ 'local/DUP': { description: 'first', units: 'bar' } })
  for (const more of [{}, { updateIfExists: false }, { updateIfExists: null }]) {
    const { status, body } = await create({ 'local/DUP': { description: 'second' }, 'local/DUP2': {} }, more)
    assert.equal(status, 200)
    assert.equal(body.errors['local/DUP'], 'Tag local/DUP already exists')
    assert.equal('local/DUP' in body.handledEntries, false)
  }
  assert.equal((await stored('local/DUP'))['local/DUP'].description, 'first')
  const { body } = await create({ 'local/DUP': { description: 'third' } }, { updateIfExists: true })
  assert.deepEqual(body, {
    handledEntries: { 'local/DUP': { description: 'third', units: null, stepped: false } },
    errors: {},
  })
})

test('the other entries are handled; an address with an error is not in handledEntries', async () => {
  await create({ 'local/OLD': {} })
  const { status, body } = await create({
    'local/OLD': {},
    'local/FRESH': {},
    'nowhere/X': {},
    'calc/X': {},
    bad: {},
    'local/W1': { description: 5 },
    'local/W2': { units: ['m'] },
    'local/W3': { stepped: 'true' },
    'local/W4': 'text',
    'local/W5': null,
  })
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.handledEntries), ['local/FRESH'])
  assert.equal(body.errors['local/OLD'], 'Tag local/OLD already exists')
  assert.equal(body.errors['nowhere/X'], 'Historian nowhere for tag X does not exist')
  assert.equal(body.errors['calc/X'], 'Historian calc for tag X is not writable')
  assert.equal(body.errors.bad, 'Invalid tag address bad: <historian_name>/<tag_name> is expected')
  assert.match(body.errors['local/W1'], /^Invalid description 5 for tag local\/W1: ./)
  assert.match(body.errors['local/W2'], /^Invalid units \["m"\] for tag local\/W2: ./)
  assert.match(body.errors['local/W3'], /^Invalid stepped true for tag local\/W3: ./)
  assert.equal(typeof body.errors['local/W4'], 'string')
  assert.equal(body.issues.length, Object.keys(body.errors).length)
  for (const issue of body.issues) assert.equal(issue.message, body.errors[issue.tag])
})

test('update: an entry that is missing is an error unless createIfMissing is true', async () => {
  for (const more of [{}, { createIfMissing: false }, { createIfMissing: null }]) {
    const { status, body } = await update({ 'local/MISSING': { units: 'm' } }, more)
    assert.equal(status, 200)
    assert.deepEqual(body.errors, { 'local/MISSING': 'Tag local/MISSING does not exist' })
    assert.deepEqual(body.handledEntries, {})
  }
  const { body } = await update({ 'local/MISSING': { units: 'm' } }, { createIfMissing: true })
  assert.deepEqual(body, {
    handledEntries: { 'local/MISSING': { description: null, units: 'm', stepped: false } },
    errors: {},
  })
})

test('an update with fewer fields resets the omitted ones', async () => {
  await create({ 'local/RESET': { description: 'd', units: 'u', stepped: true } })
  const { body } = await update({ 'local/RESET': { units: 'v' } })
  assert.deepEqual(body.handledEntries, { 'local/RESET': { description: null, units: 'v', stepped: false } })
  assert.deepEqual(await stored('local/RESET'), {
    'local/RESET': { description: null, units: 'v', stepped: false },
  })
})

test('an update keeps the points, and stepped changes how they are read at once', async () => {
  await write({
    'local/STEP': [
      ['2026-01-01', 0],
      ['2026-01-02', 10],
    ],
  })
  const at = { at: '2026-01-01T12:00:00Z' }
  assert.equal((await read('HISTORICAL_POINT', 'local/STEP', at)).dataPoint.value, 5)
  await update({ 'local/STEP': { stepped: true } })
  assert.equal((await read('HISTORICAL_POINT', 'local/STEP', at)).dataPoint.value, 0)
})

test('entries missing: 400 with the sentence under * in errors', async () => {
  for (const path of ['create', 'update']) {
    const { status, body } = await post(`/historian/metadata/${path}`, {})
    assert.equal(status, 400)
    assert.deepEqual(body.errors, { '*': body.message })
    assert.match(body.message, /entries/)
  }
})

test('the number of entries of one request is bounded, with a sentence under * in errors', async () => {
  const tags = Array.from({ length: 200_001 }, (_, i) => `nowhere/${i}`)
  const entries = Object.fromEntries(tags.map((tag) => [tag, 0]))
  for (const answer of [
    await create(entries),
    await update(entries),
    await post('/historian/metadata/get', { tags }),
  ]) {
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.body.errors, { '*': answer.body.message })
    assert.equal(answer.body.issues[0].code, 'LIMIT_TAGS')
    assert.match(answer.body.message, /limit of one request is 200000/)
  }
})

test('a created tag has no points and no current value', async () => {
  await create({ 'local/BARE': {} })
  const point = await read('CURRENT_POINT', 'local/BARE', {}, { now: '2026-01-01T00:00:00Z' })
  assert.deepEqual(point, {
    dataPoint: { timestamp: '2026-01-01T00:00:00.000Z', value: null, status: 'BAD' },
  })
})

test('POST /historian/metadata/get gives named tags, and the known sentences for the others', async () => {
  await create({ 'local/G': { units: 'K' } })
  const { status, body } = await post('/historian/metadata/get', {
    tags: ['local/G', 'local/none', 'nowhere/x', 'bad', 'local/G'],
  })
  assert.equal(status, 200)
  assert.deepEqual(body.entries, { 'local/G': { description: null, units: 'K', stepped: false } })
  assert.deepEqual(body.errors, {
    'local/none': 'Tag local/none does not exist',
    'nowhere/x': 'Historian nowhere for tag x does not exist',
    bad: 'Invalid tag address bad: <historian_name>/<tag_name> is expected',
  })
  for (const tags of [undefined, null, 'local/G', {}, [5], [null]]) {
    const wrong = await post('/historian/metadata/get', { tags })
    assert.equal(wrong.status, 400, JSON.stringify(tags))
    assert.equal(Array.isArray(wrong.body.errors), false)
  }
})

// ---- search, on tags of its own ----

const S = [
  ['S1.FLOW', 'Inflow of the tank', 'm3/h'],
  ['S1.Level', 'Höhe', '%'],
  ['S2.flow', null, null],
  ['S2.100%', 'a*b', null],
  ['S2.under_score', 'question?mark', null],
  ['s/slash', null, null],
] as const
await create(
  Object.fromEntries(
    S.map(([name, description, units]) => [
      `local/find ${name}`,
      { description, units, stepped: name === 'S2.flow' },
    ]),
  ),
)
const search = (query: Record<string, string>) => get(`/historian/search?${new URLSearchParams(query)}`)
const names = async (pattern: string): Promise<string[]> => {
  const { status, body } = await search({ search: pattern, limit: '10000' })
  assert.equal(status, 200)
  return body.tags.map((tag: Json) => tag.tagName).filter((name: string) => name.startsWith('find '))
}

test('search: shape of a tag, letter by letter', async () => {
  const { body } = await search({ search: 'find S1.FLOW' })
  assert.deepEqual(body, {
    tags: [
      {
        tagName: 'find S1.FLOW',
        qualifiedTagName: 'local/find S1.FLOW',
        historianName: 'local',
        description: 'Inflow of the tank',
        units: 'm3/h',
        stepped: false,
        metadata: {},
      },
    ],
  })
})

test('a pattern without wildcards matches anywhere in tag name and description without regard to case', async () => {
  assert.deepEqual(await names('FLOW'), ['find S1.FLOW', 'find S2.flow'])
  assert.deepEqual(await names('flow'), ['find S1.FLOW', 'find S2.flow'])
  assert.deepEqual(await names('OF THE'), ['find S1.FLOW'])
  assert.deepEqual(await names('höhe'), ['find S1.Level'])
  assert.deepEqual(await names('HÖHE'), ['find S1.Level'])
  assert.deepEqual(await names('_score'), ['find S2.under_score'])
  assert.deepEqual(await names('100%'), ['find S2.100%'])
  assert.deepEqual(await names('.'), [
    'find S1.FLOW',
    'find S1.Level',
    'find S2.100%',
    'find S2.flow',
    'find S2.under_score',
  ])
  assert.deepEqual(await names('nothing has this'), [])
})

test('* and ? are wildcards over the whole text', async () => {
  assert.deepEqual(await names('find s?.flow'), ['find S1.FLOW', 'find S2.flow'])
  assert.deepEqual(await names('find s1*'), ['find S1.FLOW', 'find S1.Level'])
  assert.deepEqual(await names('*flow'), ['find S1.FLOW', 'find S2.flow'])
  assert.deepEqual(await names('flow*'), [])
  assert.deepEqual(await names('inflow*'), ['find S1.FLOW'])
  assert.deepEqual(await names('find S?'), [])
  assert.deepEqual(await names('*/*'), ['find s/slash'])
  assert.deepEqual(await names('h?he'), ['find S1.Level'])
  assert.equal((await names('*')).length, S.length)
  assert.equal((await names('')).length, S.length)
})

test('several words must all be found, anywhere in name or description; a text in double quotes stands as it is', async () => {
  assert.deepEqual(await names('tank flow'), ['find S1.FLOW'])
  assert.deepEqual(await names('FLOW find'), ['find S1.FLOW', 'find S2.flow'])
  assert.deepEqual(await names('höhe level'), ['find S1.Level'])
  assert.deepEqual(await names('"of the tank" s1'), ['find S1.FLOW'])
  assert.deepEqual(await names('"the of"'), [])
  assert.deepEqual(await names('tank level'), [])
  assert.deepEqual(await names('"a*b"'), ['find S2.100%'])
  // With * or ? the text is one pattern, spaces included.
  assert.deepEqual(await names('inflow * tank'), ['find S1.FLOW'])
  assert.deepEqual(await names('tank inflow*'), [])
})

test('regular expressions and SQL are only text', async () => {
  for (const pattern of ['.*', '(', '[a-z]', '\\', '^', '$', "'; DROP TABLE tags; --", '%', '_', '|']) {
    const found = await names(pattern)
    if (!'.%_'.includes(pattern)) assert.deepEqual(found, [], pattern)
  }
  const slow = `${'*a'.repeat(200)}*b`
  const { status } = await search({ search: slow })
  assert.ok(status === 200 || status === 400)
})

test('historian is optional, a trailing / is tolerated, an unknown one is 404', async () => {
  for (const historian of ['local', 'local/']) {
    const { status, body } = await search({ historian, search: 'find *' })
    assert.equal(status, 200)
    assert.equal(body.tags.length, S.length)
  }
  for (const historian of ['nowhere', 'LOCAL', '__proto__', '']) {
    const { status, body } = await search({ historian })
    if (historian === '') continue
    assert.equal(status, 404, historian)
    assert.equal(typeof body.message, 'string')
    assert.ok(Array.isArray(body.errors))
  }
})

test('limit default 100, 1 to 100,000 (else 400)', async () => {
  for (const limit of ['0', '-1', '100001', '1.5', 'abc', '1e3', '0x10', ' 5']) {
    const { status, body } = await search({ limit })
    assert.equal(status, 400, limit)
    assert.match(body.message, /limit/)
  }
  for (const limit of ['1', '10001', '100000']) assert.equal((await search({ limit })).status, 200)
  await create(
    Object.fromEntries(
      Array.from({ length: 120 }, (_, i) => [`local/page ${String(i).padStart(3, '0')}`, {}]),
    ),
  )
  const { body } = await search({ search: 'page ' })
  assert.equal(body.tags.length, 100)
  assert.equal(typeof body.next, 'string')
})

test('cursor from the next of a longer answer goes on without gap or repeat, in order of address', async () => {
  for (const pattern of ['page *', 'page', '*']) {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const { status, body }: Json = await search({
        search: pattern,
        limit: '37',
        ...(cursor ? { cursor } : {}),
      })
      assert.equal(status, 200)
      found.push(...body.tags.map((tag: Json) => tag.qualifiedTagName))
      cursor = body.next
    } while (cursor !== undefined)
    assert.deepEqual(
      found,
      found.toSorted((a, b) => (a < b ? -1 : 1)),
      pattern,
    )
    assert.equal(new Set(found).size, found.length)
    assert.ok(found.length >= 120)
  }
  const exact = await search({ search: 'page *', limit: '120' })
  assert.equal('next' in exact.body, false)
})

test('a cursor made up: 400', async () => {
  const { body } = await search({ search: 'page *', limit: '10' })
  for (const cursor of ['x', 'local/page 001', `${body.next}x`, body.next.slice(2), 'e30', '%', '🌊']) {
    const { status, body: told } = await search({ search: 'page *', cursor })
    assert.equal(status, 400, cursor)
    assert.match(told.message, /cursor/i)
  }
})

test('unknown query parameters get a warning', async () => {
  const { status, body } = await search({ search: 'find *', limt: '5' })
  assert.equal(status, 200)
  assert.match(body.warnings[0], /^Unknown field limt .*was ignored; limit was meant\?$/)
})

// ---- corrections ----

const count = async (tag: string) =>
  (await read('RAW_POINTS', tag, { from: '2026-01-01', to: '2027-01-01' })).dataPoints.length
const HOURS = Array.from({ length: 10 }, (_, i) => [`2026-01-01T0${i}:00:00Z`, i] as const)

test('delete/points deletes [from, to) and answers message, deleted and errors; dryRun only counts', async () => {
  await write({ 'local/DEL': HOURS, 'local/DEL2': HOURS })
  const ranges = {
    'local/DEL': [
      { from: '2026-01-01T02:00:00Z', to: '2026-01-01T04:00:00Z' },
      { from: '2026-01-01T08:00:00Z', to: 'in 900 months' },
    ],
    'local/DEL2': [{ from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:00:00.000001Z' }],
  }
  const dry = await post('/historian/delete/points', { dryRun: true, ranges })
  assert.equal(dry.status, 200)
  assert.deepEqual(dry.body.deleted, { 'local/DEL': 4, 'local/DEL2': 1 })
  assert.equal(await count('local/DEL'), 10)
  const real = await post('/historian/delete/points', { ranges })
  assert.equal(real.status, 200)
  assert.deepEqual(Object.keys(real.body).toSorted(), ['deleted', 'errors', 'message'])
  assert.deepEqual(real.body.deleted, { 'local/DEL': 4, 'local/DEL2': 1 })
  assert.deepEqual(real.body.errors, [])
  const { dataPoints } = await read('RAW_POINTS', 'local/DEL', { from: '2026-01-01', to: '2027-01-01' })
  assert.deepEqual(
    dataPoints.map((point: Json) => point.value),
    [0, 1, 4, 5, 6, 7],
  )
  const again = await post('/historian/delete/points', { ranges })
  assert.deepEqual(again.body.deleted, { 'local/DEL': 0, 'local/DEL2': 0 })
})

test('overlapping ranges count and delete each point once', async () => {
  await write({ 'local/OVER': HOURS })
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T05:00:00Z' }
  const body = {
    ranges: { 'local/OVER': [range, range, { from: '2026-01-01T04:00:00Z', to: '2026-01-01T06:00:00Z' }] },
  }
  const dry = await post('/historian/delete/points', { ...body, dryRun: true })
  const real = await post('/historian/delete/points', body)
  assert.deepEqual(real.body.deleted, { 'local/OVER': 6 })
  assert.deepEqual(dry.body.deleted, { 'local/OVER': 6 })
})

test('delete/points: any issue means nothing changed', async () => {
  await write({ 'local/KEEP': HOURS })
  const good = { from: '2026-01-01', to: '2026-01-02' }
  const { status, body } = await post('/historian/delete/points', {
    ranges: {
      'local/KEEP': [good, { from: 'never', to: 5 }, { from: 5, to: 5 }, { from: 6, to: 5 }, {}, null],
      'local/none': [good],
      'nowhere/x': [good],
      'calc/ADD(1,2)': [good],
      bad: [good],
    },
  })
  assert.equal(status, 400)
  assert.ok(body.errors.includes('Error: Cannot parse type never as time input for tag local/KEEP'))
  assert.ok(body.errors.includes('Tag local/none does not exist'))
  assert.ok(body.errors.includes('Historian nowhere for tag x does not exist'))
  assert.ok(body.errors.includes('Historian calc for tag ADD(1,2) is not writable'))
  assert.ok(body.errors.includes('Invalid tag address bad: <historian_name>/<tag_name> is expected'))
  assert.ok(body.errors.length >= 9)
  assert.equal(await count('local/KEEP'), 10)
})

test('corrections take now and timeZone', async () => {
  await write({ 'local/ZONED': HOURS })
  const { body } = await post('/historian/delete/points', {
    now: '2026-01-01T12:00:00Z',
    timeZone: 'Europe/Oslo',
    ranges: { 'local/ZONED': [{ from: 'today', to: 'today at 04:00' }] },
  })
  assert.deepEqual(body.deleted, { 'local/ZONED': 3 })
})

test('metadata/delete deletes the tags with all their points, and answers like delete/points', async () => {
  await write({ 'local/GONE': HOURS, 'local/GONE2': [] })
  const tags = ['local/GONE', 'local/GONE2']
  const dry = await post('/historian/metadata/delete', { tags, dryRun: true })
  assert.deepEqual(dry.body.deleted, { 'local/GONE': 10, 'local/GONE2': 0 })
  assert.equal(await count('local/GONE'), 10)
  const real = await post('/historian/metadata/delete', { tags })
  assert.equal(real.status, 200)
  assert.deepEqual(real.body.deleted, { 'local/GONE': 10, 'local/GONE2': 0 })
  assert.deepEqual(real.body.errors, [])
  assert.equal(await refusal('CURRENT_POINT', 'local/GONE'), 'Tag local/GONE does not exist')
  assert.deepEqual((await search({ search: 'GONE' })).body.tags, [])
  await create({ 'local/GONE': {} })
  assert.equal(await count('local/GONE'), 0)
})

test('metadata/delete: any issue means nothing changed', async () => {
  await write({ 'local/STAY': HOURS })
  const { status, body } = await post('/historian/metadata/delete', {
    tags: ['local/STAY', 'local/none', 'nowhere/x'],
  })
  assert.equal(status, 400)
  assert.deepEqual(body.errors, [
    'Tag local/none does not exist',
    'Historian nowhere for tag x does not exist',
  ])
  assert.equal(await count('local/STAY'), 10)
})

test('metadata/rename keeps points and metadata under the new address; dryRun changes nothing', async () => {
  await create({ 'local/R1': { units: 'bar' } })
  await write({ 'local/R1': HOURS })
  const renames = { 'local/R1': 'local/R one' }
  const dry = await post('/historian/metadata/rename', { renames, dryRun: true })
  assert.equal(dry.status, 200)
  assert.equal(await count('local/R1'), 10)
  const { status, body } = await post('/historian/metadata/rename', { renames })
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body).toSorted(), ['errors', 'message', 'renamed'])
  assert.deepEqual(body.renamed, renames)
  assert.deepEqual(body.errors, [])
  assert.equal(await count('local/R one'), 10)
  assert.equal((await stored('local/R one'))['local/R one'].units, 'bar')
  assert.equal(await refusal('CURRENT_POINT', 'local/R1'), 'Tag local/R1 does not exist')
  assert.deepEqual((await search({ search: 'R1' })).body.tags, [])
  assert.equal((await search({ search: 'r ONE' })).body.tags.length, 1)
})

test('metadata/rename: refused when the new one exists; any issue means nothing changed', async () => {
  await write({ 'local/F1': HOURS, 'local/F2': HOURS, 'local/F3': HOURS, 'local/F0': HOURS })
  const { status, body } = await post('/historian/metadata/rename', {
    renames: { 'local/F1': 'local/F2', 'local/F3': 'local/F4', 'local/none': 'local/F5', 'local/F0': 'bad' },
  })
  assert.equal(status, 400)
  assert.ok(body.errors.includes('Tag local/F2 already exists'), JSON.stringify(body.errors))
  assert.ok(body.errors.includes('Tag local/none does not exist'))
  assert.ok(body.errors.includes('Invalid tag address bad: <historian_name>/<tag_name> is expected'))
  assert.equal(await count('local/F3'), 10)
  assert.equal(await refusal('CURRENT_POINT', 'local/F4'), 'Tag local/F4 does not exist')
})

test('two renames to one new address, and a rename to no text, are refused', async () => {
  await write({ 'local/T1': HOURS, 'local/T2': HOURS })
  for (const renames of [
    { 'local/T1': 'local/T9', 'local/T2': 'local/T9' },
    { 'local/T1': 5 },
    { 'local/T1': null },
  ]) {
    const { status, body } = await post('/historian/metadata/rename', { renames })
    assert.equal(status, 400, JSON.stringify(renames))
    assert.ok(body.errors.length >= 1 || body.message.length > 10)
  }
  assert.equal(await count('local/T1'), 10)
})

test('hostile keys in corrections are only text', async () => {
  for (const [path, body] of [
    ['delete/points', '{"ranges":{"__proto__":[{"from":1,"to":2}]}}'],
    ['metadata/rename', '{"renames":{"__proto__":"local/x"}}'],
    ['metadata/delete', '{"tags":["__proto__"]}'],
  ] as const) {
    const { status, body: told } = await post(`/historian/${path}`, JSON.parse(body))
    assert.equal(status, 400)
    assert.equal(told.errors[0], 'Invalid tag address __proto__: <historian_name>/<tag_name> is expected')
  }
  const created = await post('/historian/metadata/create', JSON.parse('{"entries":{"__proto__":{}}}'))
  assert.deepEqual(Object.keys(created.body.errors), ['__proto__'])
})

test('The lists hold configured historians, not the virtual ones', async () => {
  for (const path of ['list', 'listwritable']) {
    assert.deepEqual((await get(`/historian/${path}`)).body, { historians: [{ name: 'local' }] })
  }
})

test('multi sees a rename at once', async () => {
  await write({ 'local/RENAMED': [['2026-01-01', 1]] })
  await post('/historian/metadata/rename', { renames: { 'local/RENAMED': 'local/renamed' } })
  const { body } = await multi({ requests: { a: { type: 'CURRENT_POINT', tag: 'local/renamed' } } })
  assert.equal(body.results.a.dataPoint.value, 1)
})
