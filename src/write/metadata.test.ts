import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contents, historianWith, pointsOf, writeCall } from '../../test/write/call.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian } from '../historian/contract.ts'
import { createMetadata, getMetadata, updateMetadata } from './metadata.ts'
import { writePoints } from './write-points.ts'

const FULL = { description: 'Outlet flow', units: 'm3/h', stepped: true }
const EMPTY = { description: null, units: null, stepped: false }

type Put = typeof createMetadata

/** Outcome and body with plain objects in place of those without a prototype. */
async function run(operation: Put | typeof getMetadata, body: unknown, ...historians: readonly Historian[]) {
  const all = historians.length > 0 ? historians : [await historianWith('local', ['OLD'])]
  const { outcome, body: answered } = await operation(JSON.parse(JSON.stringify(body)), writeCall(all))
  return { outcome, body: JSON.parse(JSON.stringify(answered)) }
}

async function errorsOf(operation: Put, body: unknown, ...historians: readonly Historian[]) {
  const { outcome, body: answered } = await run(operation, body, ...historians)
  assert.equal(outcome, 'done')
  return answered.errors
}

describe('optional fields', () => {
  const states = { 0: 'Closed', 1: 'Open' }

  test('maxGap and states stay when they are left out, and null clears them', async () => {
    const local = await historianWith('local', ['A'])
    const put = async (metadata: unknown, operation = updateMetadata, options = {}) => {
      const { body } = await run(operation, { entries: { 'local/A': metadata }, ...options }, local)
      assert.deepEqual(body.errors, {})
      const read = await run(getMetadata, { tags: ['local/A'] }, local)
      assert.deepEqual(read.body.entries, body.handledEntries)
      return body.handledEntries['local/A']
    }
    assert.deepEqual(await put({ maxGap: '5min' }), { ...EMPTY, maxGap: '5min' })
    assert.deepEqual(await put({ states: { '01.0': 'Open', 0: 'Closed' } }), {
      ...EMPTY,
      stepped: true,
      maxGap: '5min',
      states,
    })
    const upsert = { updateIfExists: true }
    assert.deepEqual(await put({ units: 'x' }, createMetadata, upsert), {
      ...EMPTY,
      units: 'x',
      stepped: true,
      maxGap: '5min',
      states,
    })
    assert.deepEqual(await put({ maxGap: null, stepped: false }), { ...EMPTY, stepped: true, states })
    assert.deepEqual(await put({ states: null, stepped: false }), EMPTY)
  })

  test('a field of another form is an error of its entry', async () => {
    const long = 'a duration above 0 of a fixed length, such as 90s, 5min or 1d, is expected'
    for (const maxGap of ['0s', '1mo', '1y', 'P1M', '-1s', '', 'soon', 5, {}, true]) {
      const errors = await errorsOf(updateMetadata, { entries: { 'local/OLD': { maxGap } } })
      const shown = typeof maxGap === 'string' ? maxGap : JSON.stringify(maxGap)
      assert.equal(errors['local/OLD'], `Invalid maxGap ${shown} for tag local/OLD: ${long}`)
    }
    for (const invalid of [{}, [], 'x', 1, { a: 'b' }, { 1: 'other' }, { 1: 'x', '1.0': 'y' }]) {
      const errors = await errorsOf(updateMetadata, { entries: { 'local/OLD': { states: invalid } } })
      assert.match(
        errors['local/OLD'],
        /^Invalid states .* for tag local\/OLD: an object of 1 to 200 distinct names/,
      )
    }
  })
})

