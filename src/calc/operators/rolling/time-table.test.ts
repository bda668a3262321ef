import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TimeTable } from './time-table.ts'

const times = fc.oneof(
  fc.integer({ min: -8_520_336_000_000_000, max: 7_258_118_400_000_000 }),
  fc.integer({ min: 0, max: 2_000 }).map((second) => 1_767_225_600_000_000 + second * 1_000_000),
)

test('a table gives each value back that was put at its time', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(times, fc.double()), { maxLength: 3_000 }),
      fc.array(times),
      (rows, others) => {
        const table = new TimeTable()
        const expected = new Map<number, number>()
        for (const [time, value] of rows) {
          table.add(time, value)
          expected.set(time, value)
        }
        assert.equal(table.size, expected.size)
        for (const time of [...expected.keys(), ...others]) {
          const slot = table.find(time)
          assert.equal(slot >= 0, expected.has(time))
          if (slot >= 0) assert.ok(Object.is(table.valueAt(slot), expected.get(time)))
        }
      },
    ),
  )
})
