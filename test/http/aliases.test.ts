import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { MemoryAliasStore } from '../../src/aliases/memory-store.fixture.ts'
import { DEFAULT_LIMITS } from '../../src/config/settings.ts'
import { get, jsonHeaders, LOCAL_KEY, post, READ_KEY, seed, testService, WRITE_KEY } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
type Json = any

const { app } = testService()
before(() => seed(app))

/** A store that answers nobody. */
class SilentStore extends MemoryAliasStore {
  override get(): never {
    throw new Error('read within a state')
  }
  override read<Result>(): Promise<Result> {
    return new Promise(() => {})
  }
  override put(): Promise<'created' | 'replaced'> {
    return new Promise(() => {})
  }
  override delete(): Promise<boolean> {
    return new Promise(() => {})
  }
}

test('a name is what stands behind the path, however that is escaped', async () => {
  const url = '/%68istorian/%61liases/in%2Fside/two%20words'
  const payload = { tag: 'local/FLOW' }
  const response = await app.inject({ method: 'PUT', url, headers: jsonHeaders(WRITE_KEY), payload })
  assert.equal(response.statusCode, 201)
  assert.equal((await read('/historian/aliases/in/side/two%20words')).status, 200)
  assert.equal((await remove('in/side/two words')).status, 204)
})

test('every alias endpoint has the deadline of all calls', async () => {
  const limits = { ...DEFAULT_LIMITS, deadlineSeconds: 0.05 }
  const silent = testService({ settings: { limits }, aliases: new SilentStore() }).app
  const answers = [
    await read('/historian/aliases', READ_KEY, silent),
    await read('/historian/aliases/A', READ_KEY, silent),
    await put('A', 'local/FLOW', WRITE_KEY, silent),
  ]
  const codes = answers.map(({ status, body }) => `${status} ${body.issues[0].code}`)
  assert.deepEqual(codes, ['504 DEADLINE_EXCEEDED', '504 DEADLINE_EXCEEDED', '504 WRITE_DEADLINE_EXCEEDED'])
  const removed = await remove('A', WRITE_KEY, silent)
  assert.equal(removed.status, 504)
  assert.match(removed.text, /WRITE_DEADLINE_EXCEEDED/)
})

async function put(name: string, body: unknown, key = WRITE_KEY, on = app) {
  const url = `/historian/aliases/${encodeURIComponent(name)}`
  const payload = typeof body === 'string' ? { tag: body } : (body as object)
  const response = await on.inject({ method: 'PUT', url, headers: jsonHeaders(key), payload })
  return { status: response.statusCode, body: response.json() as Json }
}

async function remove(name: string, key = WRITE_KEY, on = app) {
  const url = `/historian/aliases/${encodeURIComponent(name)}`
  const response = await on.inject({ method: 'DELETE', url, headers: { 'x-api-key': key } })
  return { status: response.statusCode, text: response.body }
}

async function read(path: string, key = READ_KEY, on = app): Promise<{ status: number; body: Json }> {
  const { status, text } = await get(on, path, { 'x-api-key': key })
  return { status, body: JSON.parse(text) }
}

/** The value at 10:05, or the sentence that stands in its place. */
async function readValue(tag: string, key = READ_KEY, on = app): Promise<number | string> {
  const details = { at: '2026-01-15T10:05Z' }
  const { body } = await post(
    on,
    '/historian/multi',
    { requests: { a: { type: 'HISTORICAL_POINT', tag, details } } },
    key,
  )
  return body.errors.a ?? body.results.a.dataPoint.value
}

async function historianNames(key: string, on = app): Promise<string[]> {
  return (await read('/historian/list', key, on)).body.historians.map(({ name }: Json) => name)
}

