import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UTC } from '../../time/zone.ts'
import { fittingFormats } from './fitting-format.ts'

test('a time that cannot be read shows the formats that would fit', () => {
  const cases: readonly (readonly [string, ...string[]])[] = [
    ['22/04/2026 10:00', 'dd/MM/yyyy HH:mm'],
    ['04/22/2026 10:00:05', 'MM/dd/yyyy HH:mm:ss'],
    ['04/05/2026', 'dd/MM/yyyy', 'MM/dd/yyyy'],
    ['4/22/2026 1:07 PM', 'M/d/yyyy h:mm a'],
    ['22.04.26 10:00', 'dd.MM.yy HH:mm'],
    ['22-04-2026 10.00.05', 'dd-MM-yyyy HH.mm.ss'],
    ['20260422100005', 'yyyyMMddHHmmss'],
    ['never'],
    ['32/13/2026'],
    ['9'.repeat(1_000)],
  ]
  for (const [cell, ...expected] of cases) assert.deepEqual(fittingFormats(cell, UTC), expected, cell)
})
