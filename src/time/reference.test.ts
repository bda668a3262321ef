import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseTime } from './parse.ts'
import { instant, shown, zone } from './time.fixture.ts'
import { ZONE_ABBREVIATIONS } from './zone-abbreviations.ts'

const page = readFileSync(new URL('../../docs/timestamps.md', import.meta.url), 'utf8')

test('every example of the reference is read as it says', () => {
  const context = { now: instant('2026-04-22T10:15:30.123456Z'), zone: zone('Europe/Oslo') }
  const examples = [...page.matchAll(/^\| `([^`]+)` +\| `([^`]+Z)` +\|$/gm)]
  assert.ok(examples.length >= 40, `only ${examples.length} examples were found`)
  for (const [, input, expected] of examples) {
    assert.equal(shown(parseTime(input, context)), shown(instant(expected!)), input)
  }
})

test('the reference lists the zone abbreviations that are understood', () => {
  const listed = /whatever the date:\n\n([A-Z\s]+)\n\n/.exec(page)?.[1]?.split(/\s+/)
  assert.deepEqual(listed, ZONE_ABBREVIATIONS)
})
