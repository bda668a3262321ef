import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepSeries, range, rows, sourceOf } from './deep.fixture.ts'
import { estimate, operatorsBelow } from './estimate.ts'

/** Calls of `needs` between which others can go on. */
const MOST_NEEDS = 128

test('an estimate of filters inside each other lets others go on after a few needs', async () => {
  const wrap = (inner: string) => `HIGHPASS(${inner},60)`
  const { operator } = deepSeries({ levels: 20, leaf: 'h/A', wrap }, sourceOf(rows))
  let [all, step, longest] = [0, 0, 0]
  for (const below of operatorsBelow(operator)) {
    const needs = below.needs.bind(below)
    below.needs = (need, sink) => {
      all++
      longest = Math.max(longest, ++step)
      needs(need, sink)
    }
  }
  await estimate(operator, [{ kind: 'plot', ...range, count: 1_000, key: 1 }], async () => {
    step = 0
  })
  assert.ok(all > 10 * MOST_NEEDS, `${all} needs are many steps`)
  assert.ok(longest <= MOST_NEEDS, `${longest} needs in one step`)
})
