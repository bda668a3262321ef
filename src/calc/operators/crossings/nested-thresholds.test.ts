import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../../grammar/parser.ts'
import { instantFromUs, US_PER_MINUTE } from '../../../time/instant.ts'
import { UTC } from '../../../time/zone.ts'
import { SIGNATURES } from '../../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../../graph/array-source.fixture.ts'
import type { Need } from '../../graph/need.ts'
import { seriesOf, type TestSeries } from '../../graph/series.fixture.ts'

const DEPTH = 40
/** Up and down between 0 and DEPTH in steps of one a minute. */
const rows = Array.from({ length: 40 * DEPTH }, (_, i): Row => [i * US_PER_MINUTE, levelAt(i)])
const [from, to] = [instantFromUs(0), instantFromUs(rows.at(-1)![0])]

function levelAt(minute: number): number {
  const phase = minute % (2 * DEPTH)
  return phase < DEPTH ? phase : 2 * DEPTH - phase
}

/** A calculation inside itself, so many times. */
function nested(depth: number, wrap: (inner: string, level: number) => string): string {
  let text = '0'
  for (let level = 1; level <= depth; level++) text = wrap(text, level)
  return text
}

function make(text: string): { readonly series: TestSeries; readonly source: ArraySource } {
  const source = new ArraySource(new Map([['LEVEL', columnsOf(rows)]]))
  const tree = parseTag(`calc/${text}`, {
    ...{ signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC },
  })
  const context = { source, now: to, zone: UTC, range: { from, to }, pagePoints: 1_000 }
  return { series: seriesOf(tree, context, ({ name }) => storedTag(name, false, 'none')), source }
}

const steps = nested(DEPTH, (inner, level) => `THRESHOLD(h/LEVEL, ${level}, ${level}, ${inner})`)

async function assertEstimated(text: string, need: Need, read: (series: TestSeries) => Promise<unknown>) {
  const { series, source } = make(text)
  await read(series)
  const cost = costOf(series.estimate([need]), source)
  assert.ok(
    source.crossed <= cost && cost <= 3 * source.crossed,
    `${source.crossed} crossed, ${cost} estimated`,
  )
}

test('forty thresholds one in the other are the level rounded down', async () => {
  const { series } = make(steps)
  const times = Float64Array.from({ length: 200 }, (_, i) => i * 431_000_000)
  const values = await series.valuesAt(times)
  times.forEach((time, i) => {
    const [minute, share] = [Math.floor(time / US_PER_MINUTE), (time % US_PER_MINUTE) / US_PER_MINUTE]
    const level = levelAt(minute) + share * (levelAt(minute + 1) - levelAt(minute))
    assert.equal(values[i], Math.floor(level + 1e-9), `at ${time}`)
  })
})

test('their integral is exact, since each crossing has a raw point', async () => {
  const { series } = make(steps)
  const { integrals } = await series.integrals(Float64Array.of(from), Float64Array.of(to))
  // Between two minutes the lower level holds.
  const expected = rows.slice(1).reduce((sum, [, level], i) => sum + Math.min(level, rows[i]![1]), 0)
  assert.equal(integrals[0], expected * US_PER_MINUTE)
})

test('a BAD point of an inner comparison does not end what it chooses, whatever the pages are', async () => {
  // BADS is 50 at 10, where its BAD point is 90, and reaches 60 at 12; FLOW is above 10 until then.
  const tags = new Map<string, Row[]>([
    [
      'BADS',
      [
        [0, 0],
        [10, 90, true],
        [20, 100],
      ],
    ],
    [
      'FLOW',
      [
        [0, 60],
        [5, 65],
        [30, 90],
      ],
    ],
  ])
  const text = 'calc/THRESHOLD(THRESHOLD(h/BADS, 60, constants/empty, h/FLOW), 10, 1, 0)'
  const [from, to] = [instantFromUs(0), instantFromUs(30)]
  const tree = parseTag(text, { signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC })
  for (const pagePoints of [2, 3, 4, 5, 6, 100]) {
    const source = new ArraySource(new Map([...tags].map(([name, rows]) => [name, columnsOf(rows)])))
    const context = { source, now: to, zone: UTC, range: { from, to }, pagePoints }
    const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'none'))
    const { integrals } = await series.integrals(Float64Array.of(from), Float64Array.of(to))
    assert.equal(integrals[0], 12, `${pagePoints} points a page`)
  }
})

