import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WindowAggregator } from '../../series/aggregate.ts'
import { FIRST_AGGREGATE_NAMES } from '../../series/aggregate-names.ts'
import { concatColumns, reverseColumns } from '../../series/columns.ts'
import { END_INSTANT, type Instant, instantFromUs, MIN_INSTANT } from '../../time/instant.ts'
import { aggregatesFromChunks } from '../consumers/aggregates.ts'
import { integralsFromChunks } from '../consumers/integrals.ts'
import type { ChunkRange } from '../graph/chunk.ts'
import { murmur3 } from './murmur3.ts'
import { emptyContext, virtualTag } from './virtual.fixture.ts'

/** Every number of a signal in a hundredth, thousandth or millionth, as a name has them. */
const signals = fc.record({
  kind: fc.constantFrom('sin', 'cos', 'saw', 'sq', 'sc', 'rand'),
  amplitude: fc.integer({ min: -5_000, max: 5_000 }),
  level: fc.integer({ min: -5_000, max: 5_000 }),
  periodUs: fc.oneof(
    fc.integer({ min: 100, max: 1_000 }),
    fc.integer({ min: 100, max: 1e15 }),
    fc.constantFrom(1e6, 6e8, 86_400e6, 999_999, 12_345_678_901),
  ),
  originUs: fc.oneof(fc.constant(0), fc.integer({ min: -9e15, max: 9e15 })),
  seed: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
})
type Signal = typeof signals extends fc.Arbitrary<infer Value> ? Value : never

const times = fc.oneof(
  fc.integer({ min: MIN_INSTANT, max: END_INSTANT - 1 }),
  fc.integer({ min: -2_000, max: 2_000 }),
)

