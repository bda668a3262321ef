import assert from 'node:assert/strict'
import { test } from 'node:test'
import { influxConfigSchema } from './config.ts'

const base = { url: 'http://localhost:8086', database: 'plant' }

/** The messages for settings that are not allowed, by path. */
function problems(settings: Readonly<Record<string, unknown>>): readonly string[] {
  const { success, error } = influxConfigSchema.safeParse({ ...base, ...settings })
  return success ? [] : error!.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

test('URL and database are enough, and what is there already is read', () => {
  const config = influxConfigSchema.parse(base)
  assert.equal(config.writable, false)
  assert.equal(config.existing, true)
  assert.equal(config.url.origin, 'http://localhost:8086')
  assert.equal(influxConfigSchema.parse({ ...base, writable: true }).existing, false)
})

test('settings that contradict each other are refused where they stand', () => {
  const env = { env: 'SECRET' }
  for (const [settings, expected] of [
    [{ url: 'http://user:word@localhost:8086' }, /^url: an http or https URL without user name/],
    [{ url: 'ftp://localhost' }, /^url: /],
    [{ tagName: 'plant' }, /^tagName: a template/],
    [{ writable: true, metadata: { kind: 'none' } }, /^metadata: kind: own/],
    [{ existing: false, metadata: { kind: 'none' } }, /^existing: true/],
    [{ username: 'reader' }, /^password: username and password/],
    [{ username: 'reader', password: env, token: env }, /^token: /],
    [{ good: [0, 1], bad: 1 }, /^bad: /],
    [{ good: ['GOOD'], bad: 1 }, /^good: values of one type/],
    [{ statusField: 'value' }, /^statusField: /],
    [{ measurement: 'tidemark_tags' }, /^metadata: another measurement/],
    [{ password: 'the secret itself' }, /^password: /],
  ] as const) {
    const found = problems(settings)
    assert.ok(
      found.some((problem) => expected.test(problem)),
      `${JSON.stringify(settings)}: ${found}`,
    )
  }
})
