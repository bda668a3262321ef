import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MemoryAliasStore } from '../../src/aliases/memory-store.fixture.ts'
import { TidemarkError } from '../../src/errors/tidemark-error.ts'
import { jsonHeaders, LOCAL_KEY, post, READ_KEY, seed, testService, WRITE_KEY } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely; that is what the tests are for
type Json = any

let app: ReturnType<typeof testService>['app']

/** A service of its own for each test. */
async function fresh(): Promise<void> {
  app = testService().app
  await seed(app)
}

async function putAlias(name: string, tag: string, on = app): Promise<void> {
  const url = `/historian/aliases/${encodeURIComponent(name)}`
  const headers = jsonHeaders(WRITE_KEY)
  const { statusCode } = await on.inject({ method: 'PUT', url, headers, payload: { tag } })
  assert.equal(statusCode, 201)
}

async function tagOf(name: string): Promise<string> {
  const url = `/historian/aliases/${encodeURIComponent(name)}`
  return (await app.inject({ url, headers: jsonHeaders(READ_KEY) })).json().tag
}

async function rename(body: object, key = WRITE_KEY, on = app): Promise<{ status: number; body: Json }> {
  return post(on, '/historian/metadata/rename', body, key)
}

async function read(tag: string): Promise<Json> {
  const requests = { a: { type: 'HISTORICAL_POINT', tag, details: { at: '2026-01-15T10:05Z' } } }
  const { body } = await post(app, '/historian/multi', { requests }, READ_KEY)
  return body.results.a?.dataPoint.value ?? body.issues[0]
}

const RENAMES = { 'local/FLOW': 'local/NEW' }