describe('an alias from its making to its end', () => {
  test('there is no historian aliases before there is an alias', async () => {
    assert.deepEqual(await historianNames(READ_KEY), ['lab', 'local', 'plant'])
    assert.deepEqual((await read('/historian/aliases')).body, { aliases: [] })
    assert.deepEqual((await read('/historian/search?historian=aliases')).body, { tags: [] })
    assert.equal(await readValue('aliases/flow'), 'Tag aliases/flow does not exist')
  })

  test('it is made with 201, changed with 200, and answered as it is stored', async () => {
    const body = { tag: 'local/BIAS', description: 'Where the line stands', units: 'm3/h' }
    assert.deepEqual(await put('line/flow', body), { status: 201, body: { name: 'line/flow', ...body } })
    assert.equal(await readValue('aliases/line/flow'), 1)
    const changed = { name: 'line/flow', tag: 'local/FLOW', description: null, units: null }
    assert.deepEqual(await put('line/flow', 'local/FLOW'), { status: 200, body: changed })
    assert.deepEqual(await read('/historian/aliases/line/flow'), { status: 200, body: changed })
    assert.deepEqual(await read('/historian/aliases/line%2Fflow/'), { status: 200, body: changed })
    assert.equal(await readValue('aliases/line/flow'), 20)
    // What was read may be sent back.
    assert.deepEqual(await put('line/flow', changed), { status: 200, body: changed })
  })

  test('it stands wherever a tag may, and in other aliases', async () => {
    await put('double', 'calc/MUL(aliases/line/flow, 2)')
    assert.equal(await readValue('aliases/double'), 40)
    assert.equal(await readValue('calc/ADD(aliases/double, Aliases/line/flow, local/BIAS)'), 61)
    await put('line/flow', 'constants/7')
    assert.equal(await readValue('aliases/double'), 14)
    await put('line/flow', 'local/FLOW')
  })

  test('every request type reads it', async () => {
    const details = { from: '2026-01-15T10:00Z', to: '2026-01-15T11:00Z' }
    const at = { at: '2026-01-15T10:10Z' }
    const asked = {
      CURRENT_POINT: {},
      HISTORICAL_POINT: at,
      INTERPOLATED_POINTS: { ...details, count: 3 },
      RAW_POINTS: { ...details, leftBoundary: 'INTERPOLATED', rightBoundary: 'NEAREST' },
      POINT_BEFORE: at,
      POINT_BEFORE_OR_AT: at,
      POINT_AFTER: at,
      POINT_AFTER_OR_AT: at,
      ADJACENT_POINTS: at,
      AGGREGATED_POINTS: details,
      MULTIPLE_AGGREGATED_POINTS: { ...details, count: 2 },
    }
    const requests = (tag: string) =>
      Object.fromEntries(Object.entries(asked).map(([type, details]) => [type, { type, tag, details }]))
    const ask = async (tag: string) =>
      (await post(app, '/historian/multi', { requests: requests(tag) }, READ_KEY)).body
    const direct = await ask('local/FLOW')
    assert.deepEqual(direct.errors, {})
    assert.deepEqual(await ask('aliases/line/flow'), direct)
  })

  test('the effective tags are those that it leads to', async () => {
    const type = 'CURRENT_POINT'
    const requests = { a: { type, tag: 'aliases/line/flow' }, b: { type, tag: 'local/FLOW' } }
    const { body } = await post(app, '/historian/multi', { requests, explain: true }, READ_KEY)
    assert.equal(body.explain.totals.effectiveTags, 1)
    assert.deepEqual(body.explain.requests.a.tags, ['local/FLOW'])
  })

  test('IFTAGEXISTS takes one that leads nowhere for a tag that does not exist', async () => {
    assert.equal(await readValue('calc/IFTAGEXISTS(aliases/line/flow, 3)'), 20)
    assert.equal(await readValue('calc/IFTAGEXISTS(aliases/none, 3)'), 3)
    assert.equal(await readValue('calc/IFTAGEXISTS(ADD(aliases/none, 1), aliases/double)'), 40)
  })

  test('a cursor goes on after an alias', async () => {
    const details = { from: '2026-01-15T10:00Z', to: '2026-01-15T11:00Z', maxPoints: 3 }
    const ask = async (more: object) => {
      const requests = {
        a: { type: 'RAW_POINTS', tag: 'aliases/line/flow', details: { ...details, ...more } },
      }
      return (await post(app, '/historian/multi', { requests }, READ_KEY)).body
    }
    const { next, ...started } = await ask({})
    const first = started.results.a
    const second = (await ask({ cursor: next.a })).results.a
    assert.deepEqual(
      [...first.dataPoints, ...second.dataPoints].map(({ value }: Json) => value),
      [10, 30, 99, 50],
    )
  })

  test('lists and searches have it, with whether it is stepped', async () => {
    assert.deepEqual(await historianNames(READ_KEY), ['aliases', 'lab', 'local', 'plant'])
    const writable = await read('/historian/listwritable')
    assert.deepEqual(writable.body, { historians: [{ name: 'lab' }, { name: 'local' }] })
    await post(app, '/historian/metadata/create', { entries: { 'lab/VALVE': { stepped: true } } })
    await put('valve', { tag: 'aliases/valve 1', units: '%', description: 'Drain' })
    await put('valve 1', 'lab/VALVE')
    const { body } = await read('/historian/search?search=dra*')
    assert.deepEqual(body.tags, [
      {
        tagName: 'valve',
        qualifiedTagName: 'aliases/valve',
        historianName: 'aliases',
        description: 'Drain',
        units: '%',
        stepped: true,
        metadata: {},
      },
    ])
    const addresses = async (query: string) =>
      (await read(`/historian/search?${query}`)).body.tags.map((tag: Json) => tag.qualifiedTagName)
    assert.deepEqual(await addresses('historian=aliases'), [
      'aliases/double',
      'aliases/line/flow',
      'aliases/valve',
      'aliases/valve 1',
    ])
    assert.deepEqual(await addresses('historian=Aliases/&search=flow'), ['aliases/line/flow'])
    assert.deepEqual((await addresses('')).slice(0, 5), [
      'aliases/double',
      'aliases/line/flow',
      'aliases/valve',
      'aliases/valve 1',
      'lab/VALVE',
    ])
  })

  test('pages of a search and of the list join by their cursors', async () => {
    for (const [path, field, name] of [
      ['/historian/search', 'tags', 'qualifiedTagName'],
      ['/historian/aliases', 'aliases', 'name'],
    ] as const) {
      const whole = (await read(`${path}?limit=10000`)).body[field].map((tag: Json) => tag[name])
      const joined: string[] = []
      let cursor = ''
      do {
        const { body } = await read(`${path}?limit=1${cursor}`)
        joined.push(...body[field].map((tag: Json) => tag[name]))
        cursor = body.next === undefined ? '' : `&cursor=${encodeURIComponent(body.next)}`
      } while (cursor !== '')
      assert.deepEqual(joined, whole)
    }
    const { body } = await read('/historian/aliases?prefix=valve&limit=1')
    assert.deepEqual(
      body.aliases.map(({ name }: Json) => name),
      ['valve'],
    )
    const other = await read(`/historian/aliases?prefix=line&cursor=${encodeURIComponent(body.next)}`)
    assert.deepEqual([other.status, other.body.issues[0].code], [400, 'INVALID_CURSOR'])
  })

  test('metadata/get has it, and nothing can be written to it', async () => {
    const tags = ['aliases/valve', 'aliases/line/flow', 'aliases/none', 'Aliases/valve']
    const { body } = await post(app, '/historian/metadata/get', { tags }, READ_KEY)
    assert.deepEqual(body.entries, {
      'aliases/valve': { description: 'Drain', units: '%', stepped: true },
      'aliases/line/flow': { description: null, units: null, stepped: false },
      'Aliases/valve': { description: 'Drain', units: '%', stepped: true },
    })
    assert.deepEqual(body.errors, { 'aliases/none': 'Tag aliases/none does not exist' })

    const points = { 'aliases/line/flow': [{ timestamp: 0, value: 1 }] }
    const written = await post(app, '/historian/write/points', { points })
    assert.equal(written.status, 400)
    assert.deepEqual(written.body.errors, ['Historian aliases for tag line/flow is not writable'])
    const created = await post(app, '/historian/metadata/update', { entries: { 'aliases/valve': {} } })
    assert.deepEqual(created.body.errors, {
      'aliases/valve': 'Historian aliases for tag valve is not writable',
    })
  })

  test('it is removed with 204, once, and what led to it leads nowhere', async () => {
    assert.deepEqual(await remove('line/flow'), { status: 204, text: '' })
    assert.equal((await remove('line/flow')).status, 404)
    const gone = await read('/historian/aliases/line/flow')
    assert.equal(gone.status, 404)
    assert.equal(gone.body.message, 'Tag aliases/line/flow does not exist')
    assert.equal(await readValue('aliases/line/flow'), 'Tag aliases/line/flow does not exist')
    assert.equal(await readValue('aliases/double'), 'Tag aliases/line/flow does not exist')
    // It is still there to be corrected.
    assert.equal((await read('/historian/aliases/double')).body.tag, 'calc/MUL(aliases/line/flow, 2)')
  })
})