describe('create', () => {
  test('a tag is made with its metadata, and what is left out or null is null, null and false', async () => {
    const local = await historianWith('local')
    const entries = {
      'local/A': FULL,
      'local/B': {},
      'local/C': { description: null, units: '', stepped: null },
    }
    assert.deepEqual(await run(createMetadata, { entries }, local), {
      outcome: 'done',
      body: {
        handledEntries: { 'local/A': FULL, 'local/B': EMPTY, 'local/C': { ...EMPTY, units: '' } },
        errors: {},
      },
    })
    assert.deepEqual((await contents(local)).A, { ...FULL, points: [] })
  })

  test('an existing tag is overwritten only when asked to, and its points stay', async () => {
    const local = await historianWith('local', ['OLD'])
    const points = { 'local/OLD': [{ timestamp: 0, value: 1 }] }
    await writePoints({ points }, writeCall([local]))
    const entries = { 'local/OLD': FULL, 'local/NEW': FULL }
    assert.deepEqual((await run(createMetadata, { entries }, local)).body, {
      handledEntries: { 'local/NEW': FULL },
      errors: { 'local/OLD': 'Tag local/OLD already exists' },
      issues: [{ code: 'TAG_EXISTS', message: 'Tag local/OLD already exists', tag: 'local/OLD' }],
    })
    const { body } = await run(createMetadata, { entries, updateIfExists: true }, local)
    assert.deepEqual(body, { handledEntries: entries, errors: {} })
    assert.deepEqual(await pointsOf(local, 'OLD'), [[0, 1, 0]])
  })
})

describe('update', () => {
  test('fields that are left out are reset', async () => {
    const local = await historianWith('local', ['OLD'])
    await run(updateMetadata, { entries: { 'local/OLD': FULL } }, local)
    await run(updateMetadata, { entries: { 'local/OLD': { units: 'l/s' } } }, local)
    assert.deepEqual((await contents(local)).OLD, { ...EMPTY, units: 'l/s', points: [] })
  })

  test('a missing tag is made only when asked to', async () => {
    const entries = { 'local/NEW': FULL }
    const errors = { 'local/NEW': 'Tag local/NEW does not exist' }
    assert.deepEqual(await errorsOf(updateMetadata, { entries }), errors)
    assert.deepEqual(await errorsOf(updateMetadata, { entries, createIfMissing: false }), errors)
    assert.deepEqual(await errorsOf(updateMetadata, { entries, createIfMissing: null }), errors)
    assert.deepEqual(await errorsOf(updateMetadata, { entries, createIfMissing: true }), {})
  })
})

test('entries with errors leave the others alone', async () => {
  const archive = await historianWith('archive', ['A'], { writable: false })
  const local = await historianWith('local')
  const entries = {
    'none/A': FULL,
    'archive/A': FULL,
    'calc/ADD(1,2)': FULL,
    'local/A': FULL,
    nowhere: FULL,
    'local/B': 5,
    'local/C': null,
    'local/D': { description: 5, units: ['x'], stepped: 'true' },
  }
  assert.deepEqual(await errorsOf(createMetadata, { entries }, archive, local), {
    'none/A': 'Historian none for tag A does not exist',
    'archive/A': 'Historian archive for tag A is not writable',
    'calc/ADD(1,2)': 'Historian calc for tag ADD(1,2) is not writable',
    nowhere: 'Invalid tag address nowhere: <historian_name>/<tag_name> is expected',
    'local/B':
      'Invalid metadata 5 for tag local/B: an object with description, units and stepped is expected',
    'local/C':
      'Invalid metadata null for tag local/C: an object with description, units and stepped is expected',
    'local/D':
      'Invalid description 5 for tag local/D: null or a text of at most 10000 characters without NUL and lone surrogates is expected; ' +
      'Invalid units ["x"] for tag local/D: null or a text of at most 512 characters without NUL and lone surrogates is expected; ' +
      'Invalid stepped true for tag local/D: true or false is expected',
  })
  assert.deepEqual(Object.keys(await contents(local)), ['A'])
})

test('hostile addresses come back as they are and pollute nothing', async () => {
  const local = await historianWith('local')
  const hostile = [
    'local/__proto__',
    'local/constructor',
    "local/'; DROP TABLE--",
    'local/😀',
    'local/a/../b',
  ]
  const refused = ['__proto__', 'constructor', '', 'local/\n', 'local/\udc00', 'toString/x y/']
  // Built as text: in a literal, `__proto__` would be no key.
  const entries = [...hostile, ...refused].map((address) => `${JSON.stringify(address)}: {"units": "x"}`)
  const body = JSON.parse(`{"entries": {${entries.join(',')}}}`)
  const { body: answered } = await createMetadata(body, writeCall([local]))
  assert.deepEqual(Object.keys(answered.handledEntries), hostile)
  assert.deepEqual(Object.keys(answered.errors), refused)
  assert.deepEqual(
    answered.issues!.map((issue) => issue.tag),
    refused,
  )
  assert.equal(({} as Record<string, unknown>).units, undefined)
  const { body: read } = await getMetadata({ tags: hostile }, writeCall([local]))
  assert.deepEqual(Object.keys(read.entries), hostile)
})