describe('a tag that aliases name', () => {
  test('is not renamed, and the aliases are named', async () => {
    await fresh()
    await putAlias('line/flow', 'local/FLOW')
    await putAlias('twice', 'calc/ADD(local/FLOW, local/FLOW)')
    await putAlias('indirect', 'aliases/line/flow')
    await putAlias('other', 'local/BIAS')
    for (const aliases of ['refuse', null, undefined]) {
      for (const dryRun of [true, false]) {
        const { status, body } = await rename({ renames: RENAMES, aliases, dryRun })
        assert.equal(status, 400)
        const sentence =
          'Tag local/FLOW cannot be renamed to local/NEW: it is used by aliases/line/flow and aliases/twice'
        assert.deepEqual(body.errors, [sentence])
        assert.equal(body.issues[0].code, 'RENAME_ALIASES')
      }
    }
    assert.equal(await read('aliases/line/flow'), 20)
    assert.equal((await rename({ renames: { 'local/BIAS': 'local/BIAS' } })).status, 200)
  })

  test('is renamed, and they follow', async () => {
    await fresh()
    await putAlias('line/flow', 'local/FLOW')
    await putAlias('calc', 'calc/add( local/FLOW,local/BIAS , 2)')
    await putAlias('indirect', 'calc/NEG(aliases/line/flow)')
    const would = await rename({ renames: RENAMES, aliases: 'follow', dryRun: true })
    assert.deepEqual(would.body.aliases, {
      'line/flow': 'local/NEW',
      calc: 'calc/add( local/NEW,local/BIAS , 2)',
    })
    assert.equal(await tagOf('line/flow'), 'local/FLOW')
    const { status, body } = await rename({ renames: RENAMES, aliases: 'follow' })
    assert.equal(status, 200)
    assert.deepEqual(body, {
      message: 'All tags renamed!',
      renamed: RENAMES,
      aliases: would.body.aliases,
      errors: [],
    })
    assert.equal(await tagOf('calc'), 'calc/add( local/NEW,local/BIAS , 2)')
    assert.equal(await read('aliases/calc'), 23)
    assert.equal(await read('aliases/indirect'), -20)
  })

  test('names that are swapped are swapped in the aliases too', async () => {
    await fresh()
    await putAlias('both', 'calc/SUB(local/FLOW, local/BIAS)')
    const renames = { 'local/FLOW': 'local/BIAS', 'local/BIAS': 'local/FLOW' }
    const { body } = await rename({ renames, aliases: 'follow' })
    assert.deepEqual(body.aliases, { both: 'calc/SUB(local/BIAS, local/FLOW)' })
    assert.equal(await read('aliases/both'), 19)
  })

  test('a name that needs quotes in a calculation gets them', async () => {
    await fresh()
    await putAlias('quoted', 'calc/ADD("local/FLOW", NEG(local/FLOW ), 0)')
    const { body } = await rename({ renames: { 'local/FLOW': "local/it's, new" }, aliases: 'follow' })
    assert.equal(body.aliases.quoted, String.raw`calc/ADD('local/it\'s, new', NEG('local/it\'s, new' ), 0)`)
    assert.equal(await read('aliases/quoted'), 0)
  })

  test('is not renamed when an alias could not follow, as its calculation would become too long', async () => {
    await fresh()
    const long = `calc/ADD(local/FLOW${', 1'.repeat(3_320)})`
    assert.ok(long.length < 10_000)
    await putAlias('long', long)
    await putAlias('short', 'local/FLOW')
    const renames = { 'local/FLOW': `local/${'N'.repeat(100)}` }
    for (const dryRun of [true, false]) {
      const { status, body } = await rename({ renames, aliases: 'follow', dryRun, dryrun: true })
      assert.equal(status, 400)
      assert.equal(body.message, 'There were errors in the request')
      const [{ code, message, tag }] = body.issues
      assert.deepEqual([body.issues.length, code, tag], [1, 'RENAME_ALIAS_INVALID', 'aliases/long'])
      assert.match(
        message,
        /^The tags cannot be renamed, as aliases\/long cannot follow: .*at most 10000 characters/,
      )
      assert.deepEqual(body.renamed, {})
      assert.equal(body.warnings.length, 1)
    }
    assert.equal(await tagOf('long'), long)
    assert.equal(await tagOf('short'), 'local/FLOW')
    assert.equal(await read('local/FLOW'), 20)
    assert.equal((await rename({ renames, aliases: 'break' })).status, 200)
  })

  test('is not renamed when an alias that the key does not see could not follow; its text is not shown', async () => {
    await fresh()
    await putAlias('hidden', `calc/ADD(local/FLOW, plant/TEMP${', 1'.repeat(3_310)})`)
    const renames = { 'local/FLOW': `local/${'N'.repeat(100)}` }
    const { status, body } = await rename({ renames, aliases: 'follow' }, LOCAL_KEY)
    assert.equal(status, 400)
    const sentence =
      'The tags cannot be renamed, as an alias that this key does not see cannot follow: its calculation would be invalid'
    assert.deepEqual(body.errors, [sentence])
  })

  test('is renamed, and they are left; the error through one names it', async () => {
    await fresh()
    await putAlias('line/flow', 'local/FLOW')
    await putAlias('calc', 'calc/NEG(aliases/line/flow)')
    const { status, body } = await rename({ renames: RENAMES, aliases: 'break' })
    assert.equal(status, 200)
    assert.equal(body.aliases, undefined)
    for (const tag of ['aliases/line/flow', 'aliases/calc']) {
      const { code, message } = await read(tag)
      assert.equal(code, 'TAG_NOT_FOUND')
      assert.equal(message, 'Tag local/FLOW does not exist: alias line/flow refers to it')
    }
    assert.equal((await read('local/FLOW')).message, 'Tag local/FLOW does not exist')
  })

  test('is not renamed by a key that does not see the alias, which it is not told of by name', async () => {
    await fresh()
    await putAlias('hidden', 'calc/ADD(local/FLOW, plant/TEMP)')
    const refused = await rename({ renames: RENAMES }, LOCAL_KEY)
    const sentence =
      'Tag local/FLOW cannot be renamed to local/NEW: it is used by aliases that this key does not see'
    assert.deepEqual(refused.body.errors, [sentence])
    const { body } = await rename({ renames: RENAMES, aliases: 'follow' }, LOCAL_KEY)
    assert.deepEqual(body.aliases, {})
    assert.equal(await tagOf('hidden'), 'calc/ADD(local/NEW, plant/TEMP)')
  })

  test('more than ten aliases are not all named', async () => {
    await fresh()
    for (let i = 0; i < 12; i++) await putAlias(`a${String(i).padStart(2, '0')}`, 'local/FLOW')
    const { body } = await rename({ renames: RENAMES })
    assert.match(body.errors[0], /aliases\/a08, aliases\/a09 and other aliases$/)
  })

  test('an unknown word is refused', async () => {
    await fresh()
    const { status, body } = await rename({ renames: RENAMES, aliases: 'keep' })
    assert.equal(status, 400)
    assert.equal(body.message, 'Invalid aliases keep: follow, refuse or break is expected')
  })
})

test('aliases that cannot be changed after the tags are renamed are said to be, with 503', async () => {
  class FullStore extends MemoryAliasStore {
    isFull = false
    override put(...args: Parameters<MemoryAliasStore['put']>): ReturnType<MemoryAliasStore['put']> {
      if (this.isFull) throw new TidemarkError('ALIASES_UNAVAILABLE', { reason: 'the disk is full' })
      return super.put(...args)
    }
  }
  const store = new FullStore()
  const on = testService({ aliases: store }).app
  await seed(on)
  await putAlias('line/flow', 'local/FLOW', on)
  store.isFull = true
  const request = { renames: RENAMES, aliases: 'follow', unknown: 1 }
  const { status, body } = await rename(request, WRITE_KEY, on)
  assert.equal(status, 503)
  assert.equal(body.warnings.length, 1)
  assert.deepEqual(body.renamed, RENAMES)
  assert.deepEqual(body.aliases, {})
  assert.equal(body.issues[0].code, 'ALIASES_UNAVAILABLE')
})
