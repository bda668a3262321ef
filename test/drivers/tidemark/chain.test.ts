import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { RunningService } from '../../cli/run.ts'
import { Plant } from './services.ts'

const T0 = '2026-01-15T10:00:00.000Z'
const plant = new Plant()

/** a -> b -> edge, and a and b lead to each other: by `theirs` to their own points, by `x` and `y` in a circle. */
let edge: RunningService
before(async () => {
  await Promise.all(['edge', 'a', 'b'].map((name) => plant.add(name)))
  edge = await plant.start('edge')
  await Promise.all([
    plant.start('b', { edge: ['edge', 'local'], theirs: ['a', 'local'], y: ['a', 'x'] }),
    plant.start('a', { far: ['b', 'edge'], theirs: ['b', 'local'], x: ['b', 'y'] }),
  ])
  await plant.until('a', 'far', 'up')
})

test('a chain of instances reads and writes through two levels', async () => {
  await plant.write('a', {
    'far/FLOW': [{ timestamp: T0, value: 5 }],
    'local/OWN': [{ timestamp: T0, value: 6 }],
  })
  const { results, errors } = await plant.multi('a', {
    far: { type: 'CURRENT_POINT', tag: 'far/FLOW' },
    own: { type: 'CURRENT_POINT', tag: 'local/OWN' },
    sum: { type: 'HISTORICAL_POINT', tag: 'calc/ADD(far/FLOW, local/OWN)', details: { at: T0 } },
  })
  assert.deepEqual(errors, {})
  assert.deepEqual(
    ['far', 'own', 'sum'].map((label) => results[label].dataPoint.value),
    [5, 6, 11],
  )
  const there = await plant.multi('edge', { a: { type: 'CURRENT_POINT', tag: 'local/FLOW' } })
  assert.equal(there.results.a.dataPoint.value, 5)
})

test('a historian that leads to itself is refused, and says so', async () => {
  const { errors } = await plant.multi('a', { loop: { type: 'CURRENT_POINT', tag: 'x/FLOW' } })
  assert.match(
    errors.loop,
    /^Historian x could not be reached: Historian y could not be reached: This call came back to the instance [0-9a-f-]{36}, /,
  )
  const points = { 'x/FLOW': [{ timestamp: T0, value: 1 }] }
  const written = await plant.post('a', '/historian/write/points', { createTags: true, points })
  assert.equal(written.status, 503)
  assert.match(written.body.errors[0], /This call came back to the instance/)
  const found = await plant.post('b', '/historian/metadata/get', { tags: ['y/FLOW'] })
  assert.match(found.body.errors['y/FLOW'], /This call came back to the instance/)
  await plant.until('a', 'x', 'down')
})

test('two instances lead to each other, which is no circle as long as no historian leads to itself', async () => {
  await plant.write('a', { 'theirs/FROM_A': [{ timestamp: T0, value: 1 }] })
  await plant.write('b', { 'theirs/FROM_B': [{ timestamp: T0, value: 2 }] })
  const { results } = await plant.multi('b', {
    one: { type: 'CURRENT_POINT', tag: 'local/FROM_A' },
    two: { type: 'CURRENT_POINT', tag: 'theirs/FROM_B' },
  })
  assert.deepEqual([results.one.dataPoint.value, results.two.dataPoint.value], [1, 2])
  await plant.until('a', 'theirs', 'up')
  await plant.until('b', 'theirs', 'up')
})

test('an error tells which link of the chain does not answer, and the others go on', async () => {
  const requests = {
    far: { type: 'CURRENT_POINT', tag: 'far/FLOW' },
    near: { type: 'CURRENT_POINT', tag: 'theirs/FROM_A' },
    own: { type: 'CURRENT_POINT', tag: 'local/OWN' },
  }
  await edge.kill()
  const after = await plant.multi('a', requests)
  const refused = 'Historian edge could not be reached: the connection was refused'
  assert.deepEqual({ ...after.errors }, { far: `Historian far could not be reached: ${refused}` })
  assert.equal(after.results.own.dataPoint.value, 6)
  assert.equal(after.results.near.dataPoint.value, 1)
  const health = await plant.until('a', 'far', 'down')
  assert.equal(health.reason, `Historian far could not be reached: ${refused}`)

  await plant.start('edge')
  await plant.until('a', 'far', 'up')
  const again = await plant.multi('a', requests)
  assert.deepEqual(again.errors, {})
  assert.equal(again.results.far.dataPoint.value, 5)
})

test('a service starts while a historian of it is down, answers for the others, and finds it later', async () => {
  const here = { timestamp: T0, value: 9 }
  await plant.stop('edge')
  await plant.stop('b')
  await plant.start('b', { edge: ['edge', 'local'] })
  const down = await plant.until('b', 'edge', 'down')
  assert.match(down.reason, /^Historian edge could not be reached: the connection was refused$/)
  assert.equal((await plant.ready('b')).status, 'degraded')
  await plant.write('b', { 'local/HERE': [here] })
  const written = await plant.post('b', '/historian/write/points', {
    createTags: true,
    points: { 'edge/T': [here] },
  })
  assert.equal(written.status, 503)
  assert.deepEqual(written.body.errors, [
    'Historian edge did not take its points: Historian edge could not be reached: the connection was refused',
  ])
  await plant.start('edge')
  await plant.until('b', 'edge', 'up')
  await plant.write('b', { 'edge/T': [here] })
  assert.ok(
    (await plant.metric(
      'b',
      /^tidemark_historian_queries_total\{historian="edge",type="tidemark",kind="write"\}/,
    )) >= 1,
  )
})