function nameOf({ kind, amplitude, level, periodUs, originUs, seed }: Signal): string {
  const signed = (text: string) => (text.startsWith('-') ? text : `+${text}`)
  const decimal = (whole: number, decimals: number) => {
    const digits = String(Math.abs(whole)).padStart(decimals + 1, '0')
    return `${whole < 0 ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  }
  const seedPart = kind === 'rand' ? `~${seed}` : ''
  return `siggen/${kind}${decimal(amplitude, 2)}${seedPart}${signed(decimal(level, 2))}@${decimal(periodUs, 6)}${signed(decimal(originUs, 3))}`
}

/** Phase in microseconds and number of the step, in whole numbers of any size. */
function phaseOf({ periodUs, originUs }: Signal, at: number): { phase: bigint; step: bigint } {
  const period = BigInt(periodUs)
  const span = BigInt(at) - BigInt(originUs)
  const phase = ((span % period) + period) % period
  return { phase, step: ((span - phase) / period) * 100n + (phase * 100n) / period }
}

function expectedValue(signal: Signal, at: number): number {
  const { phase, step } = phaseOf(signal, at)
  const f = Number(phase) / signal.periodUs
  const swing = {
    sin: () => Math.sin(2 * Math.PI * f),
    cos: () => Math.cos(2 * Math.PI * f),
    saw: () => 2 * f - 1,
    sq: () => (2n * phase < BigInt(signal.periodUs) ? 1 : -1),
    sc: () => -Math.cos(Math.PI * f),
    rand: () => {
      const words = [Number(BigInt.asUintN(32, step)), Number(BigInt.asUintN(32, step >> 32n))] as const
      const high = BigInt(murmur3(...words, signal.seed))
      const low = BigInt(murmur3(...words, (signal.seed + 0x9e3779b9) % 2 ** 32)) >> 11n
      return 2 * (Number((high << 21n) | low) / (2 ** 53 - 1)) - 1
    },
  }[signal.kind]!()
  return signal.level / 100 + (signal.amplitude / 100) * swing
}

/** Raw times are the first whole microseconds of the hundredths of the period. */
function startOfStep(signal: Signal, at: number): number {
  const { phase } = phaseOf(signal, at)
  const period = BigInt(signal.periodUs)
  const step = (phase * 100n) / period
  const begin = (step * period + 99n) / 100n
  return at - Number(phase - begin)
}

function assertClose(actual: number, expected: number, scale: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= 1e-12 * scale, `${what} is ${actual}, not ${expected}`)
}

test('a signal has the value of its formula at every microsecond from 1700 to 2200', async () => {
  await fc.assert(
    fc.asyncProperty(signals, fc.uniqueArray(times, { maxLength: 20 }), async (signal, at) => {
      const sorted = Float64Array.from(at).sort()
      const found = await virtualTag(nameOf(signal)).valuesAt(sorted)
      found.forEach((value, i) => {
        assertClose(value, expectedValue(signal, sorted[i]!), 200, `value at ${sorted[i]}`)
      })
    }),
    { numRuns: 500 },
  )
})

test('raw points stand where the hundredths of the period begin, and have the value there', async () => {
  await fc.assert(
    fc.asyncProperty(signals, times, async (signal, at) => {
      const series = virtualTag(nameOf(signal))
      const instant = instantFromUs(at)
      const start = startOfStep(signal, at)
      const before = await series.rawPoint('before-or-at', instant)
      if (start >= MIN_INSTANT) {
        assert.equal(before?.time, start)
        assertClose(before!.value, expectedValue(signal, start), 200, 'value')
        assert.equal(await series.rawTime('after-or-at', instantFromUs(start)), start)
        // What is before it ends where it begins.
        const earlier = await series.rawTime('before', instantFromUs(start))
        assert.equal(
          earlier,
          startOfStep(signal, start - 1) < MIN_INSTANT ? null : startOfStep(signal, start - 1),
        )
      } else assert.equal(before, null)
      const next = await series.rawTime('after', instant)
      if (next !== null) {
        assert.ok(next > at)
        assert.equal(startOfStep(signal, next), next)
        assert.equal(startOfStep(signal, next - 1), start)
      }
    }),
    { numRuns: 500 },
  )
})

/** A range that holds up to a few hundred raw points. */
const ranges = fc
  .tuple(signals, times, fc.integer({ min: 1, max: 350 }), fc.nat(1_000))
  .map(([signal, start, steps, extra]) => {
    const from = Math.min(start, END_INSTANT - 2)
    const length = Math.max(1, Math.floor((signal.periodUs / 100) * steps) + extra)
    return { signal, from, to: Math.min(from + length, END_INSTANT) }
  })

test('pages in both orders join to what one page gives', async () => {
  await fc.assert(
    fc.asyncProperty(ranges, fc.integer({ min: 1, max: 40 }), async ({ signal, from, to }, limit) => {
      const series = virtualTag(nameOf(signal))
      const whole = await series.rawPoints({
        from: instantFromUs(from),
        to: instantFromUs(to),
        order: 'asc',
        limit: 100_000,
      })
      assert.equal(whole.more, false)
      for (let i = 0; i < whole.points.times.length; i++) {
        assert.equal(startOfStep(signal, whole.points.times[i]!), whole.points.times[i])
      }
      for (const order of ['asc', 'desc'] as const) {
        const parts = []
        let [start, end] = [from, to]
        for (;;) {
          const range = { from: instantFromUs(start), to: instantFromUs(end), order, limit }
          const { points, more } = await series.rawPoints(range)
          parts.push(points)
          assert.ok(points.times.length <= limit)
          if (!more) break
          if (order === 'asc') start = points.times.at(-1)! + 1
          else end = points.times.at(-1)!
        }
        const joined = concatColumns(parts)
        assert.deepEqual(order === 'asc' ? joined : reverseColumns(joined), whole.points)
      }
    }),
    { numRuns: 150 },
  )
})

test('chunks in both orders hold the raw points and the values of the range', async () => {
  await fc.assert(
    fc.asyncProperty(ranges, fc.integer({ min: 2, max: 40 }), async ({ signal, from, to }, page) => {
      const series = virtualTag(nameOf(signal))
      const range = { from: instantFromUs(from), to: instantFromUs(to) }
      const whole = await series.rawPoints({ ...range, order: 'asc', limit: 100_000 })
      for (const order of ['asc', 'desc'] as const) {
        const chunks = await readChunks(series, { ...range, order, page, extent: 'all' })
        if (order === 'desc') chunks.reverse()
        assert.deepEqual(concatColumns(chunks.map((chunk) => chunk.raw)), whole.points)
        let end: Instant = range.from
        for (const chunk of chunks) {
          assert.equal(chunk.from, end)
          end = chunk.to
          const edges = Float64Array.of(chunk.from, chunk.to)
          assert.deepEqual(chunk.valuesAt(edges, 'at'), await series.valuesAt(edges))
        }
        assert.equal(end, range.to)
      }
    }),
    { numRuns: 150 },
  )
})

async function readChunks(series: ReturnType<typeof virtualTag>, range: ChunkRange) {
  const stream = series.chunks(range)
  const chunks = []
  for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) chunks.push(chunk)
  return chunks
}

/**
 * Whether both ends of a range lie between raw points. In the first and the last step of all time there is no second
 * point for a line, and chunks end on the waveform itself.
 */
async function standsOnLines(
  series: ReturnType<typeof virtualTag>,
  from: number,
  to: number,
): Promise<boolean> {
  const before = await series.rawTime('before-or-at', instantFromUs(from))
  return before !== null && (await series.rawTime('after-or-at', instantFromUs(to))) !== null
}

test('integrals are those of the lines between the raw points', async () => {
  await fc.assert(
    fc.asyncProperty(
      ranges,
      fc.uniqueArray(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 8 }),
      async ({ signal, from, to }, parts) => {
        const cuts = [...new Set(parts.map((part) => from + Math.floor(part * (to - from))))].sort(
          (a, b) => a - b,
        )
        const starts = Float64Array.from(cuts.slice(0, -1))
        const ends = Float64Array.from(cuts.slice(1))
        const context = emptyContext()
        const series = virtualTag(nameOf(signal), context)
        fc.pre(await standsOnLines(series, from, to))
        const found = await series.integrals(starts, ends)
        const expected = await integralsFromChunks(series.operator, starts, ends, series.evaluation)
        assert.deepEqual(found.coveredUs, expected.coveredUs)
        found.integrals.forEach((integral, i) => {
          const scale = 200 * (ends[i]! - starts[i]!)
          assertClose(integral, expected.integrals[i]!, Math.max(scale, 2 * signal.periodUs), `integral ${i}`)
        })
      },
    ),
    { numRuns: 150 },
  )
})

test('aggregates of repeated points are those of the points', async () => {
  await fc.assert(
    fc.asyncProperty(
      ranges,
      fc.uniqueArray(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 6 }),
      async ({ signal, from, to }, parts) => {
        const cuts = [...new Set(parts.map((part) => from + Math.floor(part * (to - from))))].sort(
          (a, b) => a - b,
        )
        if (cuts.length < 2) return
        const edges = Float64Array.from(cuts)
        const context = emptyContext()
        const series = virtualTag(nameOf(signal), context)
        fc.pre(await standsOnLines(series, from, to))
        const found = await series.aggregates(edges, FIRST_AGGREGATE_NAMES)
        const range = {
          from: instantFromUs(from),
          to: instantFromUs(to),
          order: 'asc',
          limit: 100_000,
        } as const
        const aggregator = new WindowAggregator(edges, FIRST_AGGREGATE_NAMES)
        aggregator.add((await series.rawPoints(range)).points)
        const expected = {
          ...aggregator.finish(),
          timeAvg: (await aggregatesFromChunks(series.operator, edges, ['timeAvg'], series)).timeAvg!,
        }
        for (const name of FIRST_AGGREGATE_NAMES) {
          found[name]!.forEach((value, i) => {
            const wanted = expected[name]![i]!
            if (Number.isNaN(wanted)) assert.ok(Number.isNaN(value), `${name} is ${value}`)
            else if (name === 'timeAvg') assertClose(value, wanted, 2e8, name)
            else assertClose(value, wanted, 1e6 * Math.max(1, Math.abs(wanted)), name)
          })
        }
      },
    ),
    { numRuns: 150 },
  )
})
