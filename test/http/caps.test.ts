import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_LIMITS } from '../../src/config/settings.ts'
import { MemoryHistorian } from '../contract/memory-historian.ts'
import { post, testService } from './service.ts'

const MIB = 1_048_576
const limits = { ...DEFAULT_LIMITS, labels: 50, tagNames: 20, tags: 40, ranges: 60 }

/** A historian that must not be asked anything. */
class Untouched extends MemoryHistorian {
  override findTags(): never {
    throw new Error('tags were looked up')
  }
}

const { app } = testService({
  server: { bodyLimitBytes: MIB, writeBodyLimitBytes: 2 * MIB },
  settings: { limits },
  historians: [new Untouched('local')],
})

/** An object with so many members, long enough to be read in pieces where `padding` says so. */
function members(count: number, make: (i: number) => unknown, padding = 0): string {
  const pad = ' '.repeat(padding)
  return `{${Array.from({ length: count }, (_, i) => `${pad}"local/T${i}":${JSON.stringify(make(i))}`).join()}}`
}

const ASKS: readonly (readonly [path: string, body: (count: number, padding: number) => string])[] = [
  ['metadata/create', (count, padding) => `{"entries":${members(count, () => ({}), padding)}}`],
  [
    'metadata/update',
    (count, padding) => `{"createIfMissing":true,"entries":${members(count, () => ({}), padding)}}`,
  ],
  ['metadata/get', (count, padding) => `{"tags":[${listed(count, padding)}]}`],
  ['metadata/delete', (count, padding) => `{"tags":[${listed(count, padding)}]}`],
  ['metadata/rename', (count, padding) => `{"renames":${members(count, (i) => `local/N${i}`, padding)}}`],
  ['delete/points', (count, padding) => `{"ranges":${members(count, () => [], padding)}}`],
  [
    'write/points',
    (count, padding) => `{"points":${members(count, () => [{ timestamp: 1, value: 1 }], padding)}}`,
  ],
  [
    'write/points',
    (count, padding) => `{"points":${members(count, () => [{ timestamp: 'now', value: 1 }], padding)}}`,
  ],
]

function listed(count: number, padding: number): string {
  return Array.from({ length: count }, (_, i) => `${' '.repeat(padding)}"local/T${i}"`).join()
}

for (const [path, body] of ASKS) {
  for (const padding of [0, 10_000]) {
    test(`${path} with more tags than the limit is refused before any is looked up (${padding} blanks)`, async () => {
      const { status, body: answer } = await post(app, `/historian/${path}`, body(41, padding))
      assert.equal(status, 400)
      assert.equal(answer.issues[0].code, 'LIMIT_TAGS')
      assert.match(answer.message, /limit of one request is 40, .* nothing was changed/)
    })
  }
}

test('a deletion with more ranges than the limit is refused before anything is looked up', async () => {
  const ranges = {
    'local/A': Array(30).fill({ from: 0, to: 1 }),
    'local/B': Array(31).fill({ from: 0, to: 1 }),
  }
  const { status, body } = await post(app, '/historian/delete/points', { ranges })
  assert.equal(status, 400)
  assert.deepEqual([body.issues[0].code, body.deleted], ['LIMIT_RANGES', {}])
  assert.match(body.message, /is 60, and this request has 61/)
})

for (const padding of [0, 8_000]) {
  test(`a multi call with more labels than the limit is refused as a whole (${padding} blanks)`, async () => {
    const requests = members(51, () => ({ type: 'CURRENT_POINT', tag: 'local/A' }), padding)
    const { status, body } = await post(app, '/historian/multi', `{"requests":${requests}}`)
    assert.equal(status, 400)
    assert.deepEqual([body.issues[0].code, body.errors], ['LIMIT_LABELS', {}])
  })
}

test('a multi call that names more tags than the limit is refused before any is looked up', async () => {
  const names = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `local/T${from + i}`)
  const ask = (tag: string) => ({ type: 'CURRENT_POINT', tag })
  for (const requests of [
    Object.fromEntries(names(0, 21).map((tag) => [tag, ask(tag)])),
    { sum: ask(`calc/ADD(${names(0, 21).join()})`) },
    { one: ask(`calc/ADD(${names(0, 15).join()})`), two: ask(`calc/ADD(${names(5, 21).join()})`) },
  ]) {
    const { status, body } = await post(app, '/historian/multi', { requests })
    assert.equal(status, 400)
    assert.equal(body.issues[0].code, 'LIMIT_TAG_NAMES')
    assert.deepEqual(Object.keys(body.errors), Object.keys(requests))
  }
})

test('write/points has a body limit of its own', async () => {
  const points = Array.from({ length: 45_000 }, (_, i) => `{"timestamp":${i + 1},"value":1}`).join()
  const text = `{"createTags":true,"points":{"local/A":[${points}]}}`
  assert.ok(text.length > MIB && text.length < 2 * MIB)
  assert.equal((await post(app, '/historian/write/points', text)).status, 200)
  assert.equal((await post(app, '/historian/multi', text)).status, 413)
  assert.equal((await post(app, '/historian/write/points', `${text}${' '.repeat(2 * MIB)}`)).status, 413)
})

test('an object of ten thousand and one fields of ours, or a thousand and one levels, is refused', async () => {
  const fields = Array.from({ length: 10_001 }, (_, i) => `"unknown ${'x'.repeat(20)}${i}":1`).join()
  const deep = `${'['.repeat(1_001)}${']'.repeat(1_001)}`
  const long = ' '.repeat(300_000)
  for (const body of [
    `{"requests":{},${fields}}`,
    `{"requests":{"a":{"details":{${fields}}}}}`,
    `{"requests":{},"x":${deep}${long}}`,
  ]) {
    const { status, body: answer } = await post(app, '/historian/multi', body)
    assert.equal(status, 400)
    assert.equal(answer.issues[0].code, 'LIMIT_JSON', body.slice(0, 40))
  }
})

test('a body that would make more of memory than all calls may hold is refused', async () => {
  const { app } = testService({ server: { maxBytesInWork: MIB } })
  const { status, body } = await post(
    app,
    '/historian/multi',
    `{"requests":{"a":[${'[],'.repeat(100_000)}[]]}}`,
  )
  assert.equal(status, 400)
  assert.match(body.message, /values, for which server.maxBytesInWork has no room/)
})
