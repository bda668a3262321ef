import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { makeColumns, type PointColumns } from '../../series/columns.ts'
import { RunStretches } from './run-stretches.ts'

/** Columns at these times; each value tells the run that it is from. */
function runOf(times: readonly number[], run: number): PointColumns {
  const points = makeColumns(times.length)
  points.times.set(times)
  points.values.fill(run)
  return points
}

const time = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.constantFrom(-(2 ** 53) + 1, -1, 2 ** 53 - 2, 2 ** 53 - 1),
)

test('stretches have all points once, each with all of its times and none of a later one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(time, { maxLength: 30 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 0, max: 20 }),
      (times, more) => {
        const most = times.length + more
        const stretches = new RunStretches(
          times.map((of, run) =>
            runOf(
              of.toSorted((a, b) => a - b),
              run,
            ),
          ),
        )
        const taken: (readonly [time: number, run: number])[] = []
        let before = Number.NEGATIVE_INFINITY
        while (!stretches.isOver) {
          const stretch = stretches.next(most)
          const rows = stretch.flatMap(({ times, values }) =>
            Array.from(times, (time, i) => [time, values[i]!] as const),
          )
          assert.ok(rows.length > 0 && rows.length <= most)
          // Of two columns the later one counts: they come in their order.
          const runs = stretch.map(({ values }) => values[0]!)
          assert.deepEqual(
            runs,
            runs.toSorted((a, b) => a - b),
          )
          for (const [at] of rows) assert.ok(at > before)
          before = Math.max(...rows.map(([at]) => at))
          taken.push(...rows)
        }
        const all = times.flatMap((of, run) => of.map((at) => [at, run] as const))
        const inOrder = (rows: typeof taken) => rows.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
        assert.deepEqual(inOrder(taken), inOrder(all))
        assert.deepEqual(stretches.next(most), [])
      },
    ),
  )
})

test('a stretch is as full as the next time lets it be', () => {
  const stretches = new RunStretches([
    runOf([0, 10, 20, 30, 40], 0),
    runOf([1, 11, 21], 1),
    runOf([100, 101, 102], 2),
  ])
  const next = () => stretches.next(4).map(({ times }) => [...times])
  assert.deepEqual(next(), [
    [0, 10],
    [1, 11],
  ])
  assert.deepEqual(next(), [[20, 30, 40], [21]])
  assert.deepEqual(next(), [[100, 101, 102]])
  assert.ok(stretches.isOver)
})
