import assert from 'node:assert/strict'
import test from 'node:test'
import { TidemarkError } from '../errors/tidemark-error.ts'
import { createLog, describeError } from './log.ts'

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = []
  write(createLog('info', { write: (line) => void lines.push(line) }))
  return lines.join('')
}

test('a line is one JSON object with an ISO time and the name of its level', () => {
  const line = JSON.parse(logged((log) => log.warn({ a: 1 }, 'said')))
  assert.deepEqual({ ...line, time: '' }, { level: 'warn', time: '', a: 1, msg: 'said' })
  assert.match(line.time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

for (const [title, fields, message] of [
  ['a field named like a key', { apikey: 'SECRET' }, 'm'],
  ['a field inside another', { query: { apikey: 'SECRET' } }, 'm'],
  ['request headers', { req: { headers: { 'x-api-key': 'SECRET' } } }, 'm'],
  ['a URL in a message', {}, 'GET /a?apikey=SECRET&b=1'],
  ['an escaped URL', { referer: 'http://x/?apikey%3DSECRET' }, 'm'],
  ['a header in a text', {}, 'X-Api-Key: SECRET'],
  ['the message of an error', { err: new Error('cannot GET /a?apikey=SECRET') }, 'm'],
] as const) {
  test(`the log blanks ${title}`, () => {
    assert.doesNotMatch(
      logged((log) => log.info(fields, message)),
      /SECRET/,
    )
  })
}

test('an error is logged with its code and causes, and without its other fields', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', password: 'SECRET' })
  const error = new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'lab', reason: 'refused' }, { cause })
  const described = JSON.stringify(describeError(error))
  assert.match(described, /"code":"HISTORIAN_UNAVAILABLE".*"code":"ECONNREFUSED"/s)
  assert.doesNotMatch(described, /SECRET/)
})

test('causes that go in a circle come to an end', () => {
  const error = new Error('round')
  error.cause = error
  assert.ok(JSON.stringify(describeError(error)).length < 100_000)
})
