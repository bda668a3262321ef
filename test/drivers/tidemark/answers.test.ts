import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { TidemarkHistorian } from '../../../src/drivers/tidemark/driver.ts'
import { changedNothing } from '../../../src/historian/remote/change.ts'
import { writeBatch } from '../../../src/historian/write-batch.ts'
import { tidemark as commandLine, temporaryFolder } from '../../cli/run.ts'
import { at, EVER, points } from '../../contract/points.ts'
import { type FakeAnswer, type FakeRequest, fakeInstance } from './fake-instance.ts'
import { configFor, connect } from './upstream.ts'

const context = { signal: new AbortController().signal }
const opened: TidemarkHistorian[] = []
after(async () => {
  for (const historian of opened) await historian.close()
})

/** A historian of a server that gives this answer to everything but discovery. */
async function facing(answer: (request: FakeRequest) => FakeAnswer, options: object = {}) {
  const isDiscovery = ({ path, body }: FakeRequest) => /ready|explain|points":\{\}/.test(path + body)
  const { service, requests } = await fakeInstance((request) =>
    isDiscovery(request) ? { status: 503, body: {} } : answer(request),
  )
  const config = configFor({ service: service as never, writeKey: 'key' }, 'plant', {
    gzip: false,
    ...options,
  })
  const connected = await connect(config, 'site', false)
  opened.push(connected.historian)
  return { ...connected, requests: () => requests.filter((request) => !isDiscovery(request)) }
}

const unavailable = (reason: RegExp) => (error: unknown) => {
  const { code, message } = error as { code?: string; message: string }
  assert.equal(code, 'HISTORIAN_UNAVAILABLE')
  assert.match(message, /^Historian site could not be reached: /)
  assert.match(message, reason)
  return true
}

const read = (historian: TidemarkHistorian) =>
  historian.readRanges([{ tag: 'x', ...EVER, order: 'asc', limit: 10 }], context)

describe('an answer that is none of an instance is an error that names the historian', () => {
  const cases: readonly (readonly [title: string, status: number, body: unknown, reason: RegExp])[] = [
    ['a page of a proxy', 502, '<html>', /: it answered with HTTP status 502$/],
    ['another service', 200, '<html>', /: its answer is not understood: it is no JSON object$/],
    ['a list', 200, [], /it is no JSON object$/],
    ['no results', 200, {}, /: its answer is not understood: label 0 has neither a result nor an error$/],
    ['no points', 200, { results: { 0: {} } }, /its points are no columns$/],
    [
      'points of another form',
      200,
      { results: { 0: { dataPoints: [{ timestamp: 1, value: 1 }] } } },
      /its points are no columns$/,
    ],
    [
      'an error of its own',
      200,
      {
        results: {},
        issues: [{ code: 'BUG', message: 'Something that should hold does not: x', label: '0' }],
      },
      /: Something that should hold does not: x$/,
    ],
    [
      'nothing there',
      404,
      { issues: [{ code: 'PATH_NOT_FOUND', message: 'There is nothing at /x' }] },
      /There is nothing/,
    ],
  ]
  for (const [title, status, body, reason] of cases) {
    test(title, async () => {
      const { historian } = await facing(() => ({ status, body }))
      await assert.rejects(read(historian), unavailable(reason))
    })
  }

  test('single points, windows and counts that are none', async () => {
    const { historian } = await facing(() => ({
      status: 200,
      body: { results: { 0: { dataPoint: 5, aggregates: 5 } } },
    }))
    await assert.rejects(
      historian.readPoints([{ tag: 'x', find: 'before', at: at(0) }], context),
      unavailable(/not understood/),
    )
    await assert.rejects(
      historian.estimatePoints([{ tag: 'x', from: at(0), to: at(1) }], 9, context),
      unavailable(/count/),
    )
    const shape = { stepped: false, holdUntil: at(0) }
    const edges = Float64Array.of(0, 1)
    await assert.rejects(
      historian.readAggregates([{ tag: 'x', edges, aggregates: ['sum'], ...shape }], context),
      unavailable(/aggregates/),
    )
  })
})

test('a read is made again when the connection breaks, and when too much was in work', async () => {
  let calls = 0
  const { historian, requests } = await facing(() => {
    calls++
    if (calls === 1) return null
    if (calls === 2)
      return {
        status: 503,
        body: { issues: [{ code: 'OVERLOADED', message: 'Too much is in work already' }] },
      }
    return {
      status: 200,
      body: { results: { 0: { dataPoints: { timestamps: [], values: [], unit: 'ms' } } } },
    }
  })
  assert.equal((await read(historian))[0]!.points.times.length, 0)
  assert.equal(requests().length, 3)
})

