import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { post, seed, testService } from './service.ts'

const { app } = testService()
test.before(() => seed(app))

const HOSTILE = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  '',
  ' ',
  '0',
  '-1',
  '"',
  '\\',
  "'",
  '\n\r\t',
  '\u0000',
  '\u2028\u2029',
  '\ud800',
  '\udfff x',
  '💧',
  'é',
  'e\u0301',
  '</script>',
  'results',
  'x'.repeat(100_000),
]

/** A JSON object from entries, in which `__proto__` is a field like any other. */
function objectText(entries: readonly (readonly [string, unknown])[]): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
}

async function multi(labels: readonly string[], tag: string) {
  const requests = objectText(labels.map((label) => [label, { type: 'CURRENT_POINT', tag, details: {} }]))
  return post(app, '/historian/multi', `{"requests":${requests}}`)
}

test('every label comes back as that label, in results and in errors', async () => {
  const answered = await multi(HOSTILE, 'local/FLOW')
  assert.equal(answered.status, 200)
  assert.deepEqual(Object.keys(answered.body.results).sort(), [...HOSTILE].sort())
  const wrong = await multi(HOSTILE, 'local/NONE')
  assert.equal(wrong.status, 200)
  assert.deepEqual(Object.keys(wrong.body.errors).sort(), [...HOSTILE].sort())
  assert.deepEqual(
    wrong.body.issues.map((issue: { label: string }) => issue.label).sort(),
    [...HOSTILE].sort(),
  )
  assert.equal(({} as { dataPoint?: unknown }).dataPoint, undefined)
})

test('any labels at all come back', async () => {
  const label = fc.string({ unit: 'binary', maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(label, { maxLength: 20 }), async (labels) => {
      const { status, body } = await multi(labels, 'local/FLOW')
      assert.equal(status, 200)
      assert.deepEqual(Object.keys(body.results).sort(), [...labels].sort())
    }),
    { numRuns: 50 },
  )
})

test('every tag name is written and read back as it is, or refused', async () => {
  for (const name of HOSTILE) {
    const address = `local/${name}`
    const points = objectText([[address, [{ timestamp: '2026-01-15T10:00:00Z', value: 7 }]]])
    const written = await post(app, '/historian/write/points', `{"createTags":true,"points":${points}}`)
    const isAllowed = name !== '' && name.length <= 512 && name.isWellFormed() && !/\p{Cc}/u.test(name)
    assert.equal(written.status, isAllowed ? 200 : 400, JSON.stringify(name).slice(0, 50))
    const found = await post(app, '/historian/metadata/get', JSON.stringify({ tags: [address] }))
    assert.deepEqual(Object.keys(found.body[isAllowed ? 'entries' : 'errors']), [address])
    if (!isAllowed) continue
    const read = await multi(['x'], address)
    // A name may also read as part of a calculation only inside one, never on its own.
    assert.equal(read.body.results.x?.dataPoint.value, 7, JSON.stringify(name))
  }
})

test('any JSON at all gets an answer that says what is wrong, from every endpoint', async () => {
  const urls = [
    '/historian/multi',
    '/historian/write/points',
    '/historian/metadata/create',
    '/historian/metadata/update',
    '/historian/metadata/get',
    '/historian/delete/points',
    '/historian/metadata/delete',
    '/historian/metadata/rename',
  ]
  const field = fc.constantFrom(
    'requests',
    'points',
    'entries',
    'tags',
    'ranges',
    'renames',
    'now',
    'timeZone',
    'dryRun',
  )
  const body = fc.oneof(fc.jsonValue(), fc.dictionary(field, fc.jsonValue()))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...urls), body, async (url, sent) => {
      const { status, body: answer } = await post(app, url, JSON.stringify(sent))
      assert.ok([200, 400].includes(status), `${status} ${JSON.stringify(answer)}`)
      if (status !== 200) assert.ok(answer.message.length > 0)
      if (answer.issues !== undefined)
        assert.ok(answer.issues.every((issue: { code: string }) => issue.code !== 'BUG'))
    }),
    { numRuns: 300 },
  )
})
