import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PushDownHistorian } from '../../test/contract/push-down-historian.ts'
import { askBody, fill, type Json, pointsEvery, show } from '../../test/multi-harness.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { TidemarkError } from '../errors/tidemark-error.ts'
import type { PlotPoints, RangeResult } from '../historian/contract.ts'

/** Computes charts only as far as it likes. */
class RefusingHistorian extends PushDownHistorian {
  refusal: ErrorCode = 'HISTORIAN_LIMIT'

  override readPlots(): Promise<readonly PlotPoints[]> {
    return this.#refuse()
  }

  override readRanges(): Promise<readonly RangeResult[]> {
    return this.#refuse()
  }

  async #refuse(): Promise<never> {
    throw new TidemarkError(this.refusal, { historian: this.name, reason: 'no' })
  }
}

const details = { from: '2026-01-15T10:00Z', to: '2026-01-15T11:00Z', width: 3 }
const chart = (tag: string, more: object = {}) => ({ type: 'PLOT', tag, details: { ...details, ...more } })

async function ask(refusal: ErrorCode, requests: object, limits: object = {}): Promise<Json> {
  const historian = new RefusingHistorian('plant')
  historian.refusal = refusal
  const willing = new PushDownHistorian('other')
  for (const each of [historian, willing]) await fill(each, { FLOW: { points: pointsEvery(10) } })
  const { json } = await askBody([historian, willing], { requests }, { limits })
  return json
}

const interpolated = { fallback: 'interpolated' }

for (const refusal of ['HISTORIAN_LIMIT', 'HISTORIAN_REFUSED'] as const) {
  test(`a chart that a historian refuses is interpolated where the details say so: ${refusal}`, async () => {
    const { results, errors } = await ask(refusal, {
      fallen: chart('plant/FLOW', interpolated),
      strict: chart('plant/FLOW'),
      willing: chart('other/FLOW', interpolated),
      value: { type: 'HISTORICAL_POINT', tag: 'plant/FLOW', details: { at: '2026-01-15T10:30Z' } },
    })
    assert.equal(results.fallen.sampled, 'interpolated')
    const [first, middle, last] = show(results.fallen.dataPoints)
    assert.deepEqual(
      [first!.slice(0, 5), middle!.slice(0, 5), last!.slice(0, 5)],
      ['10:00', '10:30', '11:00'],
    )
    assert.equal(results.fallen.dataPoints[1].value, results.value.dataPoint.value)
    assert.equal(results.willing.sampled, false)
    assert.deepEqual(Object.keys(errors), ['strict'])
    assert.match(errors.strict, /plant/)
  })
}

test('a chart that fails for another reason is an error, whatever the details say', async () => {
  const { results, issues } = await ask('HISTORIAN_UNAVAILABLE', { a: chart('plant/FLOW', interpolated) })
  assert.deepEqual({ ...results }, {})
  assert.equal(issues[0].code, 'HISTORIAN_UNAVAILABLE')
})

test('a calculation is interpolated, too, where the points of its chart are refused', async () => {
  const { results } = await ask('HISTORIAN_LIMIT', {
    fallen: chart('calc/ADD(plant/FLOW, plant/FLOW)', interpolated),
    value: {
      type: 'HISTORICAL_POINT',
      tag: 'calc/ADD(plant/FLOW, plant/FLOW)',
      details: { at: '2026-01-15T10:30Z' },
    },
  })
  assert.equal(results.fallen.sampled, 'interpolated')
  assert.equal(results.fallen.dataPoints[1].value, results.value.dataPoint.value)
})
