import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deepSeries, range, rows, sourceOf } from './deep.fixture.ts'
import { estimate, operatorsBelow } from './estimate.ts'

/** Calls of `needs` in one step and in all, of an estimate of so many levels. */
async function stepsOf(levels: number, wrap: (inner: string) => string) {
  const { operator } = deepSeries({ levels, leaf: 'h/A', wrap }, sourceOf(rows))
  let [all, step, longest] = [0, 0, 0]
  for (const below of operatorsBelow([operator])) {
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
  return { all, longest }
}

test('an estimate of filters inside each other lets others go on after a few needs', async () => {
  const { all, longest } = await stepsOf(20, (inner) => `HIGHPASS(${inner},60)`)
  assert.ok(all > 1_000, `${all} needs are many steps`)
  assert.ok(longest <= 128, `${longest} needs in one step`)
})

test('windows over filters inside each other let others go on, too', async () => {
  const { all, longest } = await stepsOf(12, (inner) => `SLIDINGAGG(LOWPASS(${inner},60),DIFF,1h)`)
  assert.ok(all > 1_000, `${all} needs are many steps`)
  assert.ok(longest <= 128, `${longest} needs in one step`)
})
