import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { evenEdges, evenGrid } from '../../time/grid.ts'
import type { Instant } from '../../time/instant.ts'
import { gridRuns, type Run, windowRuns } from './runs.ts'

/** The times that requests for these runs would be answered at. */
function timesOf(times: Float64Array, runs: readonly Run[], make: typeof evenGrid): number[] {
  return runs.flatMap(({ start, end }) =>
    Array.from(make(times[start]! as Instant, times[end]! as Instant, end - start + 1)),
  )
}

const us = fc.integer({ min: -1e15, max: 7e15 })

test('the grids of requests are one run, however their span divides', () => {
  fc.assert(
    fc.property(
      us,
      fc.integer({ min: 1_000, max: 1e14 }),
      fc.integer({ min: 1, max: 900 }),
      (from, span, count) => {
        const [first, last] = [from as Instant, (from + span) as Instant]
        assert.equal(gridRuns(evenGrid(first, last, count)).length, 1)
        assert.equal(windowRuns(evenEdges(first, last, count)).length, 1)
      },
    ),
  )
})

test('any times are runs that give exactly these times', () => {
  const times = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 60 }).map((steps) => {
    const times = new Float64Array(steps.length + 1)
    steps.forEach((step, i) => {
      times[i + 1] = times[i]! + step
    })
    return times
  })
  fc.assert(
    fc.property(times, (times) => {
      assert.deepEqual(timesOf(times, gridRuns(times), evenGrid), [...times])
      const windows = times.length < 2 ? [] : windowRuns(times)
      const edges = timesOf(times, windows, (from, to, count) => evenEdges(from, to, count - 1))
      assert.deepEqual([...new Set(edges)], times.length < 2 ? [] : [...times])
      windows.forEach((run, i) => {
        assert.equal(run.start, i === 0 ? 0 : windows[i - 1]!.end, 'windows join')
      })
    }),
  )
})

test('days across a change of the clocks are two runs', () => {
  const day = 86_400_000_000
  const days = Float64Array.of(0, day, 2 * day, 3 * day - 3_600_000_000, 4 * day - 3_600_000_000)
  assert.deepEqual(windowRuns(days).length, 3)
  assert.ok(gridRuns(days).length <= 3)
})
