import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { MemoryHistorian } from '../../test/contract/memory-historian.ts'
import { askBody, historianOf, type Json, type TestPoint } from '../../test/multi-harness.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { Historian, TagRange } from '../historian/contract.ts'

const hour: TestPoint[] = Array.from({ length: 60 }, (_, i) => [`10:${String(i).padStart(2, '0')}`, i])
let plant: MemoryHistorian
let other: MemoryHistorian
before(async () => {
  plant = await historianOf('plant', { FLOW: { points: hour }, LEVEL: { points: hour } })
  other = await historianOf('other', { FLOW: { points: hour } })
})

const day = { from: '2026-01-15T00:00:00Z', to: '2026-01-15T12:00:00Z' }
const mean = (tag: string): Json => ({
  type: 'AGGREGATED_POINTS',
  tag,
  details: { ...day, aggregates: ['AVG'] },
})

/** The same historian, whose counting of points fails for some tags. */
function withoutEstimate(historian: Historian, fails: (range: TagRange) => TidemarkError | null): Historian {
  const estimatePoints: Historian['estimatePoints'] = async (ranges, cap, context) => {
    for (const range of ranges) {
      const error = fails(range)
      if (error !== null) throw error
    }
    return historian.estimatePoints(ranges, cap, context)
  }
  return new Proxy(historian, {
    get: (own, name) => {
      if (name === 'estimatePoints') return estimatePoints
      const value = Reflect.get(own, name)
      return typeof value === 'function' ? value.bind(own) : value
    },
  })
}

const gone = new TidemarkError('HISTORIAN_UNAVAILABLE', { historian: 'other', reason: 'connection refused' })

describe('a label that fails costs nothing', () => {
  test('a historian that cannot be estimated fails the labels that need its estimate, and no others', async () => {
    const requests = {
      far: mean('other/FLOW'),
      both: mean('calc/ADD(plant/FLOW, other/FLOW)'),
      near: mean('plant/FLOW'),
      point: { type: 'POINT_AFTER', tag: 'other/FLOW', details: { at: day.from } },
    }
    const { answer, json } = await askBody([plant, withoutEstimate(other, () => gone)], { requests })
    assert.equal(answer.outcome, 'executed')
    assert.deepEqual(Object.keys(json.errors), ['far', 'both'])
    assert.match(json.errors.far, /Historian other could not be reached/)
    assert.equal(json.results.near.aggregates[0].avg, 29.5)
    assert.equal(json.results.point.dataPoint.value, 0)
  })

  test('explain estimates the others, too', async () => {
    const requests = { far: mean('other/FLOW'), near: mean('plant/FLOW') }
    const { json } = await askBody([plant, withoutEstimate(other, () => gone)], { requests, explain: true })
    assert.deepEqual(Object.keys(json.errors), ['far'])
    assert.equal(json.explain.totals.load, 60)
    assert.equal(json.explain.totals.effectiveTags, 1)
    assert.equal(json.explain.allowed, true)
  })

  for (const way of ['throws', 'rejects']) {
    test(`a look-up that ${way} for a reason nobody expected fails its own labels only`, async () => {
      const unexpected = new Error('a bug of a driver')
      const broken = new Proxy(other, {
        get: (own, name) => {
          if (name === 'findTags')
            return () => {
              if (way === 'throws') throw unexpected
              return Promise.reject(unexpected)
            }
          const value = Reflect.get(own, name)
          return typeof value === 'function' ? value.bind(own) : value
        },
      })
      const requests = { far: mean('other/FLOW'), near: mean('plant/FLOW') }
      const { answer, json } = await askBody([plant, broken], { requests })
      assert.equal(answer.outcome, 'executed')
      assert.deepEqual(answer.failures, [unexpected])
      assert.deepEqual(Object.keys(json.errors), ['far'])
      assert.equal(json.issues[0].code, 'BUG')
      assert.equal(json.results.near.aggregates[0].avg, 29.5)
    })
  }

  test('a damaged tag leaves the estimates of the other tags of its historian', async () => {
    const damaged = new TidemarkError('STORAGE_CORRUPT', { historian: 'plant', reason: 'a test' })
    const historian = withoutEstimate(plant, ({ tag }) => (tag === 'FLOW' ? damaged : null))
    const { json } = await askBody([historian], {
      requests: { bad: mean('plant/FLOW'), good: mean('plant/LEVEL') },
    })
    assert.deepEqual(Object.keys(json.errors), ['bad'])
    assert.equal(json.results.good.aggregates[0].avg, 29.5)
  })

  /** More points in a day than are generated for a label. */
  const TOO_MANY = 'siggen/rand1@0.1'

  test('reads of a label that fails while it is planned do not count for the others', async () => {
    const requests = { large: mean(`calc/ADD(plant/LEVEL, ${TOO_MANY})`), small: mean('plant/FLOW') }
    const { json } = await askBody([plant], { requests }, { limits: { historianLoad: 60, effectiveTags: 1 } })
    assert.match(json.errors.large, /generated/)
    assert.equal(json.results.small.aggregates[0].avg, 29.5)
  })

  test('one oversized signal fails its own label, whatever the order', async () => {
    const large = mean(TOO_MANY)
    const small = mean('siggen/rand1@3600')
    const asked = async (requests: Json): Promise<Json> => (await askBody([plant], { requests })).json
    const first = await asked({ large, small })
    const last = await asked({ small, large })
    assert.deepEqual(Object.keys(first.errors), ['large'])
    assert.deepEqual(first.errors, last.errors)
    assert.deepEqual(first.results, last.results)
    assert.equal(typeof first.results.small.aggregates[0].avg, 'number')
  })
})
