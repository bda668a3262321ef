import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { evenGrid } from '../../time/grid.ts'
import { instantFromUs } from '../../time/instant.ts'
import { chunks, windowSql } from './windows-sql.ts'

/** What the server computes from the SQL for a time, by its rules for whole numbers. */
function evaluate(sql: string, time: number): number {
  const even = /^toUInt32\(intDiv\(\(time - (-?\d+) \+ 1\) \* (\d+) - (\d+), (\d+)\)\)$/.exec(sql)
  if (even !== null) {
    const [first, count, shift, span] = even.slice(1).map(BigInt) as [bigint, bigint, bigint, bigint]
    const product = (BigInt(time) - first + 1n) * count - shift
    assert.ok(product < 2n ** 63n && product >= 0n, 'within an Int64')
    return Number(product / span)
  }
  if (sql === 'toUInt32(0)') return 0
  const edges = [...sql.matchAll(/\(time >= (-?\d+)\)/g)].map(([, edge]) => Number(edge))
  assert.ok(edges.length > 0, sql)
  return edges.filter((edge) => time >= edge).length
}

function windowOf(edges: Float64Array, time: number): number {
  let at = 0
  while (at + 2 < edges.length && edges[at + 1]! <= time) at++
  return at
}

/** Checks each edge, the times beside it, and what lies between. */
function check(edges: Float64Array): void {
  let next = 0
  for (const chunk of chunks(edges)) {
    assert.equal(chunk.start, next)
    const { edges: part } = chunk
    for (let i = 0; i + 1 < part.length; i++) {
      for (const time of [part[i]!, Math.floor((part[i]! + part[i + 1]!) / 2), part[i + 1]! - 1]) {
        assert.equal(chunk.start + evaluate(chunk.sql, time), windowOf(edges, time), `${time}`)
      }
    }
    next += part.length - 1
  }
  assert.equal(next, edges.length - 1)
}

describe('the window of a time, computed at the server', () => {
  test('is right for even grids, however they were rounded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e15, max: 1e15 }),
        fc.integer({ min: 1, max: 1e9 }),
        fc.integer({ min: 2, max: 300 }),
        fc.constantFrom(Math.floor, Math.round, Math.ceil),
        (first, span, count, rounding) => {
          const length = span + count
          const edges = Float64Array.from(
            { length: count + 1 },
            (_, i) => first + rounding((i * length) / count),
          )
          assert.notEqual(windowSql(edges), null)
          check(edges)
        },
      ),
      { numRuns: 200 },
    )
    const grid = evenGrid(instantFromUs(1_700_000_000_500_000), instantFromUs(1_700_019_999_000_001), 1_000)
    assert.equal(chunks(grid).length, 1)
    check(grid)
  })

  test('is right for days with clock changes, months and any other edges', () => {
    const hours = 3_600_000_000
    const days = Float64Array.from(
      { length: 366 },
      (_, i) => (i * 24 - (i > 88 ? 1 : 0) + (i > 300 ? 1 : 0)) * hours,
    )
    check(days)
    const months = Float64Array.from({ length: 241 }, (_, i) => Date.UTC(2000, i, 1) * 1_000)
    check(months)
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 2, maxLength: 200 }),
        (list) => {
          check(Float64Array.from(list).sort())
        },
      ),
      { numRuns: 50 },
    )
  })

  test('never leaves what the server can count with', () => {
    const edges = Float64Array.from({ length: 2_001 }, (_, i) => -8e15 + i * 7e12)
    check(edges)
  })
})