describe('what is refused', () => {
  const refusals: readonly (readonly [title: string, body: Json, status: number, message: RegExp])[] = [
    ['no tag', {}, 400, /^Invalid tag null: a tag address or calculation/],
    ['a tag that is no text', { tag: 5 }, 400, /^Invalid tag 5:/],
    ['no object', [], 400, /^The body is \[\]: an object with tag is expected$/],
    [
      'no address',
      { tag: 'FLOW' },
      400,
      /^Invalid tag address FLOW: <historian_name>\/<tag_name> is expected$/,
    ],
    [
      'no calculation',
      { tag: 'calc/ADD(local/A' },
      400,
      /expected , or \) at column 17 of calc\/ADD\(local\/A$/,
    ],
    ['an unknown function', { tag: 'calc/ADDD(1)' }, 400, /did you mean ADD\?/],
    ['a description that is no text', { tag: 'local/A', description: 1 }, 400, /^Invalid description 1:/],
    ['units with NUL', { tag: 'local/A', units: '\0' }, 400, /^Invalid units/],
    ['another name in the body', { tag: 'local/A', name: 'b' }, 400, /^Invalid name b: the name in the path/],
    ['more than 10,000 characters', { tag: `local/${'x'.repeat(9995)}` }, 400, /at most 10000 characters/],
  ]
  for (const [title, body, status, message] of refusals) {
    test(title, async () => {
      const answer = await put('refused', body)
      assert.equal(answer.status, status)
      assert.match(answer.body.message, message)
      assert.deepEqual(answer.body.errors, [answer.body.message])
      assert.equal(answer.body.issues.length, 1)
      assert.equal((await read('/historian/aliases/refused')).status, 404)
    })
  }

  test('a cycle, with its path; what was there stays', async () => {
    const { app: on } = testService()
    assert.equal((await put('a', 'calc/ADD(aliases/b, 1)', WRITE_KEY, on)).status, 201)
    assert.equal((await put('b', 'aliases/c', WRITE_KEY, on)).status, 201)
    const { status, body } = await put('c', 'calc/NEG(aliases/a)', WRITE_KEY, on)
    assert.equal(status, 400)
    assert.equal(body.issues[0].code, 'ALIAS_CYCLE')
    assert.equal(body.message, 'Alias c would refer to itself: aliases/c > aliases/a > aliases/b > aliases/c')
    assert.equal((await read('/historian/aliases/c', READ_KEY, on)).status, 404)
    assert.match((await put('a', 'Aliases/a', WRITE_KEY, on)).body.message, /: aliases\/a > aliases\/a$/)
    assert.equal((await read('/historian/aliases/a', READ_KEY, on)).body.tag, 'calc/ADD(aliases/b, 1)')
  })

  test('changes by a read key', async () => {
    assert.equal((await put('x', 'local/FLOW', READ_KEY)).status, 403)
    assert.equal((await remove('x', READ_KEY)).status, 403)
  })

  test('an unknown field is ignored and said, and so is what does not exist yet', async () => {
    const { status, body } = await put('later', {
      tag: 'calc/ADD(local/LATER, nowhere/X, aliases/none, local/FLOW, siggen/sin1@60)',
      unit: 'm',
    })
    assert.equal(status, 201)
    assert.deepEqual(body.warnings, [
      'Unknown field unit in an alias was ignored; units was meant?',
      'Tag local/LATER does not exist',
      'Historian nowhere for tag X does not exist',
      'Tag aliases/none does not exist',
    ])
    assert.equal(await readValue('aliases/later'), 'Tag local/LATER does not exist: alias later refers to it')
    await remove('later')
  })

  for (const query of [
    'limit=0',
    'limit=10001',
    'limit=x',
    'cursor=x',
    'prefix=a&prefix=b',
    `prefix=${'x'.repeat(513)}`,
  ]) {
    test(`a list with ${query.slice(0, 20)}`, async () => {
      assert.equal((await read(`/historian/aliases?${query}`)).status, 400)
    })
  }
})

