import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Grids } from './grids.ts'

test('equal names are one array, and it is made once', () => {
  const grids = new Grids()
  let made = 0
  const make = (): Float64Array => Float64Array.of(++made)
  const first = grids.times('even 0 10 3', make)
  assert.equal(grids.times('even 0 10 3', make), first)
  assert.notEqual(grids.times('even 0 10 4', make), first)
  assert.equal(made, 2)
})