describe('a write is made once', () => {
  const write = (historian: TidemarkHistorian) =>
    historian.write(writeBatch([{ tag: 'x', points: points([1, 1]) }], true), context)

  test('and what became of it is not known when the connection breaks', async () => {
    const { historian, requests } = await facing(() => null)
    await assert.rejects(write(historian), {
      code: 'WRITE_OUTCOME_UNKNOWN',
      message: 'It is not known whether historian site took its points: the connection was cut',
    })
    assert.equal(requests().filter(({ path }) => path.includes('write')).length, 1)
  })

  test('nor when the other instance does not know, or did not finish', async () => {
    const unknown = {
      code: 'WRITE_OUTCOME_UNKNOWN',
      message: 'It is not known whether historian plant took its points: cut',
    }
    for (const answer of [
      { status: 503, body: { issues: [unknown] } },
      { status: 504, body: { issues: [{ code: 'WRITE_DEADLINE_EXCEEDED', message: 'not finished' }] } },
      { status: 502, body: 'bad gateway' },
      { status: 503, body: 'no server is available' },
      { status: 503, body: {} },
      { status: 503, body: { message: 'over', errors: [] } },
      { status: 500, body: { issues: [{ code: 'BUG', message: 'a bug' }] } },
      { status: 503, body: { issues: [{ code: 'OF_A_NEWER_VERSION', message: 'who knows' }] } },
      { status: 408, body: 'timed out' },
      { status: 200, body: 'welcome' },
      { status: 200, body: {} },
      { status: 503, body: { issues: [{ code: 'SHUTTING_DOWN', message: 'The service is shutting down' }] } },
    ]) {
      const { historian } = await facing(() => answer)
      await assert.rejects(write(historian), { code: 'WRITE_OUTCOME_UNKNOWN' }, JSON.stringify(answer))
    }
  })

  test('and it is known that nothing was written when the other instance turned it away', async () => {
    const overloaded = { code: 'OVERLOADED', message: 'Too much is in work already' }
    const { historian } = await facing(() => ({ status: 503, body: { issues: [overloaded] } }))
    await assert.rejects(write(historian), unavailable(/Too much is in work already/))
    const large = { code: 'BODY_TOO_LARGE', message: 'The body is larger than 1024 bytes' }
    const small = await facing(() => ({ status: 413, body: { issues: [large] } }))
    await assert.rejects(write(small.historian), {
      code: 'HISTORIAN_LIMIT',
      message: 'Historian site has a limit of its own: The body is larger than 1024 bytes',
    })
  })

  test('and it is known where the other instance knows, whatever the status', async () => {
    const failed = { code: 'WRITE_FAILED', message: 'Historian plant did not take its points: full' }
    const keys = {
      code: 'KEYS_UNAVAILABLE',
      message: 'The store of API keys could not be reached: the connection was cut',
    }
    const down = {
      code: 'HISTORIAN_UNAVAILABLE',
      message: 'Historian plant could not be reached: no answer within 20 seconds',
    }
    for (const answer of [
      { status: 503, body: { issues: [failed] } },
      { status: 504, body: { issues: [failed] } },
      { status: 503, body: { issues: [keys] } },
      { status: 503, body: { issues: [down] } },
      { status: 404, body: 'no such page' },
      { status: 413, body: '<html>' },
      { status: 401, body: {} },
    ]) {
      const { historian } = await facing(() => answer)
      await assert.rejects(
        write(historian),
        (error) => changedNothing(error) && (error as { code?: string }).code === 'HISTORIAN_UNAVAILABLE',
        JSON.stringify(answer),
      )
    }
    const partly = {
      code: 'WRITE_PARTIAL',
      message: 'Historian plant took only a part of its points: field type conflict',
    }
    const { historian } = await facing(() => ({ status: 503, body: { issues: [partly] } }))
    await assert.rejects(write(historian), { code: 'WRITE_PARTIAL', message: /took only a part.*conflict/ })
  })

  test('and of metadata it is known what became of each entry, or of none', async () => {
    const metadata = { description: null, units: null, stepped: false }
    const put = (historian: TidemarkHistorian) =>
      historian.putTags(
        ['x', 'y'].map((name) => ({ name, metadata })),
        'upsert',
        context,
      )
    const answer = (code: string, handled: readonly string[]) => ({
      status: 200,
      body: {
        handledEntries: Object.fromEntries(handled.map((tag) => [tag, metadata])),
        issues: [{ code, message: 'a reason', tag: 'plant/y' }],
      },
    })
    for (const [code, handled, told] of [
      ['CHANGE_OUTCOME_UNKNOWN', ['plant/x'], 'WRITE_OUTCOME_UNKNOWN'],
      ['HISTORIAN_UNAVAILABLE', ['plant/x'], 'WRITE_PARTIAL'],
      ['HISTORIAN_UNAVAILABLE', [], 'WRITE_OUTCOME_UNKNOWN'],
    ] as const) {
      const { historian } = await facing(() => answer(code, handled))
      await assert.rejects(put(historian), { code: told }, code)
    }
  })

  test('and a time that runs out in it leaves its outcome unknown', async () => {
    const { service } = await fakeInstance(() => new Promise<FakeAnswer>(() => {}))
    const config = configFor({ service: service as never, writeKey: 'key' }, 'plant', { timeoutSeconds: 2 })
    const { historian } = await connect(config, 'site', false)
    opened.push(historian)
    await assert.rejects(write(historian), {
      code: 'WRITE_OUTCOME_UNKNOWN',
      message: 'It is not known whether historian site took its points: no answer within 2 seconds',
    })
  })
})

