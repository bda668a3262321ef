import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../time/parse.ts'
import { instant, shown, zone } from '../../time/time.fixture.ts'
import { inOrder } from './local-time.ts'

/** What rows are read as, one after the other; `?` after ambiguous ones. */
function rows(id: string, texts: readonly string[]): string[] {
  const context = { now: instant('2026-11-01T00:00:00Z'), zone: zone(id) }
  let last: ReturnType<typeof instant> | null = null
  return texts.map((text) => {
    const found = inOrder(text, parseTime(text, context)!, last, context.zone)
    last = found.at
    return `${shown(found.at)!.slice(11, 16)}${found.isUnclear ? '?' : ''}`
  })
}

test('the doubled hour of autumn follows the order of the rows', () => {
  const times = ['01:50', '02:00', '02:30', '02:00', '02:30', '03:00'].map((clock) => `25.10.2026 ${clock}`)
  assert.deepEqual(rows('Europe/Oslo', times), ['23:50', '00:00', '00:30', '01:00', '01:30', '02:00'])
  // A row an hour.
  const hourly = ['2026-10-25 01:00', '2026-10-25 02:00', '2026-10-25 02:00', '2026-10-25 03:00']
  assert.deepEqual(rows('Europe/Oslo', hourly), ['23:00', '00:00', '01:00', '02:00'])
  // Half an hour is doubled there.
  const lordHowe = ['2026-04-05 01:45', '2026-04-05 01:45', '2026-04-05 02:00']
  assert.deepEqual(rows('Australia/Lord_Howe', lordHowe), ['14:45', '15:15', '15:30'])
})

test('where the rows do not go on in time it is not clear, and the first one is meant', () => {
  const back = ['2026-10-25 03:00', '2026-10-25 02:30', '2026-10-25 02:00', '2026-10-25 01:00']
  assert.deepEqual(rows('Europe/Oslo', back), ['02:00', '00:30?', '01:00', '23:00'])
})

test('other times, and times with a zone, are as they were read', () => {
  assert.deepEqual(rows('Europe/Oslo', ['2026-10-24 02:30', '2026-10-24 02:30']), ['00:30', '00:30'])
  assert.deepEqual(rows('Europe/Oslo', ['2026-10-25T02:30+02:00', '2026-10-25T02:30+02:00']), [
    '00:30',
    '00:30',
  ])
  assert.deepEqual(rows('UTC', ['2026-10-25 02:30', '2026-10-25 02:30']), ['02:30', '02:30'])
})