describe('names are any text', () => {
  const { app: on } = testService()
  for (const name of [
    'a/b/c',
    'a//b',
    'a/',
    '/a',
    'ÅÄÖ 😀',
    '100%',
    'x?y=1#z',
    'it\'s (here), "so"',
    '__proto__',
    'constructor',
    'æ'.repeat(512),
  ]) {
    test(JSON.stringify(name.slice(0, 30)), async () => {
      assert.equal((await put(name, 'constants/5', WRITE_KEY, on)).status, 201)
      const path = `/historian/aliases/${encodeURIComponent(name)}`
      assert.equal((await read(path, READ_KEY, on)).body.name, name)
      assert.equal(await readValue(`aliases/${name}`, READ_KEY, on), 5)
      const listed = (await read('/historian/aliases?limit=10000', READ_KEY, on)).body.aliases
      assert.ok(listed.some((alias: Json) => alias.name === name))
      assert.equal((await remove(name, WRITE_KEY, on)).status, 204)
    })
  }

  test('but for control characters, half characters and more than 512', async () => {
    for (const name of ['a\nb', '\u0080', 'x'.repeat(513)]) {
      const { status, body } = await put(name, 'constants/5', WRITE_KEY, on)
      assert.deepEqual([status, body.issues[0].code], [400, 'ALIAS_NAME'])
    }
  })
})