test('what not every historian can give back as it was is refused', async () => {
  for (const units of ['a\0b', '\ud800', 'x'.repeat(513)]) {
    const errors = await errorsOf(createMetadata, { entries: { 'local/A': { units } } })
    assert.match(errors['local/A'], /^Invalid units /)
  }
})

test('unknown fields are ignored, and said', async () => {
  const { body } = await run(createMetadata, { entries: { 'local/A': { unit: 'bar' } }, updateIfExist: true })
  assert.deepEqual(body.warnings, [
    'Unknown field updateIfExist in the call was ignored; updateIfExists was meant?',
    'Unknown field unit in the metadata of a tag was ignored; units was meant?',
  ])
})

for (const [body, input, message] of [
  [null, 'null', 'The body is null: an object with entries is expected'],
  [{}, 'null', 'Invalid entries null: an object of metadata by tag address is expected'],
  [{ entries: [] }, '[]', 'Invalid entries []: an object of metadata by tag address is expected'],
  [{ entries: {}, updateIfExists: 'yes' }, 'yes', 'Invalid updateIfExists yes: true or false is expected'],
] as const) {
  test(`refused: ${message}`, async () => {
    assert.deepEqual(await run(createMetadata, body), {
      outcome: 'refused',
      body: {
        message,
        errors: { '*': message },
        issues: [{ code: 'INVALID_REQUEST', message, input }],
        handledEntries: {},
      },
    })
  })
}

describe('get', () => {
  test('named tags are given, once each, and what is wrong with the others', async () => {
    const local = await historianWith('local', ['OLD'])
    const tags = ['local/OLD', 'local/NEW', 'local/OLD', 'none/A', 'x', 'constants/5']
    assert.deepEqual(await run(getMetadata, { tags }, local), {
      outcome: 'done',
      body: {
        entries: { 'local/OLD': EMPTY },
        errors: {
          'local/NEW': 'Tag local/NEW does not exist',
          'none/A': 'Historian none for tag A does not exist',
          x: 'Invalid tag address x: <historian_name>/<tag_name> is expected',
          'constants/5': 'Historian constants cannot hold metadata',
        },
        issues: [
          { code: 'TAG_NOT_FOUND', message: 'Tag local/NEW does not exist', tag: 'local/NEW' },
          { code: 'HISTORIAN_NOT_FOUND', message: 'Historian none for tag A does not exist', tag: 'none/A' },
          {
            code: 'INVALID_TAG_ADDRESS',
            message: 'Invalid tag address x: <historian_name>/<tag_name> is expected',
            tag: 'x',
            input: 'x',
          },
          { code: 'NOT_SUPPORTED', message: 'Historian constants cannot hold metadata', tag: 'constants/5' },
        ],
      },
    })
  })

  test('a historian that is only read from is asked too', async () => {
    const archive = await historianWith('archive', ['A'], { writable: false })
    const { body } = await run(getMetadata, { tags: ['archive/A'] }, archive)
    assert.deepEqual(body, { entries: { 'archive/A': EMPTY }, errors: {} })
  })

  test('without an array of texts it is refused', async () => {
    const refused = async (body: unknown) => (await run(getMetadata, body)).body.message
    assert.equal(await refused({}), 'Invalid tags null: an array of tag addresses is expected')
    assert.equal(
      await refused({ tags: ['local/OLD', 5] }),
      'Invalid tag address 5: <historian_name>/<tag_name> is expected at place 1 of tags',
    )
  })
})

