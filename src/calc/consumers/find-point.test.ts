import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseTag } from '../../grammar/parser.ts'
import type { FindPoint } from '../../series/reads.ts'
import { type Instant, instantFromUs, US_PER_HOUR, US_PER_MINUTE } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, costOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { isGoodPoint } from './find-point.ts'

/** Good for an hour, BAD for eleven, good for an hour, by the second; the line through the BAD ones crosses 5. */
const NOW = instantFromUs(1_768_478_400_000_000)
const BAD_FROM = NOW - 12 * US_PER_HOUR
const BAD_TO = NOW - US_PER_HOUR
const SECOND = 1_000_000
const rows: Row[] = []
for (let time = NOW - 13 * US_PER_HOUR; time <= NOW; time += SECOND) {
  const isBad: boolean = time >= BAD_FROM && time < BAD_TO
  const value = isBad ? 777 : time < BAD_FROM ? 1 : 9
  rows.push([time, value, isBad])
}

/** Two good points among the BAD ones, so that inputs have good points where others have BAD ones. */
const other = rows.map(([time, value, bad], i): Row => {
  return [time, value + 1, bad === true && i !== 9_000 && i !== 30_000]
})

type Tags = Readonly<Record<string, readonly Row[]>>

const TAGS: Tags = { LINE: rows, STEPS: rows, OTHER: other, EMPTY: [] }

function make(
  text: string,
  pushDowns: 'all' | 'none',
  tags = TAGS,
): { series: TestSeries; source: ArraySource } {
  const source = new ArraySource(new Map(Object.entries(tags).map(([name, rows]) => [name, columnsOf(rows)])))
  const options = { signatures: SIGNATURES, defaultHistorian: null, now: NOW, zone: UTC }
  const range = { from: NOW, to: NOW }
  const context = { source, now: NOW, zone: UTC, range }
  const tree = parseTag(`calc/${text}`, options)
  const series = seriesOf(tree, context, ({ name }) => storedTag(name, name === 'STEPS', pushDowns))
  return { series, source }
}

/** The same found by reading all raw points: the reference. */
async function goodByReading(text: string, find: FindPoint, at: number, tags = TAGS): Promise<unknown> {
  const { series } = make(text, 'all', tags)
  const from = instantFromUs(NOW - 240 * US_PER_HOUR)
  const to = instantFromUs(NOW + 240 * US_PER_HOUR)
  const { points } = await series.rawPoints({ from, to, order: 'asc', limit: 1_000_000 })
  const good = Array.from(points.times, (time, i) => ({
    time: instantFromUs(time),
    value: points.values[i]!,
    bad: points.statuses[i] !== 0,
  })).filter(isGoodPoint)
  if (find === 'before') return good.findLast(({ time }) => time < at) ?? null
  return good.find(({ time }) => time > at) ?? null
}

const CALCULATIONS = [
  'THRESHOLD(STEPS, 5, 1, 0)',
  'THRESHOLD(LINE, 5, 1, 0)',
  'THRESHOLD(LINE, 100, 1, 0)',
  'IFEQUALS(LINE, 5, 1, 0, 0.5)',
  'IFEQUALS(STEPS, 9, STEPS, 0)',
  'THRESHOLD(NEG(LINE), -5, LINE, 3)',
  'THRESHOLD(LINE, OTHER, 1, 0)',
  'ADD(LINE, 1)',
  'ADD(LINE, OTHER)',
  'MEAN(STEPS, OTHER)',
  'ROUND(MUL(LINE, OTHER), 1)',
  'SUB(LINE, EMPTY)',
  'THRESHOLD(EMPTY, LINE, 1, 0)',
  'STEPPED(ADD(LINE, 1))',
  'EPOCH_MS(ADD(STEPS, 1))',
  'TIMESHIFT(ADD(STEPS, 1), -1s)',
  'MUL(SLIDINGAGG(EMPTY, AVG, 1h), STEPS)',
  'MAX(ADD(TOTALISE(3, 1h, BEGIN_DAY, 1h), EMPTY), 3)',
  'MAX(TIMESHIFT(ADD(TOTALISE(3, 1h, BEGIN_DAY, 1h), EMPTY), 1d), 3)',
  'MEAN(NEG(ADD(TOTALISE(3, 1h, BEGIN_DAY, 1h), ADD(EMPTY, 1))), MIN(LINE, 2))',
].map((text) => text.replaceAll(/LINE|STEPS|OTHER|EMPTY/g, 'h/$&'))