describe('a key that sees one historian', () => {
  const { app: on } = testService()
  before(async () => {
    await seed(on)
    await post(on, '/historian/write/points', {
      points: { 'lab/X': [{ timestamp: 0, value: 1 }] },
      createTags: true,
    })
  })

  test('has no historian aliases while all of them lead elsewhere', async () => {
    await put('hidden', 'lab/X', WRITE_KEY, on)
    await put('through', 'aliases/hidden', WRITE_KEY, on)
    await put('inside', 'calc/ADD(local/FLOW, aliases/through)', WRITE_KEY, on)
    await put('unknown', 'nowhere/X', WRITE_KEY, on)
    await put('dangling', 'aliases/none', WRITE_KEY, on)
    assert.deepEqual(await historianNames(LOCAL_KEY, on), ['local'])
    assert.deepEqual(await historianNames(READ_KEY, on), ['aliases', 'lab', 'local', 'plant'])
  })

  for (const name of ['hidden', 'through', 'inside', 'unknown', 'dangling', 'none']) {
    test(`is told of ${name} that it does not exist, everywhere`, async () => {
      const sentence = `Tag aliases/${name} does not exist`
      const got = await read(`/historian/aliases/${name}`, LOCAL_KEY, on)
      assert.deepEqual([got.status, got.body.message], [404, sentence])
      assert.deepEqual((await read('/historian/aliases', LOCAL_KEY, on)).body, { aliases: [] })
      assert.deepEqual((await read('/historian/search?historian=aliases', LOCAL_KEY, on)).body, { tags: [] })
      assert.equal(await readValue(`aliases/${name}`, LOCAL_KEY, on), sentence)
      assert.equal(await readValue(`calc/ADD(aliases/${name}, local/FLOW)`, LOCAL_KEY, on), sentence)
      const { body } = await post(on, '/historian/metadata/get', { tags: [`aliases/${name}`] }, LOCAL_KEY)
      assert.deepEqual(body.errors, { [`aliases/${name}`]: sentence })
      const explained = await post(
        on,
        '/historian/multi',
        { explain: true, requests: { a: { type: 'CURRENT_POINT', tag: `aliases/${name}` } } },
        LOCAL_KEY,
      )
      assert.equal(explained.body.errors.a, sentence)
      assert.deepEqual([(await remove(name, LOCAL_KEY, on)).status], [404])
    })
  }

  test('cannot take the name of one that it does not see, and all others stay as they are', async () => {
    const { status, body } = await put('hidden', 'local/FLOW', LOCAL_KEY, on)
    assert.deepEqual([status, body.issues[0].code], [403, 'ALIAS_NOT_CHANGEABLE'])
    assert.equal((await read('/historian/aliases/hidden', READ_KEY, on)).body.tag, 'lab/X')
  })

  test('makes, sees and removes those that lead to its historian', async () => {
    assert.equal((await put('mine', 'calc/ADD(local/FLOW, 1)', LOCAL_KEY, on)).status, 201)
    assert.equal((await put('mine too', 'aliases/mine', LOCAL_KEY, on)).status, 201)
    assert.equal(await readValue('aliases/mine too', LOCAL_KEY, on), 21)
    assert.deepEqual(await historianNames(LOCAL_KEY, on), ['aliases', 'local'])
    const { body } = await read('/historian/aliases', LOCAL_KEY, on)
    assert.deepEqual(
      body.aliases.map(({ name }: Json) => name),
      ['mine', 'mine too'],
    )
    assert.equal((await remove('mine too', LOCAL_KEY, on)).status, 204)
    assert.equal((await remove('mine', LOCAL_KEY, on)).status, 204)
  })

  for (const [tag, reason] of [
    ['lab/X', 'Historian lab for tag X does not exist'],
    ['nowhere/X', 'Historian nowhere for tag X does not exist'],
    ['calc/ADD(local/FLOW, lab/X)', 'Historian lab for tag X does not exist'],
    ['aliases/hidden', 'Tag aliases/hidden does not exist'],
    ['aliases/nobody', 'Tag aliases/nobody does not exist'],
  ]) {
    test(`cannot make one that leads to ${tag}`, async () => {
      const { status, body } = await put('probe', tag, LOCAL_KEY, on)
      assert.deepEqual([status, body.issues[0].code], [400, 'ALIAS_TARGET'])
      assert.equal(body.message, `Alias probe cannot be stored: ${reason}`)
    })
  }
})