describe('historians that fail', () => {
  const unavailable = new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'down', reason: 'no route' })
  const failing = (error: unknown) => async () => {
    throw error
  }

  test('the entries of one out of reach are errors, and the others are handled', async () => {
    const [down, local] = [await historianWith('down'), await historianWith('local')]
    down.putTags = failing(unavailable)
    const entries = { 'down/A': {}, 'local/A': {} }
    const { outcome, body } = await run(createMetadata, { entries }, down, local)
    assert.equal(outcome, 'done')
    assert.deepEqual(body.handledEntries, { 'local/A': EMPTY })
    assert.deepEqual(body.errors, { 'down/A': 'Historian down could not be reached: no route' })
    assert.equal(body.issues[0].code, 'HISTORIAN_UNAVAILABLE')
  })

  test('an entry that its historian has no place for is an error of its own, and the others are handled', async () => {
    const local = await historianWith('local')
    const refusal = new TidemarkError('HISTORIAN_REFUSED', { historian: 'local', reason: 'no such names' })
    const stored = local.putTags.bind(local)
    local.putTags = async (entries, mode, context) =>
      Promise.all(
        entries.map(async (entry) =>
          entry.name === 'B' ? refusal : (await stored([entry], mode, context))[0]!,
        ),
      )
    const entries = { 'local/A': {}, 'local/B': {}, 'local/C': {} }
    const { outcome, body } = await run(createMetadata, { entries }, local)
    assert.equal(outcome, 'done')
    assert.deepEqual(body.handledEntries, { 'local/A': EMPTY, 'local/C': EMPTY })
    assert.deepEqual(body.errors, { 'local/B': refusal.message })
    assert.deepEqual(body.issues, [{ code: 'HISTORIAN_REFUSED', message: refusal.message, tag: 'local/B' }])
  })

  test('an outcome that is not known is reported for changes, not for points', async () => {
    const down = await historianWith('down')
    const cut = { historian: 'down', reason: 'the connection was cut' }
    down.putTags = failing(new TidemarkError('WRITE_OUTCOME_UNKNOWN', cut))
    const { body } = await run(createMetadata, { entries: { 'down/A': {} } }, down)
    assert.equal(
      body.errors['down/A'],
      'It is not known whether historian down made its changes: the connection was cut',
    )
    assert.equal(body.issues[0].code, 'CHANGE_OUTCOME_UNKNOWN')
  })

  test('when nothing else was handled the outcome says so, in get too', async () => {
    const down = await historianWith('down')
    down.putTags = failing(unavailable)
    down.findTags = failing(unavailable)
    const errors = { 'down/A': 'Historian down could not be reached: no route' }
    const put = await run(updateMetadata, { entries: { 'down/A': {} } }, down)
    assert.equal(put.outcome, 'unavailable')
    assert.deepEqual(put.body.errors, errors)
    const got = await run(getMetadata, { tags: ['down/A'] }, down)
    assert.equal(got.outcome, 'unavailable')
    assert.deepEqual(got.body.errors, errors)
  })

  test('a bug of a driver stays in the log', async () => {
    const local = await historianWith('local')
    const bug = new Error('/srv/secret')
    local.putTags = failing(bug)
    const result = await createMetadata({ entries: { 'local/A': {} } }, writeCall([local]))
    assert.equal(result.outcome, 'bug')
    assert.doesNotMatch(JSON.stringify(result.body), /secret/)
    assert.deepEqual(result.failures, [bug])
  })

  test('a client that has gone is not worked for', async () => {
    const local = await historianWith('local')
    const call = writeCall([local], { signal: AbortSignal.abort() })
    assert.equal((await createMetadata({ entries: { 'local/A': {} } }, call)).outcome, 'cancelled')
    assert.deepEqual(Object.keys(await contents(local)), [])
  })
})

test('the deadline ends a look at metadata whose historian does not end with its signal', async () => {
  const hung = await historianWith('local', ['A'])
  hung.findTags = () => new Promise(() => {})
  const { outcome } = await getMetadata({ tags: ['local/A'] }, writeCall([hung], { deadlineSeconds: 0.01 }))
  assert.equal(outcome, 'deadline')
})