describe('the search for a good raw point', () => {
  for (const text of CALCULATIONS) {
    for (const [find, at] of [
      ['before', BAD_TO],
      ['before', BAD_FROM + 5 * US_PER_HOUR + 17],
      ['after', BAD_FROM],
      ['after', BAD_TO - 20 * US_PER_MINUTE],
    ] as const) {
      for (const pushDowns of ['all', 'none'] as const) {
        test(`${find} ${(at - BAD_FROM) / US_PER_MINUTE} minutes of BAD points in ${text}, push-downs: ${pushDowns}`, async () => {
          const { series, source } = make(`NOBAD(${text})`, pushDowns)
          const place = { find, at: instantFromUs(at) }
          const estimated = costOf(series.estimate([{ kind: 'point', ...place }]), source)
          assert.deepEqual(await series.rawPoint(find, place.at), await goodByReading(text, find, at))
          assert.ok(
            source.crossed <= estimated,
            `${source.crossed} points crossed, ${estimated} were estimated`,
          )
          assert.ok(source.crossed <= 60, `${source.crossed} points crossed`)
        })
      }
    }
  }
})

/** Eight points, one of them BAD, of which calculations below make none with a value. */
const few = [0, 3, 4, 7, 8, 12, 13, 20].map(
  (minute, i): Row => [NOW - minute * US_PER_MINUTE, i + 1, i === 5],
)
const fewBeside = few.map(([time, value], i): Row => [time + (i % 2) * SECOND, value + 9, i === 2])
const FEW: Tags = { A: few.toReversed(), B: fewBeside.toReversed() }

test('where a short run of raw points has no value, no more is fetched than was estimated', async () => {
  for (const text of [
    'IFEQUALS(0, h/A, h/A, constants/empty, 0)',
    'ADD(THRESHOLD(h/A, 0, constants/empty, h/B), h/B)',
    'ADD(THRESHOLD(h/A, h/B, h/A, constants/empty), h/B)',
    'LN(MUL(h/A, -1))',
  ])
    for (const [find, at] of [
      ['before', NOW + US_PER_MINUTE],
      ['after', NOW - US_PER_HOUR],
      ['after', NOW - 8 * US_PER_MINUTE],
    ] as const)
      for (const pushDowns of ['all', 'none'] as const) {
        const { series, source } = make(`NOBAD(${text})`, pushDowns, FEW)
        const place = { find, at: instantFromUs(at) }
        const estimated = costOf(series.estimate([{ kind: 'point', ...place }]), source)
        assert.equal(await series.rawPoint(find, place.at), null)
        const loads = `${source.crossed} points crossed, ${estimated} were estimated`
        assert.ok(source.crossed <= estimated, `${find} ${at} in ${text}, push-downs ${pushDowns}: ${loads}`)
      }
})

test('a good raw point behind the last hold of an input that has a value there all the same is found', async () => {
  const start = NOW - 5 * US_PER_HOUR
  const line: Row[] = [
    [start, 2],
    [start + US_PER_MINUTE, 3, true],
  ]
  const tags = { LINE: line, LATE: line.map(([time, ...rest]): Row => [time + 6 * US_PER_HOUR, ...rest]) }
  for (const [text, at] of [
    ['ADD(EPOCH_MS(TIMESHIFT(h/LINE, 1d)), h/LINE)', start],
    ['ADD(TIMESHIFT(TIME_THRESHOLD(2026-01-15T09:00:00Z, h/LINE, 1.5), 1d), h/LINE)', start],
    ['ADD(SLIDINGAGG(h/LINE, AVG, 2h), h/LATE)', start + 6 * US_PER_HOUR],
  ] as const) {
    const { series } = make(`NOBAD(${text})`, 'all', tags)
    const found = await series.rawPoint('before', instantFromUs(at + 2 * US_PER_MINUTE))
    assert.equal(found?.time, at, text)
    assert.deepEqual(found, await goodByReading(text, 'before', at + 2 * US_PER_MINUTE, tags))
  }
})

