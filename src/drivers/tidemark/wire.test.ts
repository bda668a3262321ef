import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SIGNATURES } from '../../calc/functions/index.ts'
import { parseTag } from '../../grammar/parser.ts'
import { END_INSTANT, type Instant, MIN_INSTANT } from '../../time/instant.ts'
import { parseTime } from '../../time/parse.ts'
import { UTC } from '../../time/zone.ts'
import { goodPointsOf, heldPointsOf, readColumns, readMissing, readPoint, timeText, usOfMs } from './wire.ts'

const instant = fc.integer({ min: MIN_INSTANT, max: END_INSTANT - 1 })

/** The digits of an instant as milliseconds, as the interface writes them. */
function msText(us: number): string {
  const digits = String(Math.abs(us)).padStart(4, '0')
  return `${us < 0 ? '-' : ''}${digits.slice(0, -3)}.${digits.slice(-3)}`
}

test('every microsecond from 1700 to 2200 survives as milliseconds with a fraction', () => {
  const check = (us: number) => assert.equal(usOfMs(JSON.parse(msText(us))), us)
  for (const edge of [MIN_INSTANT, 0, 1_700_000_000_000_000, END_INSTANT - 2_000]) {
    for (let us = edge; us < edge + 2_000; us++) check(us)
  }
  for (let us = -1_000; us < 0; us++) check(us)
  fc.assert(fc.property(instant, check), { numRuns: 20_000 })
})

test('every microsecond survives as text, and times outside become the nearest inside', () => {
  const read = (text: string) => parseTime(text, { now: 0 as Instant, zone: UTC })
  fc.assert(fc.property(instant, (us) => assert.equal(read(timeText(us)), us)))
  assert.equal(read(timeText(Number.MIN_SAFE_INTEGER)), MIN_INSTANT)
  assert.equal(read(timeText(Number.MAX_SAFE_INTEGER)), END_INSTANT - 1)
})

test('spans of which points are missing are read to the microsecond, and nothing else is one', () => {
  const span = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T00:00:01.000001Z' }
  const from = 1_767_225_600_000_000
  assert.deepEqual(readMissing(undefined), [])
  assert.deepEqual(readMissing([span]), [{ from, to: from + 1_000_001 }])
  assert.deepEqual(readMissing([{ ...span, to: '2200-01-01T00:00:00.000Z' }]), [{ from, to: END_INSTANT }])
  const wrong = [
    null,
    {},
    'all',
    [null],
    [{}],
    [{ from: span.to, to: span.from }],
    [{ ...span, to: 'soon, maybe' }],
  ]
  for (const input of wrong) assert.equal(readMissing(input), null, JSON.stringify(input))
})

test('any tag name stands in a calculation as that name', () => {
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: 0 as Instant, zone: UTC }
  const names = [
    'FLOW',
    "it's",
    '"a"',
    'a, b)',
    'a/b',
    ' x ',
    'back\\slash',
    "'",
    "''",
    'x'.repeat(512),
    "'".repeat(512),
  ]
  for (const name of names) {
    for (const address of [goodPointsOf('plant', name), heldPointsOf('plant', name)]) {
      const tree = parseTag(address, options)
      assert.equal(tree.kind, 'call')
      const [argument] = tree.kind === 'call' ? tree.args : []
      assert.ok(argument?.kind === 'series' && argument.tree.kind === 'tag', address)
      assert.deepEqual([argument.tree.historian, argument.tree.name], ['plant', name])
    }
  }
})

describe('what another instance answers is looked at before it is believed', () => {
  const columns = { timestamps: [1, 2.5], values: [1, null], unit: 'ms' }

  test('columns', () => {
    assert.deepEqual(readColumns({ ...columns, statuses: ['BAD', 'OK'] }), {
      times: Float64Array.of(1_000, 2_500),
      values: Float64Array.of(1, Number.NaN),
      statuses: Uint8Array.of(1, 0),
    })
    const wrong = [
      null,
      [],
      {},
      { ...columns, unit: 's' },
      { ...columns, values: [1] },
      { ...columns, values: [1, '2'] },
      { ...columns, timestamps: [1, '2'] },
      { ...columns, statuses: ['OK'] },
    ]
    for (const input of wrong) assert.equal(readColumns(input), null, JSON.stringify(input))
  })

  test('points', () => {
    const point = { timestamp: '2026-01-01T00:00:00.000001Z', value: 5, status: 'BAD' }
    assert.deepEqual(readPoint(point), { time: 1_767_225_600_000_001, value: 5, bad: true })
    assert.ok(Number.isNaN(readPoint({ ...point, value: null })?.time))
    for (const input of [null, [], {}, { ...point, timestamp: 'x' }, { ...point, value: '5' }]) {
      assert.equal(readPoint(input), null, JSON.stringify(input))
    }
  })
})
