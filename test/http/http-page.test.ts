import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROUTES } from '../../src/http/routes/index.ts'

const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8')

test('docs/http.md has a row for every endpoint, and no other', () => {
  const rows = [...page.matchAll(/^\| (GET|POST|PUT|DELETE) (\S+) \|/gm)].map(
    ([, method, path]) => `${method} ${path}`,
  )
  const endpoints = ROUTES.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(rows.toSorted(), endpoints.toSorted())
})
