import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { askBody, historianOf, type Json, type TestTag } from '../../../test/multi-harness.ts'
import { FLOW, PUMP } from './page-tags.fixture.ts'

const page = readFileSync(new URL('../../../docs/multi.md', import.meta.url), 'utf8')

/** Those that the page names. */
const TAGS: Readonly<Record<string, TestTag>> = {
  FLOW,
  PUMP,
  LEVEL: { points: [1, 2, 3, 9, 9.5, 4, 3, 2].map((value, i) => [`10:0${i}`, value] as const) },
}

for (const heading of ['### Each further aggregate', '### Points that decide comparisons', '## Columns']) {
  test(`docs/multi.md shows what is answered: ${heading}`, async () => {
    const section = page.slice(page.indexOf(`\n${heading}\n`))
    const fences = [...section.matchAll(/```json\n(.*?)```/gs)].slice(0, 2)
    const [request, answer] = fences.map(([, text]) => JSON.parse(text!))
    const { json } = await askBody([await historianOf('local', TAGS)], request)
    assert.deepEqual(json.errors, {})
    const results = Object.entries<Json>(json.results)
    const shownResults = Object.fromEntries(results.map(([label, result]) => [label, shown(result)]))
    assert.deepEqual(rounded(shownResults), rounded(answer))
  })
}

/** A window without its ends and the aggregates that nobody asked for; all else as it is. */
function shown(result: Json): Json {
  if (!Array.isArray(result.aggregates)) return result
  const { from: _from, to: _to, ...window } = result.aggregates[0]
  return Object.fromEntries(Object.entries(window).filter(([, value]) => value !== null))
}

/** Numbers to 14 digits: times have 13. */
function rounded(value: Json): Json {
  const digits = (_: string, one: unknown) => (typeof one === 'number' ? Number(one.toPrecision(14)) : one)
  return JSON.parse(JSON.stringify(value, digits))
}
