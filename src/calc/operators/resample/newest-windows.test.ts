import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../../grammar/parser.ts'
import { type Instant, instantFromUs, MIN_INSTANT, US_PER_HOUR } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import { seriesOf } from '../../graph/series.fixture.ts'

const START = Date.parse('2026-01-15T00:00:00Z') * 1000
const hour = (hours: number) => instantFromUs(START + Math.round(hours * US_PER_HOUR))
const NOW = hour(100)

interface Wanted {
  readonly limit: number
  readonly to?: Instant
  readonly from?: Instant
  readonly pushDowns?: 'all' | 'none'
  readonly stepped?: boolean
  readonly input?: string
  /** Points of a second tag. */
  readonly others?: readonly Row[]
}

/** Points of the newest windows before an instant, what was fetched for them and at what they are estimated. */
async function newest(
  op: string,
  rows: readonly Row[],
  { limit, to = NOW, from = MIN_INSTANT, pushDowns = 'all', stepped = false, ...more }: Wanted,
) {
  const { input = 'h/A', others = [] } = more
  const source = new ArraySource(
    new Map([
      ['A', columnsOf(rows)],
      ['B', columnsOf(others)],
    ]),
  )
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
  const range = { from, to }
  const tree = parseTag(`calc/WINDOWAGG(${input}, ${op}, 1h${op === 'TOTAL' ? ', 1h' : ''})`, options)
  const series = seriesOf(tree, { source, now: NOW, zone: UTC, range }, ({ name }) =>
    storedTag(name, stepped, pushDowns),
  )
  const need = { kind: 'raw', isPage: true, ...range, order: 'desc', count: limit } as const
  const cost = costOf(series.estimate([need]), source)
  const { points } = await series.rawPoints({ ...range, order: 'desc', limit })
  return { times: [...points.times], values: [...points.values], cost, crossed: source.crossed }
}

const every = (hours: number, count: number): Row[] =>
  Array.from({ length: count }, (_, i) => [hour(i * hours), i % 7, false])

describe('the newest windows over the signal of a tag', () => {
  for (const op of ['DIFF', 'TOTAL'])
    test(`${op}: the estimate is that of these windows, however far back the range goes`, async () => {
      const { times, cost, crossed } = await newest(op, every(0.5, 200), { limit: 3 })
      assert.deepEqual(times, [hour(99), hour(98), hour(97)])
      assert.ok(cost <= 3 * crossed, `${crossed} crossed, ${cost} estimated`)
    })

  for (const input of [
    'NEG(h/A)',
    'ADD(h/A, h/B)',
    'SUB(MUL(ABS(h/A), 2), 1)',
    'MEAN(h/A, h/B, 2)',
    'THRESHOLD(h/A, 2, 1, 0)',
    'THRESHOLD(h/A, h/B, h/A, 0)',
  ])
    test(`so is that of ${input}`, async () => {
      const others = every(0.75, 200)
      const { cost, crossed } = await newest('DIFF', every(0.5, 200), { limit: 3, input, others })
      assert.ok(cost <= 4 * crossed && cost < 150, `${crossed} crossed, ${cost} estimated`)
    })

  test('where the tag begins the search ends', async () => {
    const { times, crossed } = await newest('DIFF', every(1, 3), { limit: 3, to: hour(3) })
    assert.deepEqual(times, [hour(2), hour(1), hour(0)])
    assert.ok(crossed < 30, `${crossed} crossed`)
  })

  test('is estimated at what it reads or more, and equals the windows of a shorter range', async () => {
    const minutes = fc.uniqueArray(fc.tuple(fc.nat(5_999), fc.integer({ min: -8, max: 8 }), fc.nat(5)), {
      maxLength: 30,
      selector: ([minute]) => minute,
    })
    const ops = fc.constantFrom('DIFF', 'TOTAL')
    const pushed = fc.constantFrom('all' as const, 'none' as const)
    const inputs = fc.constantFrom(
      'h/A',
      'h/A',
      'NEG(h/A)',
      'ADD(h/A, h/B)',
      'MUL(h/A, h/B, 2)',
      'DIV(h/A, h/B)',
      'MEAN(h/A, h/B)',
      'MAX(h/A, h/B)',
      'THRESHOLD(h/A, 2, 1, 0)',
      'THRESHOLD(h/A, h/B, h/A, constants/empty)',
      'IFEQUALS(h/A, h/B, 1, h/A, 3)',
    )
    const rows = (minutes: readonly (readonly [number, number, number])[]) =>
      minutes.toSorted(([a], [b]) => a - b).map(([at, value, bad]): Row => [hour(at / 60), value, bad === 0])
    const limits = fc.integer({ min: 1, max: 40 })
    await fc.assert(
      fc.asyncProperty(
        minutes,
        minutes,
        inputs,
        ops,
        limits,
        fc.nat(6_000),
        pushed,
        fc.boolean(),
        async (...drawn) => {
          const [minutes, more, input, op, limit, minute, pushDowns, stepped] = drawn
          const wanted = { limit, to: hour(minute / 60), pushDowns, stepped, input, others: rows(more) }
          const found = await newest(op, rows(minutes), wanted)
          assert.ok(
            found.crossed <= found.cost,
            `${found.crossed} crossed, ${found.cost} estimated: ${JSON.stringify({ op, ...wanted, minutes })}`,
          )
          const near = await newest(op, rows(minutes), { ...wanted, from: hour(-1) })
          const times = near.times.filter((time) => time > hour(-1))
          assert.deepEqual(found.times, times)
          assert.deepEqual(found.values, near.values.slice(0, times.length))
        },
      ),
      { numRuns: 300 },
    )
  })
})