test('a cursor that the other instance does not take is found again from the start', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `t${String(index).padStart(2, '0')}`)
  const tagOf = (tagName: string) => ({ tagName, description: null, units: null, stepped: false })
  const { historian, requests } = await facing(({ path }) => {
    const query = new URL(path, 'http://x').searchParams
    const cursor = query.get('cursor')
    if (cursor !== null && !cursor.startsWith('own-')) {
      return { status: 400, body: { issues: [{ code: 'INVALID_CURSOR', message: 'Invalid cursor' }] } }
    }
    const start = cursor === null ? 0 : Number(cursor.slice(4))
    const end = Math.min(start + Math.min(Number(query.get('limit')), 8), names.length)
    const next = end < names.length ? { next: `own-${end}` } : {}
    return { status: 200, body: { tags: names.slice(start, end).map(tagOf), ...next } }
  })
  const page = await historian.searchTags({ pattern: null, after: 't11', limit: 5 }, context)
  assert.deepEqual(
    page.tags.map(({ name }) => name),
    names.slice(12, 17),
  )
  assert.equal(page.more, true)
  assert.equal(requests().length, 4)
})

test('the key goes as a header, and neither it nor the address stands in an error', async () => {
  const { historian, requests, log } = await facing(() => ({ status: 401, body: {} }), {})
  await assert.rejects(read(historian), (error) => {
    const { message } = error as Error
    assert.equal(
      message,
      'Historian site could not be reached: it refused the credentials of the setting key',
    )
    return true
  })
  assert.equal(requests()[0]!.headers['x-api-key'], 'key')
  assert.doesNotMatch(log.join('\n'), /127\.0\.0\.1/)
})

test('a key that was changed is found without a restart', async () => {
  const { historian, requests } = await facing(({ headers }) =>
    headers['x-api-key'] === 'new'
      ? {
          status: 200,
          body: {
            results: { 0: { dataPoints: { timestamps: [], values: [], unit: 'ms' } } },
          },
        }
      : { status: 401, body: {} },
  )
  await assert.rejects(read(historian), unavailable(/credentials/))
  const variable = Object.keys(process.env)
    .filter((name) => name.startsWith('TIDEMARK_TEST_KEY_'))
    .at(-1)!
  process.env[variable] = 'new'
  await read(historian)
  assert.deepEqual(
    requests().map(({ headers }) => headers['x-api-key']),
    ['key', 'new'],
  )
})

test('all calls under way when a key was changed take the new one', async () => {
  const { historian, requests, setKey } = await facingKeys('key')
  // The second one takes the key that is kept from then on.
  for (let calls = 0; calls < 2; calls++) await read(historian)
  setKey('new')
  await Promise.all(Array.from({ length: 8 }, () => read(historian)))
  assert.ok(
    requests().filter(({ headers }) => headers['x-api-key'] === 'key').length > 2,
    'several were refused',
  )
})

test('a new connection is made with the key of that moment, though the one before still opens', async () => {
  const { historian, requests, setKey, hangUp } = await facingKeys('key', 'new')
  await read(historian)
  setKey('new')
  await read(historian)
  hangUp()
  await read(historian)
  await read(historian)
  const keys = requests().map(({ headers }) => headers['x-api-key'])
  assert.deepEqual([...new Set(keys)], ['key', 'new'])
  assert.equal(keys.at(-1), 'new')
})

/** Facing an instance that takes these keys, `key` among them; a single one opens nothing after another one was set. */
async function facingKeys(...keys: readonly string[]) {
  const accepted = new Set<unknown>(keys)
  let hangsUp = false
  const facingThem = await facing(({ headers }) => {
    if (hangsUp) {
      hangsUp = false
      return null
    }
    const dataPoints = { timestamps: [], values: [], unit: 'ms' }
    return accepted.has(headers['x-api-key'])
      ? { status: 200, body: { results: { 0: { dataPoints } } } }
      : { status: 401, body: {} }
  })
  const variable = Object.keys(process.env)
    .filter((name) => name.startsWith('TIDEMARK_TEST_KEY_'))
    .at(-1)!
  const setKey = (key: string) => {
    process.env[variable] = key
    if (keys.length === 1) accepted.clear()
    accepted.add(key)
  }
  return {
    ...facingThem,
    setKey,
    hangUp: () => {
      hangsUp = true
    },
  }
}

test('what the configuration says wrong never shows a key or a password', async () => {
  const folder = await temporaryFolder()
  await writeFile(
    join(folder, 'tidemark.yaml'),
    'historians: {hq: {type: tidemark, url: "https://me:hidden@hq", historian: plant, key: tdm_hidden}}',
  )
  const { code, stdout, stderr } = await commandLine(['serve'], { cwd: folder })
  assert.equal(code, 2)
  assert.match(
    stderr,
    /historians\.hq\.url: "https:\/\/\.\.\.@hq" is not allowed: the address of a Tidemark /,
  )
  assert.match(
    stderr,
    /historians\.hq\.key: this value is not allowed: env: <name of a variable> or file: <path>, /,
  )
  assert.doesNotMatch(stdout + stderr, /hidden/)
})