test('a good raw point behind the last good points of inputs that have a value there all the same is found', async () => {
  const minutes = (count: number, rowOf: (minute: number) => Partial<{ value: number; bad: boolean }>) =>
    Array.from({ length: count }, (_, minute): Row => {
      const { value = 1, bad = false } = rowOf(minute)
      return [NOW + minute * US_PER_MINUTE, value, bad]
    })
  const tags = {
    LINE: minutes(60, () => ({})),
    DENSE: minutes(600, (minute) => ({ value: minute })),
    GAPPED: minutes(121, (minute) => ({ bad: minute > 30 && minute < 120 })),
  }
  const at = NOW + 600 * US_PER_MINUTE
  for (const aggregate of ['SUM', 'AVG', 'MAX', 'COUNT', 'DIFF']) {
    for (const text of [
      `SUB(SLIDINGAGG(h/LINE, ${aggregate}, 2h), h/DENSE)`,
      `SUB(TIMESHIFT(SLIDINGAGG(h/LINE, ${aggregate}, 2h), 1h), h/DENSE)`,
      `IFEQUALS(SLIDINGAGG(h/LINE, ${aggregate}, 2h), h/DENSE, 1, 0)`,
    ]) {
      const { series } = make(`NOBAD(${text})`, 'all', tags)
      const found = await series.rawPoint('before', instantFromUs(at))
      const expected = (await goodByReading(text, 'before', at, tags)) as { time: number } | null
      assert.equal(found?.time, expected?.time, text)
      if (aggregate !== 'DIFF') assert.ok(expected!.time > NOW + 60 * US_PER_MINUTE, text)
    }
  }
  for (const text of [
    'SUB(NOBAD(SUB(h/GAPPED, h/LINE)), h/DENSE)',
    'THRESHOLD(NOBAD(SUB(h/GAPPED, h/LINE)), h/DENSE, 1, 0)',
    'SUB(NOBAD(ADD(h/LINE, h/GAPPED)), h/DENSE)',
  ]) {
    const { series } = make(`NOBAD(${text})`, 'all', tags)
    const found = await series.rawPoint('before', instantFromUs(at))
    assert.deepEqual(found, await goodByReading(text, 'before', at, tags), text)
  }
})

const WRAPS: readonly ((x: string, y: string) => string)[] = [
  (x, y) => `ADD(${x}, ${y})`,
  (x) => `NEG(${x})`,
  (x) => `POW(${x}, 2)`,
  (x) => `SQRT(${x})`,
  (x, y) => `THRESHOLD(${x}, 1, ${x}, ${y})`,
  (x) => `THRESHOLD(${x}, 2, 1, 0)`,
  (x, y) => `THRESHOLD(${x}, ${y}, 1, 0)`,
  (x, y) => `IFEQUALS(${x}, ${y}, 1, ${x}, 0.5)`,
  (x, y) => `MAX(${x}, ${y}, 1)`,
  (x) => `MEAN(${x}, 2)`,
  (x) => `STEPPED(${x})`,
  (x) => `EPOCH_MS(${x})`,
  (x) => `MAXGAP(${x}, 5min)`,
  (x) => `TIMESHIFT(${x}, -30m)`,
  (x) => `TIMESHIFT(${x}, 1d)`,
  (x, y) => `TIME_THRESHOLD(2026-01-15T09:00:00Z, ${x}, ${y})`,
  (x, y) => `MUL(${x}, POINTINTIME(${y}, -2h))`,
  (x) => `NOBAD(${x})`,
  (x) => `SLIDINGAGG(${x}, MAX, 20min)`,
  (x, y) => `SUB(SLIDINGAGG(${x}, SUM, 20min), ${y})`,
  (x) => `LOWPASS(${x}, 60)`,
]
/** Some of what is drawn lies behind `now`. */
function instantOf(minute: number): Instant {
  return instantFromUs(NOW - (250 - minute) * US_PER_MINUTE)
}

const leaf = fc.constantFrom('h/LINE', 'h/STEPS', 'h/EMPTY', '1.5')
const drawnRows = fc
  .uniqueArray(fc.tuple(fc.nat(300), fc.integer({ min: -6, max: 6 }), fc.boolean()), {
    minLength: 1,
    maxLength: 40,
    selector: ([minute]) => minute,
  })
  .map((all) =>
    all.sort(([a], [b]) => a - b).map(([minute, value, bad]): Row => [instantOf(minute), value / 2, bad]),
  )

test('the good raw point next to an instant is that which reading all raw points finds', async () => {
  const expression = fc
    .tuple(leaf, fc.array(fc.tuple(fc.constantFrom(...WRAPS), leaf), { minLength: 1, maxLength: 4 }))
    .map(([first, layers]) => layers.reduce<string>((x, [wrap, y]) => wrap(x, y), first))
  const find = fc.constantFrom('before' as const, 'after' as const)
  const pushDowns = fc.constantFrom('all' as const, 'none' as const)
  await fc.assert(
    fc.asyncProperty(
      expression,
      drawnRows,
      drawnRows,
      fc.nat(350),
      find,
      pushDowns,
      async (text, line, steps, minute, find, pushDowns) => {
        const tags = { LINE: line, STEPS: steps, EMPTY: [] }
        const at = instantOf(minute)
        const { series } = make(`NOBAD(${text})`, pushDowns, tags)
        assert.deepEqual(await series.rawPoint(find, at), await goodByReading(text, find, at, tags))
      },
    ),
    { numRuns: 2_000 },
  )
})
