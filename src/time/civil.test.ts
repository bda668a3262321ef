import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  addMonths,
  civilFromDays,
  daysFromCivil,
  daysFromDate,
  daysFromOrdinal,
  daysFromWeekDate,
} from './civil.ts'

const anyDay = fc.integer({ min: -150_000, max: 150_000 })
const epoch = new Temporal.PlainDate(1970, 1, 1)

test('days and dates agree with Temporal, both ways', () => {
  fc.assert(
    fc.property(anyDay, (days) => {
      const { year, month, day } = epoch.add({ days })
      assert.deepEqual(civilFromDays(days), { year, month, day })
      assert.equal(daysFromCivil(year, month, day), days)
    }),
  )
})

test('ordinal and week dates agree with Temporal', () => {
  fc.assert(
    fc.property(anyDay, (days) => {
      const date = epoch.add({ days })
      assert.equal(daysFromOrdinal(date.year, date.dayOfYear), days)
      assert.equal(daysFromWeekDate(date.yearOfWeek!, date.weekOfYear!, date.dayOfWeek), days)
    }),
  )
})

test('months are added as Temporal does', () => {
  fc.assert(
    fc.property(anyDay, fc.integer({ min: -5000, max: 5000 }), (days, months) => {
      const expected = epoch.add({ days }).add({ months })
      assert.equal(addMonths(days, months), daysFromCivil(expected.year, expected.month, expected.day))
    }),
  )
})

test('dates that do not exist are null', () => {
  for (const [year, month, day] of [
    [2023, 2, 29],
    [1900, 2, 29],
    [2024, 4, 31],
    [2024, 0, 1],
    [2024, 13, 1],
    [2024, 1, 0],
  ] as const) {
    assert.equal(daysFromDate(year, month, day), null, `${year}-${month}-${day}`)
  }
  assert.equal(daysFromOrdinal(2023, 366), null)
  assert.equal(daysFromOrdinal(2024, 0), null)
  assert.equal(daysFromWeekDate(2025, 53, 1), null)
  assert.equal(daysFromWeekDate(2026, 0, 1), null)
  assert.notEqual(daysFromWeekDate(2026, 53, 7), null)
})
