import assert from 'node:assert/strict'
import test from 'node:test'
import { Counter, Histogram, type Metric, Registry } from 'prom-client'
import { Tally, TallyOfTimes } from './tally.ts'

test('a tally is printed as the counter of prom-client is', async () => {
  const ours = new Registry()
  const theirs = new Registry()
  const tally = new Tally('calls_total', 'Calls.', ['type', 'outcome'] as const)
  ours.registerMetric(tally as unknown as Metric)
  const labelNames = ['type', 'outcome']
  const counter = new Counter({ name: 'calls_total', help: 'Calls.', labelNames, registers: [theirs] })
  assert.equal(await ours.metrics(), await theirs.metrics())
  for (const [amount, type, outcome] of [
    [1, 'a', 'ok'],
    [0.5, 'a', 'failed'],
    [0, 'b', 'ok'],
    [2, 'a', 'ok'],
  ] as const) {
    tally.add(amount, type, outcome)
    counter.inc({ type, outcome }, amount)
  }
  assert.equal(await ours.metrics(), await theirs.metrics())
})

test('a tally of times is printed as the histogram of prom-client is', async () => {
  const ours = new Registry()
  const theirs = new Registry()
  const buckets = [0.001, 0.5, 10]
  const tally = new TallyOfTimes('seconds', 'Time.', ['route'] as const, buckets)
  ours.registerMetric(tally as unknown as Metric)
  const histogram = new Histogram({
    name: 'seconds',
    help: 'Time.',
    labelNames: ['route'],
    buckets,
    registers: [theirs],
  })
  for (const [seconds, route] of [
    [0, '/a'],
    [0.001, '/a'],
    [0.25, '/b'],
    [10, '/a'],
    [11, '/a'],
  ] as const) {
    tally.add(seconds, route)
    histogram.observe({ route }, seconds)
  }
  assert.equal(await ours.metrics(), await theirs.metrics())
})
