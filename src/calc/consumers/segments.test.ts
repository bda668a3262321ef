import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTag } from '../../grammar/parser.ts'
import { instantFromUs, US_PER_HOUR } from '../../time/instant.ts'
import { UTC } from '../../time/zone.ts'
import { SIGNATURES } from '../functions/index.ts'
import { ArraySource, columnsOf, type Row, storedTag } from '../graph/array-source.fixture.ts'
import type { Chunk } from '../graph/chunk.ts'
import { Evaluation } from '../graph/evaluation.ts'
import type { Operator } from '../graph/operator.ts'
import { seriesOf, type TestSeries } from '../graph/series.fixture.ts'
import { SegmentReader } from './segments.ts'

const POINTS = 400
const [from, to] = [instantFromUs(0), instantFromUs(POINTS)]

/** A signal that is its time, whose values take half a millisecond each. */
function slowOperator(levels: number, width: number, lengths: number[]): Operator {
  const times = Float64Array.from({ length: POINTS }, (_, i) => i)
  const chunk: Chunk = {
    ...{ from, to, raw: { times, values: times, statuses: new Uint8Array(POINTS) } },
    valuesAt: (times) => {
      lengths.push(times.length)
      const until = performance.now() + 0.5 * times.length
      while (performance.now() < until);
      return times.slice()
    },
  }
  const chunks = [chunk]
  const stream = { next: async () => chunks.shift() ?? null }
  return { levels, width, linear: true, extrapolationLimits: [], chunks: () => stream } as unknown as Operator
}

for (const [what, levels, width] of [
  ['deep', 50, 1],
  ['wide', 2, 600],
] as const) {
  test(`segments of a ${what} operator are worked out in steps, with the values of one`, async () => {
    const lengths: number[] = []
    const evaluation = new Evaluation({ source: new ArraySource(new Map()) })
    const range = { from, to, order: 'asc', page: 1_000, extent: 'all' } as const
    const reader = new SegmentReader(slowOperator(levels, width, lengths), evaluation, range)
    const segments = await reader.next()
    assert.ok(Math.max(...lengths) <= 16, `${lengths}`)
    assert.deepEqual(segments!.at, segments!.times)
    assert.deepEqual(segments!.before, segments!.times)
    assert.equal(segments!.times.length, POINTS + 1)
    assert.equal(await reader.next(), null)
  })
}

for (const pagePoints of [1, 2, 7, 512]) {
  test(`a total of what ends at now and begins again does not go on in between, with pages of ${pagePoints}`, async () => {
    const now = instantFromUs(1_768_478_400_000_000)
    const at = (hours: number) => instantFromUs(now + hours * US_PER_HOUR)
    // A total of two hours of 1/3, and of 2 from now on, reaches 1 after 12 minutes; until then there is no value.
    const mean = 'TOTALISE(MEAN(h/A, h/A, 2), 2h, 0, 1h)'
    const text = `TOTALISE(THRESHOLD(${mean}, 1, ${mean}, h/A), 2h, 0, 1h)`
    const tree = parseTag(`calc/${text}`, { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC })
    const source = new ArraySource(new Map([['A', columnsOf([[at(-10), -0.5]])]]))
    const range = { from: at(19), to: at(23) }
    const context = { source, now, zone: UTC, range, pagePoints }
    const series = seriesOf(tree, context, ({ name }) => storedTag(name, false, 'none'))
    const read = { from: at(-6), to: at(24), order: 'asc', limit: 100 } as const
    const { times, values } = (await series.rawPoints(read)).points
    assert.ok(Math.abs(times[0]! - at(0.2)) <= 1)
    assert.ok(Math.abs(values[0]! + 0.9) < 1e-6, `${values[0]}`)
    assert.ok(Math.abs((await series.valuesAt(Float64Array.of(at(0.2))))[0]! + 0.9) < 1e-6)
  })
}

/** Windows of some microseconds over two tags, the first with one good point. */
function windowsOver(text: string, a: readonly Row[], b: readonly Row[], pagePoints: number): TestSeries {
  const now = instantFromUs(16)
  const tree = parseTag(`calc/${text}`, { signatures: SIGNATURES, defaultHistorian: null, now, zone: UTC })
  const source = new ArraySource(new Map(Object.entries({ A: columnsOf(a), B: columnsOf(b) })))
  const context = { source, now, zone: UTC, range: { from: now, to: now }, pagePoints }
  return seriesOf(tree, context, ({ name }) => storedTag(name, false, 'all'))
}

test('a hold that ends behind the last point of a page ends the signal that has no value at the next point', async () => {
  const b: Row[] = [...[1, 2, 3, 4].map((time): Row => [time, 0, true]), [15, 0], [25, 0, true]]
  for (const pagePoints of [1, 2, 6, 512]) {
    const windows = windowsOver('SLIDINGAGG(ADD(h/A, h/B), STDDEV, 0.009)', [[0, 0]], b, pagePoints)
    const { coveredUs } = await windows.integrals(Float64Array.of(0), Float64Array.of(16))
    assert.deepEqual([...coveredUs], [1], `pages of ${pagePoints}`)
  }
})

test('a first chunk of windows has as many points as are wanted, whatever was read before the range', async () => {
  const bad = (...times: readonly number[]) => times.map((time): Row => [time, 0, true])
  const windows = windowsOver('SLIDINGAGG(MUL(h/A, h/B), AVG, 0.001)', bad(0, 2), bad(3, 4, 5), 1)
  const range = {
    from: instantFromUs(1),
    to: instantFromUs(5),
    order: 'asc',
    page: 3,
    extent: 'first',
  } as const
  assert.deepEqual([...(await windows.chunks(range).next())!.raw.times], [2, 3, 4])
})