test('forty of them in each place fetch each point once, as estimated', async () => {
  const whole = { kind: 'integrals', from, to, count: 1, key: 1 } as const
  const page = { from, to, order: 'asc', limit: 20 } as const
  const forms = [
    steps,
    nested(DEPTH, (inner, level) => `THRESHOLD(h/LEVEL, ${level}, ${inner}, ${level})`),
    nested(DEPTH, (inner, level) => `THRESHOLD(${inner}, h/LEVEL, ${level}, 0)`),
    nested(DEPTH, (inner, level) => `IFEQUALS(h/LEVEL, ${inner}, ${level}, 0, 1)`),
  ]
  for (const text of forms) {
    await assertEstimated(text, whole, (series) =>
      series.integrals(Float64Array.of(from), Float64Array.of(to)),
    )
    await assertEstimated(text, { kind: 'raw', ...page, count: 20, isPage: true }, (series) =>
      series.rawPoints(page),
    )
    await assertEstimated(text, { kind: 'point', find: 'before', at: to }, (series) =>
      series.rawPoint('before', to),
    )
  }
})

test('a range of a few microseconds is estimated with the raw points beside it', async () => {
  const source = new ArraySource(
    new Map([
      [
        'LEVEL',
        columnsOf([
          [0, -2],
          [5, 0],
          [9, -6],
        ]),
      ],
    ]),
  )
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: from, zone: UTC }
  const tree = parseTag('calc/THRESHOLD(h/LEVEL, 0, MUL(h/LEVEL, h/LEVEL), h/LEVEL)', options)
  const range = { from: instantFromUs(1), to: instantFromUs(6) }
  const context = { source, now: from, zone: UTC, range, pagePoints: 2 }
  const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'all'))
  const names = ['count', 'timeAvg'] as const
  const need = { kind: 'aggregates', key: 1, names, count: 1, ...range } as const
  const cost = costOf(series.estimate([need]), source)
  await series.aggregates(Float64Array.of(range.from, range.to), names)
  assert.ok(source.crossed <= cost, `${source.crossed} crossed, ${cost} estimated`)
})

test('comparisons inside each other that a historian decides are as wide as what they compare', async () => {
  const source = new ArraySource(new Map([['LEVEL', columnsOf(rows)]]))
  let text = 'h/LEVEL'
  for (let level = 0; level < DEPTH; level++) text = `THRESHOLD(${text}, 0.5, 1, 0)`
  const tree = parseTag(`calc/${text}`, {
    ...{ signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC },
  })
  const context = { source, now: to, zone: UTC, range: { from, to } }
  const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'all'))
  // A leaf and three numbers a level.
  assert.ok(series.operator.width <= 4 * DEPTH, `${series.operator.width}`)
  const { timeAvg } = await series.aggregates(Float64Array.of(from, to), ['timeAvg'])
  // Below 0.5 for half a minute on both sides of each 0, of which there is one in 80 minutes.
  assert.ok(Math.abs(timeAvg![0]! - (1 - 1 / (2 * DEPTH))) < 1e-3, `${timeAvg![0]}`)
})

for (const wrap of ['THRESHOLD(x, 0, 1, 0)', 'IFEQUALS(x, 1, 2, 3)']) {
  test(`comparisons inside each other are worked out once a level, where a historian decides some: ${wrap}`, async () => {
    const levels = 40
    let text = 'h/LEVEL'
    for (let level = 0; level < levels; level++) text = wrap.replace('x', text)
    const options = { signatures: SIGNATURES, defaultHistorian: null, now: to, zone: UTC }
    const source = new ArraySource(new Map([['LEVEL', columnsOf(rows)]]))
    // A level that works the raw points of all levels inside out takes ten times as much with forty of them.
    const maxEvaluated = 40 * levels * rows.length
    const context = { source, now: to, zone: UTC, range: { from, to }, maxEvaluated }
    const series = seriesOf(parseTag(`calc/${text}`, options), context, ({ name }) =>
      storedTag(name, false, 'all'),
    )
    const edges = Float64Array.of(from, to)
    const { median, startBound } = await series.aggregates(edges, ['median', 'startBound'])
    assert.ok(Number.isFinite(median![0]!) && Number.isFinite(startBound![0]!))
  })
}
