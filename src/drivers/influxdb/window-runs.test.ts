import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { windowRuns } from './window-runs.ts'

/** Every window is in one run, and begins in the last microsecond before its edge, or at it. */
function assertRuns(edges: Float64Array): number {
  const runs = windowRuns(edges)
  let next = 0
  for (const { first, windows, startNs, widthNs } of runs) {
    assert.equal(first, next)
    assert.ok(windows >= 1)
    next += windows
    for (let index = 0; index <= windows; index++) {
      const off = BigInt(edges[first + index]!) * 1_000n - (startNs + BigInt(index) * widthNs)
      assert.ok(off >= 0n && off <= 999n, `window ${first + index} begins ${off} ns before its edge`)
    }
  }
  assert.equal(next, Math.max(0, edges.length - 1))
  return runs.length
}

test('equally long windows are one run that begins at their edge, however long', () => {
  for (const width of [1, 7, 3_600_000_000, 31_536_000_000_000]) {
    const edges = Float64Array.from({ length: 101 }, (_, index) => -5_000 + index * width)
    assert.equal(assertRuns(edges), 1)
    assert.equal(windowRuns(edges)[0]!.startNs, -5_000_000n)
  }
})

test('windows of a fraction of a microsecond are few runs', () => {
  for (const round of [Math.round, Math.floor]) {
    const edges = Float64Array.from({ length: 701 }, (_, index) => 1.7e15 + round((index * 86_400e6) / 700))
    assert.ok(assertRuns(edges) <= 30)
  }
})

test('any windows are covered', () => {
  const widths = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 1e15 })), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(fc.integer({ min: -1e15, max: 1e15 }), widths, (start, some) => {
      const edges = [start]
      for (const width of some) edges.push(edges.at(-1)! + width)
      assertRuns(Float64Array.from(edges.filter((edge) => edge < 9e15)))
    }),
  )
})
